"""The hooks at which resources wait."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column."""
    op.add_column("resources", sa.Column("hook", sa.Text, nullable=False, server_default="{}"))

"""Creates that were sent and whose end is not known."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("resources", sa.Column("asked", sa.Text, nullable=False, server_default="[]"))

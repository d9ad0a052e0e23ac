"""Facts about the objects that a stack adopts."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the column."""
    column = sa.Column("adopted", sa.Text, nullable=False, server_default="{}", comment="encrypted")
    op.add_column("inputs", column)

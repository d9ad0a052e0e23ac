"""Reasons why objects replaced others."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column."""
    op.add_column("resources", sa.Column("origin", sa.Text, nullable=False, server_default="{}"))

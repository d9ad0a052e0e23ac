"""Counts of take-overs of a stack without progress, and the operation that a cancel ends."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("stacks", sa.Column("take_ups", sa.Integer, nullable=False, server_default="0"))
    op.add_column("stacks", sa.Column("taken_for", sa.String(64)))
    op.add_column("stacks", sa.Column("taken_event", sa.Integer))
    op.add_column("operations", sa.Column("cancels", sa.String(64)))

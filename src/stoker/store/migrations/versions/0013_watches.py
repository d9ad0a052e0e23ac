"""Watch rules and their measurements."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "watches",
        sa.Column("resource_id", sa.String(64), primary_key=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("namespace", sa.Text, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("changed_at", sa.Float),
    )
    op.create_index("ix_watches_next_at", "watches", ["next_at"])
    op.create_index("ix_watches_stack", "watches", ["stack_id"])
    op.create_table(
        "measurements",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("resource_id", sa.String(64), nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("value", sa.Float, nullable=False),
        sa.Column("unit", sa.Text),
    )
    op.create_index("ix_measurements_watch", "measurements", ["resource_id", "at"])

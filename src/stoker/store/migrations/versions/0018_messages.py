"""Messages that are to leave, and the sinks of environments."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "event_sinks",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("input_id", sa.String(64), nullable=False),
        sa.Column("type", sa.String(32), nullable=False),
        sa.Column("target", sa.String(255), nullable=False),
        sa.Column("ttl", sa.Integer, nullable=False),
    )
    op.create_index("ix_event_sinks_input_id", "event_sinks", ["input_id"])
    op.create_table(
        "messages",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("channel", sa.String(32), nullable=False),
        sa.Column("lane", sa.Text, nullable=False),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("ix_messages_channel", "messages", ["channel", "number"])

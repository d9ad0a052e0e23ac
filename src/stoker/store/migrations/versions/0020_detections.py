"""Detections of drift."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "detections",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("started_at", sa.Float, nullable=False),
        sa.Column("ended_at", sa.Float),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("found", sa.Text, nullable=False, comment="encrypted"),
    )
    op.create_index("ix_detections_stack_id", "detections", ["stack_id"])

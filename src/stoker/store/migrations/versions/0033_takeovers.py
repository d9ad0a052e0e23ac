"""Trees of stacks that were taken over from Heat, and stacks that share their name.

Revision ID: 0033
Revises: 0032
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    """Make the table, and add the column."""
    op.create_table(
        "takeovers",
        sa.Column("stack_id", sa.String(64), primary_key=True),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("taken_at", sa.Float, nullable=False),
        sa.Column("resources", sa.Integer, nullable=False),
        sa.Column("remarks", sa.Text, nullable=False),
    )
    op.add_column(
        "stacks",
        sa.Column("is_namesake", sa.Boolean, nullable=False, server_default=sa.false()),
    )

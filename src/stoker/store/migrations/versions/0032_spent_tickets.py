"""Tickets of the console that were used.

Revision ID: 0032
Revises: 0031
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "spent_tickets",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("expires_at", sa.Float, nullable=False, index=True),
    )

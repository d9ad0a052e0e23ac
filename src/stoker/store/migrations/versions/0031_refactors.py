"""Refactors of CloudFormation.

Revision ID: 0031
Revises: 0030
"""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "stack_refactors",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("project_id", sa.String(64), nullable=False, index=True),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("request", sa.Text, nullable=False, comment="encrypted"),
        sa.Column("shown", sa.Text, nullable=False, comment="encrypted"),
    )

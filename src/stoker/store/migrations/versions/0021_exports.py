"""Exports of stacks, and their use by others."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Make the tables."""
    column = sa.Column("imports", sa.Text, nullable=False, server_default="{}", comment="encrypted")
    op.add_column("inputs", column)
    op.create_table(
        "exports",
        sa.Column("project_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("stack_name", sa.String(255), nullable=False),
        sa.Column("value", sa.Text, nullable=False, comment="encrypted"),
    )
    op.create_index("ix_exports_stack_id", "exports", ["stack_id"])
    op.create_table(
        "imports",
        sa.Column("input_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
    )
    op.create_index("ix_imports_name", "imports", ["name"])

"""Change sets and the protections of stacks."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "change_sets",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("makes", sa.Boolean, nullable=False),
        sa.Column("fault", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("operation_id", sa.String(64)),
        sa.Column("request", sa.Text, nullable=False, comment="encrypted"),
        sa.Column("shown", sa.Text, nullable=False, comment="encrypted"),
        sa.UniqueConstraint("stack_id", "name"),
    )
    op.create_table(
        "protections",
        sa.Column("stack_id", sa.String(64), primary_key=True),
        sa.Column("keeps", sa.Boolean, nullable=False),
        sa.Column("policy", sa.Text, nullable=False),
    )

"""The trusts that stacks share, and marks for the whole database."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "trusts",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("trust_id", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("trustee_id", sa.String(64), nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("replaced_by", sa.String(64)),
        sa.Column("retired", sa.Boolean, nullable=False),
        sa.UniqueConstraint("trust_id", name="uq_trusts_trust_id"),
    )
    op.create_index("ix_trusts_owner", "trusts", ["project_id", "user_id"])
    op.create_table(
        "marks",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )

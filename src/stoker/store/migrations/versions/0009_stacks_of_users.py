"""Servers ask for their stack by name, in the project of the stack's users."""

from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_stacks_users", "stacks", ["user_project_id", "name"])

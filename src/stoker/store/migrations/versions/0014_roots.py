"""The resources of a tree are counted."""

from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_stacks_root", "stacks", ["root_id"])

"""Indexes for large installations: stacks of all projects in order, those that have objects, those
that were deleted, and the references of inputs and snapshots.

Revision ID: 0025 Revises: 0024
"""

from alembic import op

revision = "0025"
down_revision = "0024"

_NEW = (
    ("ix_stacks_list", "stacks", ["project_id", "deleted_at", "created_at", "id"]),
    ("ix_stacks_all", "stacks", ["created_at", "id"]),
    ("ix_stacks_deleted", "stacks", ["deleted_at"]),
    *(
        (f"ix_inputs_{name}", "inputs", [name])
        for name in ("template", "text", "environment", "files")
    ),
    ("ix_snapshot_parts_nested_id", "snapshot_parts", ["nested_id"]),
)


def upgrade() -> None:
    """Make the indexes."""
    op.drop_index("ix_stacks_list", "stacks")
    for name, table, columns in _NEW:
        op.create_index(name, table, columns)
    kind = "hash" if op.get_bind().dialect.name == "postgresql" else None  # texts of any length
    op.create_index("ix_resources_physical_id", "resources", ["physical_id"], postgresql_using=kind)

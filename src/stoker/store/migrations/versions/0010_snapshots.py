"""Snapshots of stacks."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "snapshots",
        sa.Column("number", sa.Integer, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("input_id", sa.String(64), nullable=False),
        sa.Column("operation_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255)),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("stack_state", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_snapshots"),
        sa.UniqueConstraint("id", name="uq_snapshots_id"),
    )
    op.create_index("ix_snapshots_stack_id", "snapshots", ["stack_id"])
    op.create_table(
        "snapshot_parts",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("snapshot_id", sa.String(64), nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("object_name", sa.Text, nullable=False),
        sa.Column("row_id", sa.String(64), nullable=False),
        sa.Column("type_name", sa.Text, nullable=False),
        sa.Column("implementation", sa.Text, nullable=False),
        sa.Column("physical_id", sa.Text),
        sa.Column("nested_id", sa.String(64)),
        sa.Column("metadata", sa.Text, nullable=False, comment="encrypted"),
        sa.Column("data", sa.Text, nullable=False, comment="encrypted"),
        sa.Column("asked", sa.Boolean, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_snapshot_parts"),
        comment="what a snapshot holds of each resource",
    )
    op.create_index("ix_snapshot_parts_snapshot_id", "snapshot_parts", ["snapshot_id"])

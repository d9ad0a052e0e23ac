"""The first tables, as they were then."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_OPEN = sa.text("status IN ('WAITING', 'RUNNING')")


def upgrade() -> None:
    """Make the tables."""
    _contents()
    _events()
    _inputs()
    _operations()
    _resources()
    _signals()
    _stacks()


def _contents() -> None:
    op.create_table(
        "contents",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("time", sa.Float, nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("resource_name", sa.String(255), nullable=False),
        sa.Column("resource_type", sa.Text, nullable=False),
        sa.Column("resource_id", sa.String(64)),
        sa.Column("physical_id", sa.Text),
        sa.Column("properties", sa.Text),
    )
    op.create_index("ix_events_id", "events", ["id"], unique=False)
    op.create_index("ix_events_stack", "events", ["stack_id", "number"], unique=False)


def _inputs() -> None:
    op.create_table(
        "inputs",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("template", sa.String(64), nullable=False),
        sa.Column("text", sa.String(64)),
        sa.Column("environment", sa.String(64), nullable=False),
        sa.Column("files", sa.String(64), nullable=False),
        sa.Column("parameters", sa.Text, nullable=False),
        sa.Column("template_file", sa.Text),
        sa.Column("facade", sa.Text, nullable=False),
    )
    op.create_index("ix_inputs_stack_id", "inputs", ["stack_id"], unique=False)


def _operations() -> None:
    op.create_table(
        "operations",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("input_id", sa.String(64)),
        sa.Column("deadline", sa.Float),
        sa.Column("plan", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("rollback", sa.Boolean, nullable=False),
        sa.Column("back_to", sa.String(64)),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("parent_operation", sa.String(64)),
        sa.UniqueConstraint("id", name="uq_operations_id"),
    )
    op.create_index(
        "ix_operations_open",
        "operations",
        ["stack_id"],
        unique=False,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_index("ix_operations_stack_id", "operations", ["stack_id"], unique=False)


def _resources() -> None:
    op.create_table(
        "resources",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("type_name", sa.Text, nullable=False),
        sa.Column("token", sa.String(32), nullable=False),
        sa.Column("implementation", sa.Text, nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
        sa.Column("physical_id", sa.Text),
        sa.Column("properties", sa.Text, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False),
        sa.Column("attributes", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("progress", sa.Text, nullable=False),
        sa.Column("requires", sa.Text, nullable=False),
        sa.Column("needs", sa.Text, nullable=False),
        sa.Column("deletion_policy", sa.String(32), nullable=False),
        sa.Column("update_policy", sa.Text, nullable=False),
        sa.Column("operation_id", sa.String(64)),
        sa.Column("action_started_at", sa.Float),
        sa.Column("dirty", sa.Text, nullable=False),
        sa.Column("replaced_by", sa.String(64)),
        sa.Column("external", sa.Boolean, nullable=False),
        sa.Column("unhealthy", sa.Boolean, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("nested_id", sa.String(64)),
    )
    op.create_index("ix_resources_stack_id", "resources", ["stack_id"], unique=False)


def _signals() -> None:
    op.create_table(
        "signals",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("stack_id", sa.String(64), nullable=False),
        sa.Column("resource_id", sa.String(64), nullable=False),
        sa.Column("received_at", sa.Float, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.UniqueConstraint("id", name="uq_signals_id"),
    )
    op.create_index("ix_signals_resource_id", "signals", ["resource_id"], unique=False)
    op.create_index("ix_signals_stack_id", "signals", ["stack_id"], unique=False)


def _stacks() -> None:
    op.create_table(
        "stacks",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("live_name", sa.String(255)),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float),
        sa.Column("deleted_at", sa.Float),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("input_id", sa.String(64), nullable=False),
        sa.Column("good_input_id", sa.String(64)),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("user_id", sa.String(64), nullable=False),
        sa.Column("user_name", sa.String(255), nullable=False),
        sa.Column("credentials", sa.Text, nullable=False),
        sa.Column("user_project_id", sa.String(64)),
        sa.Column("timeout_mins", sa.Integer),
        sa.Column("disable_rollback", sa.Boolean, nullable=False),
        sa.Column("tags", sa.Text, nullable=False),
        sa.Column("parent_id", sa.String(64)),
        sa.Column("parent_resource", sa.String(255)),
        sa.Column("parent_resource_id", sa.String(64)),
        sa.Column("root_id", sa.String(64)),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.UniqueConstraint("project_id", "live_name", name="uq_stacks_project_id_live_name"),
    )
    op.create_index(
        "ix_stacks_list", "stacks", ["project_id", "deleted_at", "created_at"], unique=False
    )
    op.create_index("ix_stacks_parent_id", "stacks", ["parent_id"], unique=False)

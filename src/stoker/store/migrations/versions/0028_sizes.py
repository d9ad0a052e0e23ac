"""Sizes of rows that users fill, in bytes, and indexes from which they are summed up.

Revision ID: 0028
Revises: 0027
"""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_MEASURED = {
    "resources": ("properties", "metadata", "attributes", "data"),
    "events": ("properties",),
    "signals": ("details",),
    "software_configs": ("content",),
    "software_deployments": ("content",),
}
_NEW = (
    ("ix_resources_sizes", "resources", ["stack_id", "size"]),
    ("ix_events_sizes", "events", ["stack_id", "number", "size"]),
    ("ix_signals_stack_sizes", "signals", ["stack_id", "size"]),
    ("ix_signals_resource_sizes", "signals", ["resource_id", "size"]),
    ("ix_software_configs_sizes", "software_configs", ["project_id", "size"]),
    ("ix_software_deployments_sizes", "software_deployments", ["project_id", "size"]),
)
_OLD = (
    ("ix_resources_stack_id", "resources"),
    ("ix_events_stack", "events"),
    ("ix_signals_stack_id", "signals"),
    ("ix_signals_resource_id", "signals"),
    ("ix_software_configs_project_id", "software_configs"),
)


def upgrade() -> None:
    """Add the columns, measure the existing rows, and add the sizes to indexes."""
    for table, columns in _MEASURED.items():
        size = sa.Column("size", sa.BigInteger, nullable=False, server_default="0")
        if table == "software_configs" and op.get_bind().dialect.name == "sqlite":
            # SQLite reads a row up to the column: a size after the content costs all of it
            with op.batch_alter_table(table, recreate="always") as batch:
                batch.add_column(size, insert_before="content")
        else:
            op.add_column(table, size)
        lengths = [sa.func.coalesce(sa.func.length(sa.column(name)), 0) for name in columns]
        rows = sa.table(table, sa.column("size"))
        op.execute(rows.update().values(size=sum(lengths[1:], lengths[0])))
    for name, table in _OLD:
        op.drop_index(name, table)
    for name, table, indexed in _NEW:
        op.create_index(name, table, indexed)

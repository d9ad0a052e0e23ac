"""Numbers of 64 bits: a large cloud makes two thousand million events in a few years."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_NUMBERED = (
    "trusts",
    "operations",
    "events",
    "signals",
    "measurements",
    "software_configs",
    "software_deployments",
    "snapshots",
    "change_sets",
    "event_sinks",
    "messages",
    "detections",
)


def upgrade() -> None:
    """Widen the columns and their sequences; those of SQLite have 64 bits."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite":
        return
    for table in _NUMBERED:
        op.alter_column(table, "number", type_=sa.BigInteger, existing_nullable=False)
        sequence = sa.select(sa.func.pg_get_serial_sequence(table, "number"))
        if found := connection.execute(sequence).scalar():
            op.execute(f"ALTER SEQUENCE {found} AS BIGINT")
    op.alter_column("stacks", "taken_event", type_=sa.BigInteger)

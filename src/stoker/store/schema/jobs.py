"""Procrastinate's tables in the same PostgreSQL database: turns of stacks are its jobs.

The library reads and ends jobs itself. Statements that share a transaction with rows of stacks are
written here and in :mod:`stoker.store.ownership.turns`. They rely on the layout of these tables.
"""

from __future__ import annotations

import sqlalchemy as sa

from stoker.kernel.lazy import LazyModule

procrastinate_schema = LazyModule("procrastinate.schema")

QUEUE = "stoker"
# A job's argument ``stack_id`` is also its lock and its queueing lock: at most one turn of a stack
# is running, and at most one more waits.
TASK = "turn"

# The library checks by the lock whether a job may start, but has no index for that.
_LOCKS = (
    "CREATE INDEX stoker_jobs_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing')"
)
# The library's own index. With few jobs, a query plan may scan it completely.
_IDS_AND_LOCKS = "procrastinate_jobs_id_lock_idx_v1"
# Unneeded triggers of the library, which run for each job: a request of turns notifies all engines
# itself, once per transaction, and the history of jobs is never read.
_TRIGGERS = (
    "procrastinate_jobs_notify_queue_job_inserted_v1",
    "procrastinate_trigger_status_events_insert_v1",
    "procrastinate_trigger_status_events_update_v1",
    "procrastinate_trigger_scheduled_events_v1",
)


def make_tables(connection: sa.Connection) -> None:
    """Create the tables if they do not exist; SQLite does not need them."""
    if connection.dialect.name != "postgresql" or sa.inspect(connection).has_table(
        "procrastinate_jobs"
    ):
        return
    schema = procrastinate_schema.SchemaManager.get_schema()
    # Run without parameters: the texts of the schema contain percent signs.
    cursor = connection.connection.cursor()
    cursor.execute(schema)
    cursor.execute(_LOCKS)
    cursor.close()


def drop_index(connection: sa.Connection) -> None:
    """Drop the library's index, which competes with that of this service."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {_IDS_AND_LOCKS}")


def drop_triggers(connection: sa.Connection) -> None:
    """Drop the unneeded triggers."""
    if connection.dialect.name == "postgresql":
        for name in _TRIGGERS:
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name} ON procrastinate_jobs")

"""Procrastinate's tables, beside ours in a PostgreSQL: turns of stacks are its jobs.

The library reads and ends jobs itself. What has to be in one transaction with our rows is here,
where it stands to one version of these tables, as the dependency does.
"""

from __future__ import annotations

import sqlalchemy as sa

from stoker.kernel.lazy import LazyModule

procrastinate_schema = LazyModule("procrastinate.schema")

QUEUE = "stoker"
TASK = "turn"
"""A job's argument ``stack_id`` is also its lock, and its queueing lock: of each stack one turn is
under way at most, and another one waits at most."""

_LOCKS = (
    "CREATE INDEX stoker_jobs_lock ON procrastinate_jobs (lock) WHERE status IN ('todo', 'doing')"
)
"""Whether a job may begin is asked by its lock alone, for which the library has no index."""
_IDS_AND_LOCKS = "procrastinate_jobs_id_lock_idx_v1"
"""What it has instead: where there are few jobs, a plan may look through all of it."""
_TRIGGERS = (
    "procrastinate_jobs_notify_queue_job_inserted_v1",
    "procrastinate_trigger_status_events_insert_v1",
    "procrastinate_trigger_status_events_update_v1",
    "procrastinate_trigger_scheduled_events_v1",
)
"""Triggers of the library that run for each job, and that nobody needs: whoever asks for turns
tells all engines so, once in a transaction, and nobody reads the history of jobs.
"""


def make_tables(connection: sa.Connection) -> None:
    """Make the tables where there are none; SQLite has no use for them."""
    if connection.dialect.name != "postgresql" or sa.inspect(connection).has_table(
        "procrastinate_jobs"
    ):
        return
    schema = procrastinate_schema.SchemaManager.get_schema()
    # its texts have percent signs of their own: they are nobody's parameters
    cursor = connection.connection.cursor()
    cursor.execute(schema)
    cursor.execute(_LOCKS)
    cursor.close()


def drop_index(connection: sa.Connection) -> None:
    """Drop the index that is in the way of ours."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"DROP INDEX IF EXISTS {_IDS_AND_LOCKS}")


def drop_triggers(connection: sa.Connection) -> None:
    """Drop the triggers that nobody needs."""
    if connection.dialect.name == "postgresql":
        for name in _TRIGGERS:
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name} ON procrastinate_jobs")

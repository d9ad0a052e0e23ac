"""Deletes rows past their retention: deleted stacks, and the history of those that remain.

Each function deletes a bounded number of rows, so that the only writer is never blocked for long.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from stoker.store.maintenance.tidying import ID_AND_CONTENTS, drop_inputs
from stoker.store.schema import tables
from stoker.store.sql.rows import dicts

STACKS_AT_ONCE = 2  # these may have a thousand events each
EVENTS_AT_ONCE = 2_000
OPERATIONS_AT_ONCE = 500

# Contents of inputs are shared, messages are still to be sent, and a deployment may be retained.
_PURGED_OTHERWISE = (tables.inputs, tables.messages, tables.software_deployments)
_OF_STACK = tuple(
    table
    for table in reversed(tables.metadata.sorted_tables)
    if "stack_id" in table.c and table not in _PURGED_OTHERWISE
)
_BEFORE: sa.BindParameter[float] = sa.bindparam("before")


def _deleted_stacks(*conditions: sa.ColumnElement[bool]) -> sa.Select[tuple[str]]:
    """Return the query for stacks that were deleted before a time, the earliest first.

    A nested stack stays while a snapshot of a stack above it may restore it.
    """
    stacks, parts = tables.stacks.c, tables.snapshot_parts.c
    is_nested = sa.exists().where(parts.nested_id == stacks.id)
    return (
        sa.select(stacks.id)
        .where(stacks.deleted_at < _BEFORE, ~is_nested, *conditions)
        .order_by(stacks.deleted_at)
        .limit(STACKS_AT_ONCE)
    )


def _oldest_events() -> sa.Select[tuple[int]]:
    """Return the numbers of the oldest events, without those after a time.

    Numbers grow with time: if none of the first is that old, no other is read. Clients find hooks
    by their events, so the events of resources that wait at a hook stay.
    """
    events, resources = tables.events.c, tables.resources.c
    waits = sa.exists().where(
        resources.id == events.resource_id, sa.type_coerce(resources.hook, sa.Text) != "{}"
    )
    about_hook = events.reason.like("%paused until Hook%")
    first = sa.select(events.number, events.time).where(~sa.and_(about_hook, waits))
    rows = first.order_by(events.number).limit(EVENTS_AT_ONCE).subquery()
    return sa.select(rows.c.number).where(rows.c.time < _BEFORE)


def _old_operations() -> sa.Delete:
    """Return the delete of old ended operations, except those that an open one refers to."""
    operations = tables.operations
    is_open = operations.c.status.in_(tables.OPEN)
    first = (
        sa.select(operations.c.number, operations.c.created_at)
        .where(~is_open)
        .order_by(operations.c.number)
        .limit(OPERATIONS_AT_ONCE)
        .subquery()
    )
    above = operations.alias("above").c
    needed = [
        sa.select(column).where(above.status.in_(tables.OPEN), column.is_not(None))
        for column in (above.parent_operation, above.cancels)
    ]
    return operations.delete().where(
        operations.c.number.in_(sa.select(first.c.number).where(first.c.created_at < _BEFORE)),
        operations.c.id.not_in(sa.union_all(*needed)),
    )


_DELETED_STACKS = _deleted_stacks()
_DELETED_IN_PROJECT = _deleted_stacks(tables.stacks.c.project_id == sa.bindparam("project"))
_OLD_OPERATIONS = _old_operations()
_OLD_EVENTS = tables.events.delete().where(tables.events.c.number.in_(_oldest_events()))


def deleted_stacks(
    connection: sa.Connection, before: float, project_id: str | None = None
) -> Sequence[str]:
    """Return the ids of some stacks that were deleted before a time, of one project or of all."""
    values = {"before": before, "project": project_id}
    if project_id is None:
        return [row.id for row in connection.execute(_DELETED_STACKS, {"before": before})]
    return [row.id for row in connection.execute(_DELETED_IN_PROJECT, values)]


def purge_stacks(connection: sa.Connection, stack_ids: Sequence[str]) -> None:
    """Delete stacks with all their rows; rows shared with other stacks stay."""
    snapshots, parts = tables.snapshots.c, tables.snapshot_parts
    snapshot_ids = sa.select(snapshots.id).where(snapshots.stack_id.in_(stack_ids))
    connection.execute(parts.delete().where(parts.c.snapshot_id.in_(snapshot_ids)))
    for table in _OF_STACK:
        connection.execute(table.delete().where(table.c.stack_id.in_(stack_ids)))
    inputs = ID_AND_CONTENTS.where(tables.inputs.c.stack_id.in_(stack_ids))
    drop_inputs(connection, list(dicts(connection.execute(inputs))))
    connection.execute(tables.stacks.delete().where(tables.stacks.c.id.in_(stack_ids)))


def purge_history(connection: sa.Connection, before: float) -> int:
    """Delete some events and ended operations that are older than a time; return their number."""
    old = {"before": before}
    return sum(
        connection.execute(statement, old).rowcount for statement in (_OLD_EVENTS, _OLD_OPERATIONS)
    )

"""Deletes what is no longer needed, so that a stack updated for years stays small."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from stoker.store.prepared import found, prepared
from stoker.store.queries import OPEN
from stoker.store.rows import Row
from stoker.store.shared import hold_contents
from stoker.store.tables import (
    contents,
    event_sinks,
    imports,
    inputs,
    operations,
    snapshots,
    stacks,
)
from stoker.store.tables import events as event_rows

OPERATIONS_KEPT = 20
"""Ended operations of a stack that are kept."""
_CONTENTS = (inputs.c.template, inputs.c.text, inputs.c.environment, inputs.c.files)
ID_AND_CONTENTS = sa.select(inputs.c.id, *_CONTENTS)
"""What :func:`drop_inputs` has to know of inputs."""
_USES = [sa.exists().where(column == contents.c.hash) for column in _CONTENTS]
_STACK: sa.BindParameter[str] = sa.bindparam("stack", None)


def _beyond(table: sa.Table, kept: sa.BindParameter[int]) -> sa.ScalarSelect[int]:
    """The number of a stack's newest row that is not among the newest ``kept``."""
    return (
        sa.select(table.c.number)
        .where(table.c.stack_id == _STACK)
        .order_by(table.c.number.desc())
        .offset(kept)
        .limit(1)
        .scalar_subquery()
    )


def _old_operations() -> sa.Delete:
    """Operations that have ended, but for the newest ones.

    Those that are part of an operation of the parent stay while that is under way, as do those
    that a cancel names.
    """
    above = operations.alias("above")
    open_ = sa.select(above.c.id).where(above.c.status.in_(OPEN))
    named = sa.select(above.c.cancels).where(above.c.status.in_(OPEN), above.c.cancels.is_not(None))
    return operations.delete().where(
        operations.c.stack_id == _STACK,
        operations.c.number <= _beyond(operations, sa.bindparam("operations", None)),
        operations.c.status.not_in(OPEN),
        sa.or_(
            operations.c.parent_operation.is_(None), operations.c.parent_operation.not_in(open_)
        ),
        operations.c.id.not_in(named),
    )


def _old_inputs() -> sa.ColumnElement[bool]:
    """Inputs that neither the stack, nor a snapshot, nor an open operation refers to.

    What the stack last fully was is what a failed change can be rolled back to.
    """
    open_ = sa.and_(operations.c.stack_id == _STACK, operations.c.status.in_(OPEN))
    needed = sa.union_all(
        sa.select(stacks.c.input_id).where(stacks.c.id == _STACK),
        sa.select(stacks.c.good_input_id).where(
            stacks.c.id == _STACK, stacks.c.good_input_id.is_not(None)
        ),
        sa.select(snapshots.c.input_id).where(snapshots.c.stack_id == _STACK),
        sa.select(operations.c.input_id).where(open_, operations.c.input_id.is_not(None)),
        sa.select(operations.c.back_to).where(open_, operations.c.back_to.is_not(None)),
        sa.select(operations.c.back_to).where(
            operations.c.id.in_(sa.select(operations.c.cancels).where(open_)),
            operations.c.back_to.is_not(None),
        ),
    )
    return sa.and_(inputs.c.stack_id == _STACK, inputs.c.id.not_in(needed))


_OLD_OPERATIONS = _old_operations()
_OLD_INPUTS = ID_AND_CONTENTS.where(_old_inputs())
_OLD_EVENTS = event_rows.delete().where(
    event_rows.c.stack_id == _STACK,
    event_rows.c.number <= _beyond(event_rows, sa.bindparam("events", None)),
)


def tidy(connection: sa.Connection, stack_id: str, events: int) -> None:
    """Drop old inputs of the stack, contents that only they had, and all but the newest events."""
    old = {"stack": stack_id, "operations": OPERATIONS_KEPT}
    prepared(connection, _OLD_OPERATIONS).execute(connection, old)
    drop_inputs(connection, found(connection, _OLD_INPUTS, stack=stack_id))
    old = {"stack": stack_id, "events": events}
    prepared(connection, _OLD_EVENTS).execute(connection, old)


def drop_inputs(connection: sa.Connection, gone: Sequence[Row]) -> None:
    """Delete inputs, of which id and contents are given, and the contents that no other has."""
    if not gone:
        return
    ids = [row["id"] for row in gone]
    connection.execute(inputs.delete().where(inputs.c.id.in_(ids)))
    connection.execute(event_sinks.delete().where(event_sinks.c.input_id.in_(ids)))
    connection.execute(imports.delete().where(imports.c.input_id.in_(ids)))
    named = (row[column.name] for row in gone for column in _CONTENTS)
    hashes = {value for value in named if value is not None}
    # whoever uses them in a transaction that has not ended is waited for, and looked at then
    hold_contents(connection, hashes)
    these = sa.select(contents.c.hash).where(contents.c.hash.in_(hashes))
    used = set(connection.execute(sa.union(*(these.where(each) for each in _USES))).scalars())
    unused = hashes - used
    if unused:
        connection.execute(contents.delete().where(contents.c.hash.in_(unused)))

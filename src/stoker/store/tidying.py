"""Drops what nobody needs any more, so that a stack that is updated for years stays small."""

from __future__ import annotations

import sqlalchemy as sa

from stoker.store.queries import OPEN
from stoker.store.tables import contents, inputs, operations, stacks
from stoker.store.tables import events as event_rows

OPERATIONS_KEPT = 20
"""Ended operations of a stack that are kept."""
_CONTENTS = (inputs.c.template, inputs.c.text, inputs.c.environment, inputs.c.files)


def tidy(connection: sa.Connection, stack_id: str, events: int) -> None:
    """Drop old inputs of the stack, contents that only they had, and all but the newest events."""
    _drop_operations(connection, stack_id)
    _drop_inputs(connection, stack_id)
    newest = (
        sa.select(event_rows.c.number)
        .where(event_rows.c.stack_id == stack_id)
        .order_by(event_rows.c.number.desc())
        .offset(events)
        .limit(1)
        .scalar_subquery()
    )
    connection.execute(
        event_rows.delete().where(event_rows.c.stack_id == stack_id, event_rows.c.number <= newest)
    )


def _drop_operations(connection: sa.Connection, stack_id: str) -> None:
    """Drop operations that have ended, but for the newest ones.

    Those that are part of an operation of the parent stay while that is under way, as do those
    that a cancel names.
    """
    newest = (
        sa.select(operations.c.number)
        .where(operations.c.stack_id == stack_id)
        .order_by(operations.c.number.desc())
        .offset(OPERATIONS_KEPT)
        .limit(1)
        .scalar_subquery()
    )
    above = operations.alias("above")
    open_ = sa.select(above.c.id).where(above.c.status.in_(OPEN))
    named = sa.select(above.c.cancels).where(above.c.status.in_(OPEN), above.c.cancels.is_not(None))
    connection.execute(
        operations.delete().where(
            operations.c.stack_id == stack_id,
            operations.c.number <= newest,
            operations.c.status.not_in(OPEN),
            sa.or_(
                operations.c.parent_operation.is_(None), operations.c.parent_operation.not_in(open_)
            ),
            operations.c.id.not_in(named),
        )
    )


def _drop_inputs(connection: sa.Connection, stack_id: str) -> None:
    own = stacks.c.id == stack_id
    open_ = sa.and_(
        operations.c.stack_id == stack_id, operations.c.status.in_(("WAITING", "RUNNING"))
    )
    needed = sa.union_all(
        sa.select(stacks.c.input_id).where(own),
        sa.select(operations.c.input_id).where(open_, operations.c.input_id.is_not(None)),
        sa.select(operations.c.back_to).where(open_, operations.c.back_to.is_not(None)),
        sa.select(operations.c.back_to).where(
            operations.c.id.in_(sa.select(operations.c.cancels).where(open_)),
            operations.c.back_to.is_not(None),
        ),
    )
    old = sa.select(inputs.c.id, *_CONTENTS).where(
        inputs.c.stack_id == stack_id, inputs.c.id.not_in(needed)
    )
    gone = connection.execute(old).all()
    if not gone:
        return
    connection.execute(inputs.delete().where(inputs.c.id.in_([row[0] for row in gone])))
    hashes = {value for row in gone for value in row[1:] if value is not None}
    used = {
        value
        for column in _CONTENTS
        for value in connection.execute(sa.select(column).where(column.in_(hashes))).scalars()
    }
    unused = hashes - used
    if unused:
        connection.execute(contents.delete().where(contents.c.hash.in_(unused)))

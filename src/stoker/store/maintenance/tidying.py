"""Deletes unneeded rows, so that a stack updated for years stays small."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from stoker.store.records.inputs import lock_contents
from stoker.store.schema.tables import OPEN, contents, event_sinks, imports, inputs
from stoker.store.sql.compiled import found, prepared
from stoker.store.sql.rows import Row

OPERATIONS_KEPT = 20  # ended operations of a stack
_CONTENTS = (inputs.c.template, inputs.c.text, inputs.c.environment, inputs.c.files)
ID_AND_CONTENTS = sa.select(inputs.c.id, *_CONTENTS)  # columns that `drop_inputs` needs
# As text: SQLAlchemy takes longer to build such statements than the database to execute them, and
# the first change of a stack in each process would wait for that.
# Deletes ended operations of a stack, except the newest and those that others refer to.
_OLD_OPERATIONS = sa.text(
    f"DELETE FROM operations WHERE stack_id = :stack AND status NOT IN {OPEN}"  # noqa: S608 - only constants
    " AND number <= (SELECT number FROM operations WHERE stack_id = :stack"
    " ORDER BY number DESC LIMIT 1 OFFSET :operations)"
    # A part of an operation on the parent, which reads it until its end.
    " AND (parent_operation IS NULL"
    " OR parent_operation NOT IN"
    f" (SELECT id FROM operations WHERE status IN {OPEN}))"
    " AND id NOT IN (SELECT cancels FROM operations"
    f" WHERE status IN {OPEN} AND cancels IS NOT NULL)"
)
# Operations that are open, or that ended after the last change that succeeded: resources may have
# values of their inputs, whose secrets are masked.
_UNSETTLED = (
    f"stack_id = :stack AND (status IN {OPEN} OR number >"  # noqa: S608 - only constants
    " (SELECT coalesce(max(number), 0) FROM operations"
    " WHERE stack_id = :stack AND kind = 'change' AND status = 'COMPLETE'))"
)
# Inputs that neither the stack, nor a snapshot, nor an unsettled operation refers to.
_OLD_INPUTS = sa.text(
    "SELECT id, template, text, environment, files FROM inputs"  # noqa: S608 - only constants
    " WHERE stack_id = :stack AND id NOT IN ("
    "SELECT input_id FROM stacks WHERE id = :stack"
    # The last complete state, to which a failed change can be rolled back.
    " UNION ALL SELECT good_input_id FROM stacks WHERE id = :stack AND good_input_id IS NOT NULL"
    " UNION ALL SELECT input_id FROM snapshots WHERE stack_id = :stack"
    f" UNION ALL SELECT input_id FROM operations WHERE {_UNSETTLED} AND input_id IS NOT NULL"
    f" UNION ALL SELECT back_to FROM operations WHERE {_UNSETTLED} AND back_to IS NOT NULL"
    " UNION ALL SELECT back_to FROM operations WHERE back_to IS NOT NULL"
    " AND id IN (SELECT cancels FROM operations"
    f" WHERE stack_id = :stack AND status IN {OPEN}))"
)
_OLD_EVENTS = sa.text(
    "DELETE FROM events WHERE stack_id = :stack AND number <= (SELECT number FROM events"
    " WHERE stack_id = :stack ORDER BY number DESC LIMIT 1 OFFSET :events)"
)
_SIZE_OF_EVENTS = sa.text("SELECT sum(size) AS size FROM events WHERE stack_id = :stack")
# Deletes the oldest events of a stack: those older than the newest events of ``size`` bytes.
_LARGE_EVENTS = sa.text(
    "DELETE FROM events WHERE stack_id = :stack AND number <= (SELECT max(number) FROM"
    " (SELECT number, sum(size) OVER (ORDER BY number DESC) AS newer FROM events"
    " WHERE stack_id = :stack) AS summed WHERE newer > :size)"
)
EVENTS_SIZE = 64 * 1024 * 1024  # stored bytes of properties in the kept events of a stack
# Those of the contents that an input still has. Each of its columns has its own index.
_USED = sa.text(
    "SELECT hash FROM contents WHERE hash IN :hashes"
    " AND EXISTS (SELECT 1 FROM inputs WHERE template = contents.hash)"
    " UNION SELECT hash FROM contents WHERE hash IN :hashes"
    " AND EXISTS (SELECT 1 FROM inputs WHERE text = contents.hash)"
    " UNION SELECT hash FROM contents WHERE hash IN :hashes"
    " AND EXISTS (SELECT 1 FROM inputs WHERE environment = contents.hash)"
    " UNION SELECT hash FROM contents WHERE hash IN :hashes"
    " AND EXISTS (SELECT 1 FROM inputs WHERE files = contents.hash)"
).bindparams(sa.bindparam("hashes", expanding=True))


def tidy(connection: sa.Connection, stack_id: str, events: int) -> None:
    """Drop old inputs of the stack, contents that only they had, and all but the newest events."""
    old = {"stack": stack_id, "operations": OPERATIONS_KEPT}
    prepared(connection, _OLD_OPERATIONS).execute(connection, old)
    drop_inputs(connection, found(connection, _OLD_INPUTS, stack=stack_id))
    old = {"stack": stack_id, "events": events}
    prepared(connection, _OLD_EVENTS).execute(connection, old)
    # A sum takes a tenth of the time of the search for the oldest event to keep.
    (kept,) = found(connection, _SIZE_OF_EVENTS, stack=stack_id)
    if (kept["size"] or 0) > EVENTS_SIZE:
        old = {"stack": stack_id, "size": EVENTS_SIZE}
        prepared(connection, _LARGE_EVENTS).execute(connection, old)


def drop_inputs(connection: sa.Connection, gone: Sequence[Row]) -> None:
    """Delete inputs, given by id and contents, and contents that no other input has."""
    if not gone:
        return
    ids = [row["id"] for row in gone]
    connection.execute(inputs.delete().where(inputs.c.id.in_(ids)))
    connection.execute(event_sinks.delete().where(event_sinks.c.input_id.in_(ids)))
    connection.execute(imports.delete().where(imports.c.input_id.in_(ids)))
    named = (row[column.name] for row in gone for column in _CONTENTS)
    hashes = {value for value in named if value is not None}
    # Wait for transactions that use these contents, then check again.
    lock_contents(connection, hashes)
    unused = hashes - set(connection.execute(_USED, {"hashes": list(hashes)}).scalars())
    if unused:
        connection.execute(contents.delete().where(contents.c.hash.in_(unused)))

"""Writes changes: many in one transaction, each fenced by its stack's token."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, Fenced, StoreFault
from stoker.engine.model.records import Stack
from stoker.kernel.errors import name_taken
from stoker.store import rows, tables
from stoker.store.encryption import Cipher, EncryptOnce
from stoker.store.guarding import InTransaction
from stoker.store.taking import take_new


def write(
    connection: sa.Connection, changes: Sequence[Change], cipher: Cipher
) -> list[Exception | None]:
    """Write the changes inside the connection's transaction, in their order.

    Returns for each change None, or why it was not written; the others are written all the same.
    """
    verdicts = _fence(connection, changes)
    cipher = EncryptOnce(cipher)
    ready: list[Change] = []
    for index, change in enumerate(changes):
        if verdicts[index] is not None:
            continue
        if change.guard is not None or (change.fencing_token is None and change.stacks):
            # it is judged by all that came before it
            _write_all(connection, ready, cipher)
            ready.clear()
            verdicts[index] = _refusal(connection, change, cipher)
        if verdicts[index] is None:
            ready.append(change)
    _write_all(connection, ready, cipher)
    return verdicts


def _refusal(connection: sa.Connection, change: Change, cipher: Cipher) -> Exception | None:
    """Why the change is not to be written."""
    owned = change.fencing_token is not None
    for stack in change.stacks:
        if not owned and stack.parent_id is None and _is_taken(connection, stack):
            return name_taken(stack.name)
    if change.guard is None:
        return None
    try:
        change.guard(InTransaction(connection, cipher))
    except (StoreFault, sa.exc.SQLAlchemyError):
        raise
    except Exception as refused:  # noqa: BLE001 - it is told to whoever asked for the change
        return refused
    return None


def _is_taken(connection: sa.Connection, stack: Stack) -> bool:
    named = {"project": stack.project_id, "name": stack.name}
    return connection.execute(_OF_NAME, named).first() is not None


_OF_NAME = sa.select(tables.stacks.c.id).where(
    tables.stacks.c.project_id == sa.bindparam("project"),
    tables.stacks.c.live_name == sa.bindparam("name"),
)
_FENCING_TOKENS = (
    sa.select(tables.stacks.c.id, tables.stacks.c.fencing_token)
    .where(tables.stacks.c.id.in_(sa.bindparam("held", expanding=True)))
    .with_for_update()
)


def _fence(connection: sa.Connection, changes: Sequence[Change]) -> list[Exception | None]:
    held = {change.stack_id for change in changes if change.fencing_token is not None}
    if not held:
        return [None] * len(changes)
    found = connection.execute(_FENCING_TOKENS, {"held": sorted(held)})
    tokens: dict[str, int] = {row.id: row.fencing_token for row in found}
    return [
        None
        if change.fencing_token is None or tokens.get(change.stack_id) == change.fencing_token
        else Fenced(change.stack_id)
        for change in changes
    ]


def _write_all(connection: sa.Connection, changes: Sequence[Change], cipher: Cipher) -> None:
    if not changes:
        return
    contents: dict[str, dict[str, str]] = {}
    inputs = []
    for change in changes:
        for record in change.inputs:
            row, bodies = rows.to_input_rows(record, cipher)
            inputs.append(row)
            contents.update({body["hash"]: body for body in bodies})
    _insert(connection, tables.contents, list(contents.values()), "hash", keep=None)
    _insert(connection, tables.inputs, inputs)
    stacks = [rows.to_row(stack, cipher) for change in changes for stack in change.stacks]
    _insert(connection, tables.stacks, stacks, "id", keep=("fencing_token",))
    operations = [rows.to_row(op, cipher) for change in changes for op in change.operations]
    _insert(connection, tables.operations, operations, "id")
    # of several changes to one row only the last counts
    latest = {row.id: row for change in changes for row in change.resources}
    resources = [rows.to_row(row, cipher) for row in latest.values()]
    _insert(connection, tables.resources, resources, "id")
    events = [rows.to_row(event, cipher) for change in changes for event in change.events]
    _insert(connection, tables.events, events)
    signals = [rows.to_row(signal, cipher) for change in changes for signal in change.signals]
    _insert(connection, tables.signals, signals)
    dropped = [{"gone": row_id} for change in changes for row_id in change.dropped_resources]
    _delete(connection, tables.resources, tables.resources.c.id, dropped)
    silent = [{"gone": row_id} for change in changes for row_id in change.dropped_signals_of]
    _delete(connection, tables.signals, tables.signals.c.resource_id, silent)
    take_new(connection, changes)
    heard = [{"gone": signal_id} for change in changes for signal_id in change.dropped_signals]
    _delete(connection, tables.signals, tables.signals.c.id, heard)


def _delete(
    connection: sa.Connection,
    table: sa.Table,
    column: sa.ColumnElement[str],
    values: list[dict[str, Any]],
) -> None:
    if values:
        connection.execute(table.delete().where(column == sa.bindparam("gone")), values)


_STATEMENTS: dict[tuple[str, str], tuple[str, Sequence[str] | None]] = {}
"""By dialect and table: the text of an insert, and the order of its values if they have one."""


def _insert(
    connection: sa.Connection,
    table: sa.Table,
    values: list[dict[str, Any]],
    key: str | None = None,
    *,
    keep: Sequence[str] | None = (),
) -> None:
    """Insert the rows, or update those whose ``key`` exists, but for the columns to ``keep``; a
    ``keep`` of None leaves them as they are.

    The driver is given text that was compiled once: SQLAlchemy would look at every value anew.
    """
    if not values:
        return
    dialect = connection.dialect.name
    known = _STATEMENTS.get((dialect, table.name))
    if known is None:
        # loading the dialect of another database would take 25 ms of every start
        statement = importlib.import_module(f"sqlalchemy.dialects.{dialect}").insert(table)
        if key is not None and keep is None:
            statement = statement.on_conflict_do_nothing(index_elements=[key])
        elif key is not None:
            changed = {
                name: statement.excluded[name]
                for name in values[0]
                if name != key and name not in (keep or ())
            }
            statement = statement.on_conflict_do_update(index_elements=[key], set_=changed)
        compiled = statement.compile(dialect=connection.dialect, column_keys=list(values[0]))
        known = _STATEMENTS[(dialect, table.name)] = (str(compiled), compiled.positiontup)
    text, order = known
    if order is None:
        connection.exec_driver_sql(text, values)
    else:
        connection.exec_driver_sql(text, [tuple([row[name] for name in order]) for row in values])

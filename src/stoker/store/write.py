"""Writes changes: many in one transaction, each fenced by its stack's token."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import Append, Change, Fenced, Guard, OwnedWrite, StoreFault
from stoker.engine.model.watches import NO_WATCHES
from stoker.kernel.errors import name_taken
from stoker.schema.software import NO_SOFTWARE
from stoker.store import rows, tables
from stoker.store.encryption import Cipher, EncryptOnce
from stoker.store.guarding import InTransaction
from stoker.store.kept import write_kept
from stoker.store.outbox import SqlOutbox, sink_rows
from stoker.store.prepared import Prepared, prepared
from stoker.store.shared import hold_numbers, write_contents
from stoker.store.software import write_software
from stoker.store.taking import take_new
from stoker.store.watches import WATCHES_OF_GONE, write_watches


def write(
    connection: sa.Connection, changes: Sequence[Change], cipher: Cipher, outbox: SqlOutbox
) -> list[Exception | None]:
    """Write the changes inside the connection's transaction, in their order.

    Returns for each change None, or why it was not written; the others are written all the same.
    Two that make stacks of one name violate a constraint: each is then written alone.
    """
    verdicts = _fence(connection, changes)
    cipher = EncryptOnce(cipher)
    ready: list[Change] = []
    for index, change in enumerate(changes):
        if verdicts[index] is None:
            verdicts[index] = _name_taken(connection, change)
        guard = change.guard if isinstance(change, Append) else None
        if verdicts[index] is None and guard is not None:
            # it is judged by all that came before it
            _write_all(connection, ready, cipher, outbox)
            ready.clear()
            verdicts[index] = _refusal(connection, guard, cipher)
        if verdicts[index] is None:
            ready.append(change)
    _write_all(connection, ready, cipher, outbox)
    return verdicts


def _name_taken(connection: sa.Connection, change: Change) -> Exception | None:
    """The refusal of a name that another stack has, nested ones aside: they have none to share."""
    if isinstance(change, OwnedWrite):
        return None
    for stack in change.stacks:
        named = {"project": stack.project_id, "name": stack.name}
        if stack.parent_id is None and (
            prepared(connection, _OF_NAME).execute(connection, named).first() is not None
        ):
            return name_taken(stack.name)
    return None


def _refusal(connection: sa.Connection, guard: Guard, cipher: Cipher) -> Exception | None:
    """Why a change is not to be written."""
    try:
        guard(InTransaction(connection, cipher))
    except (StoreFault, sa.exc.SQLAlchemyError):
        raise
    except Exception as refused:  # noqa: BLE001 - it is told to whoever asked for the change
        return refused
    return None


_OF_NAME = sa.select(tables.stacks.c.id).where(
    tables.stacks.c.project_id == sa.bindparam("project", None),
    tables.stacks.c.live_name == sa.bindparam("name", None),
)


_AT_ONCE = 100
"""Stacks whose fencing tokens one statement asks for."""


@functools.cache
def _fencing_tokens(count: int) -> sa.Select[Any]:
    held = [sa.bindparam(f"held{number}", None, sa.String) for number in range(count)]
    columns = tables.stacks.c
    select = sa.select(columns.id, columns.fencing_token)
    # locked in one order by everybody
    return select.where(columns.id.in_(held)).order_by(columns.id).with_for_update()


def _fence(connection: sa.Connection, changes: Sequence[Change]) -> list[Exception | None]:
    held = sorted({each.stack_id for each in changes if isinstance(each, OwnedWrite)})
    tokens: dict[str, int] = {}
    for begin in range(0, len(held), _AT_ONCE):
        some = held[begin : begin + _AT_ONCE]
        select = prepared(connection, _fencing_tokens(len(some)))
        values = {f"held{number}": stack_id for number, stack_id in enumerate(some)}
        tokens.update({row[0]: row[1] for row in select.execute(connection, values)})
    return [
        None
        if isinstance(change, Append) or tokens.get(change.stack_id) == change.fencing_token
        else Fenced(change.stack_id)
        for change in changes
    ]


def _write_all(
    connection: sa.Connection, changes: Sequence[Change], cipher: Cipher, outbox: SqlOutbox
) -> None:
    if not changes:
        return
    owned = [change for change in changes if isinstance(change, OwnedWrite)]
    added = [change for change in changes if isinstance(change, Append)]
    _write_inputs(connection, changes, cipher)
    stacks = [rows.to_row(stack, cipher) for change in changes for stack in change.stacks]
    # in one order by everybody, as nested stacks are written by others than their owners, too
    stacks.sort(key=itemgetter("id"))
    _insert(connection, tables.stacks, stacks, "id", keep=("fencing_token",))
    operations = [rows.to_row(op, cipher) for change in changes for op in change.operations]
    _insert(connection, tables.operations, operations, "id")
    # of several changes to one row only the last counts
    latest = {row.id: row for change in owned for row in change.resources}
    resources = [rows.to_row(row, cipher) for row in latest.values()]
    _insert(connection, tables.resources, resources, "id")
    if events := [rows.to_row(event, cipher) for change in changes for event in change.events]:
        hold_numbers(connection)
        _insert(connection, tables.events, events)
    signals = [rows.to_row(signal, cipher) for change in added for signal in change.signals]
    _insert(connection, tables.signals, signals)
    if dropped := [{"gone": row_id} for change in owned for row_id in change.dropped_resources]:
        for delete in (_RESOURCE_GONE, _SIGNALS_OF_GONE, *WATCHES_OF_GONE):
            prepared(connection, delete).execute(connection, *dropped)
    _write_snapshots(connection, changes, owned, cipher)
    take_new(connection, changes)
    for change in changes:
        if change.software is not NO_SOFTWARE:
            write_software(connection, change.software, cipher, _insert)
        if change.watches is not NO_WATCHES:
            write_watches(connection, change.watches, _insert)
    write_kept(connection, changes, cipher, _insert)
    if heard := [{"gone": signal_id} for change in owned for signal_id in change.dropped_signals]:
        prepared(connection, _SIGNAL_GONE).execute(connection, *heard)
    outbox.add(connection, changes, cipher)


def _write_inputs(connection: sa.Connection, changes: Sequence[Change], cipher: Cipher) -> None:
    contents: dict[str, dict[str, str]] = {}
    inputs, sinks = [], []
    for change in changes:
        for record in change.inputs:
            row, bodies = rows.to_input_rows(record, cipher)
            inputs.append(row)
            contents.update({body["hash"]: body for body in bodies})
            sinks += sink_rows(record)
    in_order = [contents[hash_] for hash_ in sorted(contents)]
    write_contents(
        connection,
        in_order,
        lambda some: _insert(connection, tables.contents, some, "hash", keep=None),
    )
    _insert(connection, tables.inputs, inputs)
    _insert(connection, tables.event_sinks, sinks)


def _write_snapshots(
    connection: sa.Connection,
    changes: Sequence[Change],
    owned: Sequence[OwnedWrite],
    cipher: Cipher,
) -> None:
    snapshots = [rows.to_row(each, cipher) for change in changes for each in change.snapshots]
    _insert(connection, tables.snapshots, snapshots, "id")
    parts = [rows.to_row(part, cipher) for change in owned for part in change.snapshot_parts]
    _insert(connection, tables.snapshot_parts, parts, "id")
    for delete, ids in (
        (_SNAPSHOT_GONE, [id_ for change in owned for id_ in change.dropped_snapshots]),
        (_PART_GONE, [id_ for change in owned for id_ in change.dropped_snapshot_parts]),
    ):
        if ids:
            prepared(connection, delete).execute(connection, *({"gone": id_} for id_ in ids))


_GONE: sa.BindParameter[str] = sa.bindparam("gone", None, sa.String)
_RESOURCE_GONE = tables.resources.delete().where(tables.resources.c.id == _GONE)
_SIGNALS_OF_GONE = tables.signals.delete().where(tables.signals.c.resource_id == _GONE)
_SIGNAL_GONE = tables.signals.delete().where(tables.signals.c.id == _GONE)
_SNAPSHOT_GONE = tables.snapshots.delete().where(tables.snapshots.c.id == _GONE)
_PART_GONE = tables.snapshot_parts.delete().where(tables.snapshot_parts.c.id == _GONE)


_INSERTS: dict[tuple[str, str], Prepared] = {}
"""By dialect and table."""


def _insert(
    connection: sa.Connection,
    table: sa.Table,
    values: Sequence[dict[str, Any]],
    key: str | None = None,
    *,
    keep: Sequence[str] | None = (),
) -> None:
    """Insert the rows, or update those whose ``key`` exists, but for the columns to ``keep``; a
    ``keep`` of None leaves them as they are.
    """
    if not values:
        return
    dialect = connection.dialect.name
    known = _INSERTS.get((dialect, table.name))
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
        known = Prepared(connection.dialect, statement, list(values[0]))
        _INSERTS[(dialect, table.name)] = known
    known.execute(connection, *values)

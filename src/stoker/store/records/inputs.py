"""Writes inputs: the contents that they share, the sinks of events, and the exports they use.

Contents are shared by concurrent transactions. SQLite has one writing transaction at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.outgoing import sinks_of
from stoker.engine.model.records import Input
from stoker.store.schema import tables
from stoker.store.schema.tables import contents
from stoker.store.sql.compiled import InList, Insert, Inserts, any_of, found
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.rows import to_input_rows

_INPUTS, _SINKS = Insert(tables.inputs), Insert(tables.event_sinks)
_IMPORTS = Insert(tables.imports)


def put_inputs(inserts: Inserts, inputs: Sequence[Input], cipher: Cipher) -> None:
    """Write new inputs."""
    bodies: dict[str, Callable[[], str]] = {}
    rows, sinks, imports = [], [], []
    for stack_input in inputs:
        row, own = to_input_rows(stack_input, cipher)
        rows.append(row)
        bodies |= own
        for sink in sinks_of(stack_input.environment):
            named = {"type": sink.channel.value, "target": sink.target, "ttl": sink.ttl}
            sinks.append({"input_id": stack_input.id, **named})
        # The imports of a nested stack belong to the stack around it.
        if not stack_input.facade:
            stack = {"input_id": stack_input.id, "stack_id": stack_input.stack_id}
            imports += [{**stack, "name": name} for name in stack_input.imports]
    _upsert_contents(inserts.connection, bodies)
    inserts.add(_INPUTS, rows)
    inserts.add(_SINKS, sinks)
    inserts.add(_IMPORTS, imports)


def _upsert_contents(connection: sa.Connection, bodies: Mapping[str, Callable[[], str]]) -> None:
    """Write contents, or lock existing ones, so that they are not dropped before the commit.

    ``bodies`` returns the encrypted text for each hash; only texts that are missing are encrypted.
    """
    missing = set(bodies)
    while missing := missing - _present(connection, missing):
        new = [{"hash": hash_, "body": bodies[hash_]()} for hash_ in sorted(missing)]
        _CONTENTS.execute(connection, new)


def _present(connection: sa.Connection, hashes: Collection[str]) -> set[str]:
    """Return which of these contents exist. They are locked, except on SQLite."""
    if connection.dialect.name == "sqlite":
        return {row["hash"] for row in _KNOWN.find(connection, hashes)}
    return _held(connection, _SHARED, sorted(hashes))


def lock_contents(connection: sa.Connection, hashes: Collection[str]) -> None:
    """Wait until no other transaction uses contents, and let none use them before the commit."""
    if connection.dialect.name != "sqlite":
        _held(connection, _ALONE, hashes)


_CONTENTS = Insert(contents, "hash", keep=None)
_KNOWN = InList(sa.select(contents.c.hash), contents.c.hash)
# All transactions lock contents in one order.
_SOME = (
    sa.select(contents.c.hash).where(contents.c.hash == any_of("hashes")).order_by(contents.c.hash)
)
_SHARED = _SOME.with_for_update(read=True, key_share=True)
_ALONE = _SOME.with_for_update()


def _held(connection: sa.Connection, select: sa.Select[Any], hashes: Collection[str]) -> set[str]:
    return {row["hash"] for row in found(connection, select, hashes=list(hashes))}

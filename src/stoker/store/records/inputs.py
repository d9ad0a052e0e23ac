"""Writes inputs: the contents that they share, the sinks of events, and the exports they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.outgoing import sinks_of
from stoker.engine.model.records import Input
from stoker.store.records.content_rows import upsert_contents
from stoker.store.schema import tables
from stoker.store.sql.bulk import Insert
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.rows import to_input_rows

_INPUTS, _SINKS = Insert(tables.inputs), Insert(tables.event_sinks)
_IMPORTS = Insert(tables.imports)


def put_inputs(connection: sa.Connection, inputs: Sequence[Input], cipher: Cipher) -> None:
    """Write new inputs."""
    contents: dict[str, Callable[[], str]] = {}
    rows = []
    for given in inputs:
        row, bodies = to_input_rows(given, cipher)
        rows.append(row)
        contents |= bodies
    upsert_contents(connection, contents)
    _INPUTS.execute(connection, rows)
    _SINKS.execute(connection, [sink for given in inputs for sink in _sinks(given)])
    _IMPORTS.execute(connection, [used for given in inputs for used in _imports(given)])


def _sinks(given: Input) -> list[dict[str, Any]]:
    return [
        {"input_id": given.id, "type": sink.channel.value, "target": sink.target, "ttl": sink.ttl}
        for sink in sinks_of(given.environment)
    ]


def _imports(given: Input) -> list[dict[str, Any]]:
    # The imports of a nested stack belong to the stack around it.
    if given.facade:
        return []
    return [
        {"input_id": given.id, "stack_id": given.stack_id, "name": name} for name in given.imports
    ]

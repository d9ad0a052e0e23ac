"""Records to table rows and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.records import (
    Action,
    Event,
    Input,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    StoredSignal,
)
from stoker.store.sealing import Seal, dumps

Row = Mapping[str, Any] | sa.RowMapping

_JSON = frozenset(
    {
        "tags",
        "settings",
        "plan",
        "progress",
        "requires",
        "needs",
        "update_policy",
        "asked",
        "dirty",
        "facade",
        "hook",
    }
)
_TUPLES = frozenset({"tags", "requires", "needs", "asked", "dirty"})
_SEALED = frozenset(
    {"credentials", "attributes", "data", "parameters", "properties", "metadata", "details"}
)
_NOT_STORED = frozenset({"requested"})


def dicts(result: sa.CursorResult[Any]) -> Iterator[Row]:
    """The rows of a result as dicts, which are looked into faster than its own mappings."""
    names = tuple(result.keys())
    return (dict(zip(names, row, strict=True)) for row in result)


Record = Stack | Operation | Resource | Event | StoredSignal
Kind = TypeVar("Kind", bound=Record)


def to_row(record: Record, seal: Seal) -> dict[str, Any]:
    """The columns of a record."""
    row: dict[str, Any] = {}
    for name in _names(type(record)):
        value = getattr(record, name)
        if name in _SEALED:
            value = None if value is None else seal.close(dict(value))
        elif name in _JSON and value is not None:
            value = dumps(value if not isinstance(value, Mapping) else dict(value))
        row[name] = value
    if isinstance(record, Stack):
        live = record.deleted_at is None and record.parent_id is None
        row["live_name"] = record.name if live else None
    if isinstance(record, Operation):
        del row["number"]
    return row


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(f.name for f in fields(kind) if f.name not in _NOT_STORED)
    return _NAMES[kind]


Convert = Callable[[Seal, Any], Any]
_CONVERTERS: dict[type, list[tuple[str, Convert | None]]] = {}


def _converters(kind: type) -> list[tuple[str, Convert | None]]:
    """The names of a record's fields, with what makes their values from those of columns."""
    if kind not in _CONVERTERS:
        status = OperationStatus if kind is Operation else Status
        found: dict[str, Convert] = {
            **dict.fromkeys(_SEALED, _opened),
            **dict.fromkeys(_JSON - _TUPLES, _loads),
            **dict.fromkeys(_TUPLES, _loads_tuple),
            "action": lambda _, value: Action(value),
            "status": lambda _, value: status(value),
        }
        _CONVERTERS[kind] = [(name, found.get(name)) for name in _names(kind)]
    return _CONVERTERS[kind]


def _record(kind: type[Kind], row: Row, seal: Seal) -> Kind:
    values = [
        row[name] if convert is None else convert(seal, row[name])
        for name, convert in _converters(kind)
    ]
    return kind(*values)


def _opened(seal: Seal, text: str | None) -> Any:
    return {} if text == "{}" else None if text is None else seal.open(text)


_decode = json.JSONDecoder().raw_decode


def _loads(_: Seal, text: str | None) -> Any:
    """The value of JSON; what is nearly always there needs no reading."""
    if text is None or text == "{}":
        return None if text is None else {}
    return [] if text == "[]" else _decode(text)[0]


def _loads_tuple(_: Seal, text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(_decode(text)[0])


def to_stack(row: Row, seal: Seal, requested: str | None) -> Stack:
    """The stack of a row; ``requested`` is the action that waits for it."""
    stack = _record(Stack, row, seal)
    return stack if requested is None else replace(stack, requested=Action(requested))


def to_operation(row: Row, seal: Seal) -> Operation:
    """The operation of a row."""
    return _record(Operation, row, seal)


def to_resource(row: Row, seal: Seal) -> Resource:
    """The resource of a row."""
    return _record(Resource, row, seal)


def to_event(row: Row, seal: Seal) -> Event:
    """The event of a row."""
    return _record(Event, row, seal)


def to_signal(row: Row, seal: Seal) -> StoredSignal:
    """The signal of a row."""
    return _record(StoredSignal, row, seal)


def to_input_rows(record: Input, seal: Seal) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The row of an input, and the contents that it refers to."""
    values: dict[str, Any] = {
        "template": record.template,
        "environment": dict(record.environment),
        "files": dict(record.files),
    }
    if record.text is not None:
        values["text"] = record.text
    hashes = {
        key: hashlib.sha256(dumps(value).encode()).hexdigest() for key, value in values.items()
    }
    bodies = [{"hash": hashes[key], "body": seal.close(value)} for key, value in values.items()]
    row = {
        "id": record.id,
        "stack_id": record.stack_id,
        "parameters": seal.close(dict(record.parameters)),
        "template_file": record.template_file,
        "facade": dumps(dict(record.facade)),
        "text": None,
        **hashes,
    }
    return row, bodies


def to_input(row: Row, bodies: Mapping[str, str], seal: Seal) -> Input:
    """The input of a row; ``bodies`` holds its contents by hash."""
    return Input(
        id=row["id"],
        stack_id=row["stack_id"],
        template=seal.open(bodies[row["template"]]),
        text=seal.open(bodies[row["text"]]) if row["text"] else None,
        parameters=seal.open(row["parameters"]),
        environment=seal.open(bodies[row["environment"]]),
        files=seal.open(bodies[row["files"]]),
        template_file=row["template_file"],
        facade=json.loads(row["facade"]),
    )

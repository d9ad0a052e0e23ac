"""Records to table rows and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

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
        "dirty",
        "facade",
        "hook",
    }
)
_TUPLES = frozenset({"tags", "requires", "needs", "dirty"})
_SEALED = frozenset(
    {"credentials", "attributes", "data", "parameters", "properties", "metadata", "details"}
)
_NOT_STORED = frozenset({"requested"})


def dicts(result: sa.CursorResult[Any]) -> Iterator[Row]:
    """The rows of a result as dicts, which are looked into faster than its own mappings."""
    names = tuple(result.keys())
    return (dict(zip(names, row, strict=True)) for row in result)


Record = Stack | Operation | Resource | Event | StoredSignal


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


def _values(kind: type, row: Row, seal: Seal) -> dict[str, Any]:
    values: dict[str, Any] = {name: row[name] for name in _names(kind)}
    for name in _SEALED & values.keys():
        if values[name] is not None:
            values[name] = {} if values[name] == "{}" else seal.open(values[name])
    for name in _JSON & values.keys():
        if values[name] is not None:
            values[name] = _loads(values[name])
    for name in _TUPLES & values.keys():
        values[name] = tuple(values[name])
    if "action" in values:
        values["action"] = Action(values["action"])
    return values


def _loads(text: str) -> Any:
    """The value of JSON; what is nearly always there needs no reading."""
    if text == "{}":
        return {}
    return [] if text == "[]" else json.loads(text)


def to_stack(row: Row, seal: Seal, requested: str | None) -> Stack:
    """The stack of a row; ``requested`` is the action that waits for it."""
    values = _values(Stack, row, seal)
    values["status"] = Status(values["status"])
    return Stack(**values, requested=Action(requested) if requested else None)


def to_operation(row: Row, seal: Seal) -> Operation:
    """The operation of a row."""
    values = _values(Operation, row, seal)
    values["status"] = OperationStatus(values["status"])
    return Operation(**values)


def to_resource(row: Row, seal: Seal) -> Resource:
    """The resource of a row."""
    values = _values(Resource, row, seal)
    values["status"] = Status(values["status"])
    return Resource(**values)


def to_event(row: Row, seal: Seal) -> Event:
    """The event of a row."""
    values = _values(Event, row, seal)
    values["status"] = Status(values["status"])
    return Event(**values)


def to_signal(row: Row, seal: Seal) -> StoredSignal:
    """The signal of a row."""
    return StoredSignal(**_values(StoredSignal, row, seal))


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

"""Converts records to table rows and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec import Struct, structs

from stoker.engine.model.interfaces import StoreError
from stoker.engine.model.kinds import ChangeRequest, Request, request_data, request_of
from stoker.engine.model.plans import Plan
from stoker.engine.model.records import (
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
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.engine.model.storage.changes import AnyRecord
from stoker.kernel.json.text import dumps, loads
from stoker.kernel.logs.log import Log
from stoker.store.schema import tables
from stoker.store.schema.columns import Kind, kind_of
from stoker.store.sql.encryption import Cipher

log = Log(__name__)

Row = Mapping[str, Any] | sa.RowMapping

# Not written from records: other statements write them, or they have no column.
_READ_ONLY = frozenset({"requested", "attempts", "released_token", "unreadable"})
_DRAWN = "number"  # set by the database when it inserts a row
_UNREADABLE = "unreadable"  # field of a record with the names of unreadable columns


def dicts(result: sa.CursorResult[Any]) -> Iterator[Row]:
    """Convert result rows to dicts, which are faster to access than SQLAlchemy's row mappings."""
    names = tuple(result.keys())
    return (dict(zip(names, row, strict=True)) for row in result.fetchall())


Kind_ = TypeVar("Kind_", bound=Struct)


def to_row(record: AnyRecord, cipher: Cipher) -> dict[str, Any]:
    """Return the columns of a record."""
    kind = type(record)
    form, row = _FORMS.get(kind) or form_of(kind), structs.asdict(record)
    for name in form.not_written:
        del row[name]
    for name in form.derived:
        row[name] = getattr(record, name)
    for column, names in form.packed:
        row[column] = cipher.encrypt({name: row.pop(name) for name in names})
    for name in form.encrypted:
        value = row[name]
        if value:
            row[name] = cipher.encrypt(value)
        elif value is not None:
            row[name] = "{}"
    for name, write, empty in form.writes:
        value = row[name]
        if value or empty is None:
            row[name] = write(cipher, value)
        elif value is not None:
            row[name] = empty
    if form.measured:
        size = 0
        for name in form.measured:
            size += len(row[name] or "")
        row["size"] = size
    return row


Convert = Callable[[Cipher, Any], Any]


class Form(Struct, frozen=True):
    """The conversion between the fields of a record and its columns, derived once for a kind."""

    columns: Sequence[tuple[str, str]]  # field and name of the column in the database
    not_written: Sequence[str]
    derived: Sequence[str]  # columns that are properties of the record
    packed: Sequence[tuple[str, Sequence[str]]]  # encrypted column and the fields in it
    encrypted: Sequence[str]
    # Fields whose column has text: the conversion, and the text of an empty value, since most
    # fields of most rows are empty. With None, empty values are converted, too.
    writes: Sequence[tuple[str, Convert, str | None]]
    # The same fields when read: the conversion, and the value for an unreadable text.
    reads: Sequence[tuple[str, Convert, Any]]
    measured: Sequence[str]  # encrypted columns whose lengths add up to the column "size"


_FORMS: dict[type[Struct], Form] = {}


def form_of(kind: type[Struct]) -> Form:
    """Return the conversion of a kind of record, from its table."""
    if kind not in _FORMS:
        stored = tables.RECORDS[kind]
        columns = stored.table.c
        packed = {name for names in stored.packed.values() for name in names}
        statuses: Any = OperationStatus if kind is Operation else Status
        names = [name for name in kind.__struct_fields__ if name not in {*_READ_ONLY, *packed}]
        conversions = {name: _conversion(columns[name], statuses) for name in names}
        measured = [c.key for c in columns if kind_of(c) is Kind.ENCRYPTED]
        _FORMS[kind] = Form(
            columns=[(name, columns[name].name) for name in names],
            not_written=[n for n in kind.__struct_fields__ if n in _READ_ONLY or n == _DRAWN],
            derived=[c.key for c in columns if isinstance(getattr(kind, c.key, None), property)],
            packed=list(stored.packed.items()),
            encrypted=[name for name in names if conversions[name].write is _encrypt],
            writes=[
                (name, conversion.write, conversion.empty_text)
                for name, conversion in conversions.items()
                if conversion.write is not None and conversion.write is not _encrypt
            ],
            reads=[
                (name, conversion.read, conversion.unreadable)
                for name, conversion in conversions.items()
                if conversion.read is not None
            ],
            measured=measured if "size" in columns else (),
        )
    return _FORMS[kind]


class _Conversion(Struct, frozen=True):
    write: Convert | None
    read: Convert | None
    unreadable: Any  # the value of a text that cannot be read
    empty_text: str | None = "{}"


def _conversion(
    column: sa.Column[Any], statuses: type[Status] | type[OperationStatus]
) -> _Conversion:
    match kind_of(column):
        case Kind.ENCRYPTED:
            return _Conversion(_encrypt, _decrypt, None if column.nullable else {})
        case Kind.JSON:
            return _Conversion(_dump, _load, None if column.nullable else {})
        case Kind.ANY_JSON:
            return _Conversion(_dump, _load, None, None)
        case Kind.LIST:
            return _Conversion(_dump, _load_tuple, (), "[]")
        case Kind.ACTION:
            return _Conversion(None, _one_of(Action), Action.CHECK)
        case Kind.STATUS:
            return _Conversion(None, _one_of(statuses), statuses.FAILED)
        case Kind.PLAN:
            return _Conversion(_dump_plan, _load_plan, None)
        case Kind.REQUEST:
            return _Conversion(_dump_request, _load_request, ChangeRequest())
        case None:
            read = _bool if isinstance(column.type, sa.Boolean) else None
            return _Conversion(None, read, False)


def _bool(_: Cipher, value: Any) -> bool:
    return bool(value)


def _one_of(kind: type[StrEnum]) -> Convert:
    members = {member.value: member for member in kind}
    return lambda _, value: members[value]


def _record(kind: type[Kind_], row: Row, cipher: Cipher, **read_only: Any) -> Kind_:
    """Return the record of a row. Unreadable fields are empty, and named if the record can."""
    form = _FORMS.get(kind) or form_of(kind)
    values: dict[str, Any] = {name: row[column] for name, column in form.columns}
    values.update(read_only)
    unreadable: list[str] = []
    for name, read, empty in form.reads:
        try:
            values[name] = read(cipher, values[name])
        except StoreError:
            raise  # the read was abandoned
        except Exception:
            if kind in _WHOLE:
                raise
            unreadable.append(name)
            values[name] = empty
    if unreadable and kind is not Event:
        values[_UNREADABLE] = tuple(unreadable)
    return kind(**values)


# Of no use without one of their fields.
_WHOLE: frozenset[type[Struct]] = frozenset((StoredSignal, Snapshot))


def _encrypt(cipher: Cipher, value: Any) -> str:
    return cipher.encrypt(value)


def _decrypt(cipher: Cipher, text: str | None) -> Any:
    return {} if text == "{}" else None if text is None else cipher.decrypt(text)


def _dump(_: Cipher, value: Any) -> str:
    return dumps(value)


def _load(_: Cipher, text: str | None) -> Any:
    """Return the value of JSON, with shortcuts for the usual empty ones."""
    if text is None or text == "{}":
        return None if text is None else {}
    return [] if text == "[]" else loads(text)


def _dump_plan(_: Cipher, plan: Plan) -> str:
    return dumps(plan.as_data())


def _load_plan(_: Cipher, text: str | None) -> Plan | None:
    return None if text is None else Plan.from_data(loads(text))


def _dump_request(_: Cipher, request: Request) -> str:
    return dumps(request_data(request))


def _load_request(_: Cipher, text: str) -> Request:
    return request_of(loads(text))


def _load_tuple(_: Cipher, text: str) -> tuple[Any, ...]:
    return () if text == "[]" else tuple(loads(text))


def to_stack(row: Row, cipher: Cipher, requested: str | None) -> Stack:
    """Return the stack of a row; ``requested`` is the action that waits to start."""
    return _record(
        Stack,
        row,
        cipher,
        requested=None if requested is None else Action(requested),
        attempts=row["take_ups"],
        released_token=row["handed_over"],
    )


def to_operation(row: Row, cipher: Cipher) -> Operation:
    """Return the operation of a row."""
    return _record(Operation, row, cipher)


def to_resource(row: Row, cipher: Cipher) -> Resource:
    """Return the resource of a row."""
    return _record(Resource, row, cipher)


def to_event(row: Row, cipher: Cipher) -> Event:
    """Return the event of a row."""
    return _record(Event, row, cipher)


def to_signal(row: Row, cipher: Cipher) -> StoredSignal | None:
    """Return the signal of a row; None if it cannot be decrypted."""
    try:
        return _record(StoredSignal, row, cipher)
    except StoreError:
        raise
    except Exception:
        log.exception("signal not readable", signal=row["id"])
        return None


def to_snapshot(row: Row, cipher: Cipher) -> Snapshot:
    """Return the snapshot of a row."""
    return _record(Snapshot, row, cipher)


def to_snapshot_part(row: Row, cipher: Cipher) -> SnapshotPart:
    """Return the snapshot part of a row."""
    return _record(SnapshotPart, row, cipher)


def to_input_rows(
    record: Input, cipher: Cipher
) -> tuple[dict[str, Any], dict[str, Callable[[], str]]]:
    """Return the row of an input, and functions that encrypt its contents, by hash."""
    values: dict[str, Any] = {
        "template": record.template,
        "environment": record.environment,
        "files": record.files,
    }
    if record.text is not None:
        values["text"] = record.text
    hashed = {key: cipher.hashed(value) for key, value in values.items()}
    row = {
        "id": record.id,
        "stack_id": record.stack_id,
        "parameters": cipher.encrypt(record.parameters),
        "template_file": record.template_file,
        "facade": dumps(dict(record.facade)),
        "adopted": cipher.encrypt(dict(record.adopted)),
        "imports": cipher.encrypt(dict(record.imports)),
        "text": None,
        **{key: hash_ for key, (hash_, _) in hashed.items()},
    }
    return row, dict(hashed.values())


def to_input(row: Row, contents: Mapping[str, Any], cipher: Cipher) -> Input:
    """Return the input of a row; ``contents`` has its contents by hash."""
    return Input(
        id=row["id"],
        stack_id=row["stack_id"],
        template=contents[row["template"]],
        text=contents[row["text"]] if row["text"] else None,
        parameters=cipher.decrypt(row["parameters"]),
        environment=contents[row["environment"]],
        files=contents[row["files"]],
        template_file=row["template_file"],
        facade=json.loads(row["facade"]),
        adopted=_decrypt(cipher, row["adopted"]),
        imports=_decrypt(cipher, row["imports"]),
    )

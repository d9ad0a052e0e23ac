"""Loads a dump of MariaDB into another database, as Heat's would be there."""

from __future__ import annotations

import gzip
import re
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

RECORDED = Path(__file__).parent / "recorded"
_TABLE = re.compile(r"CREATE TABLE `(\w+)`")
_COLUMN = re.compile(r"  `(\w+)` (\w+)")
_ROW = re.compile(r"INSERT INTO `(\w+)` VALUES \((.*)$")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "Z": "\x1a"}
# Heat's indexes, which the statements of the reader use.
_INDEXED = {
    "stack": ("owner_id",),
    "resource": ("stack_id", "nova_instance"),
    "resource_data": ("resource_id",),
    "event": ("stack_id",),
    "stack_tag": ("stack_id",),
    "snapshot": ("stack_id",),
    "resource_snapshot": ("snapshot_id",),
}
# Types that Heat's columns have in PostgreSQL; others are text there.
_IN_POSTGRESQL = {
    "int": sa.Integer,
    "tinyint": sa.Boolean,
    "datetime": sa.DateTime,
    "blob": sa.LargeBinary,
}


def text_of(file: Path) -> str:
    """Return the text of a file that may be compressed."""
    content = file.read_bytes()
    return (gzip.decompress(content) if file.suffix == ".gz" else content).decode()


def load_sqlite(dump: Path, target: Path) -> str:
    """Load a dump into a new file; return its URL for SQLAlchemy."""
    lines = text_of(dump).split("\n")
    with sqlite3.connect(target) as connection:
        for table, columns in tables_in(lines).items():
            keyed = [
                f'"{n}" {_in_sqlite(k)}{" PRIMARY KEY" if n == "id" else ""}' for n, k in columns
            ]
            connection.execute(f'CREATE TABLE "{table}" ({", ".join(keyed)})')
            for column in _INDEXED.get(table, ()):
                connection.execute(f'CREATE INDEX "{table}_{column}" ON "{table}" ("{column}")')
        for table, row in _rows_in(lines):
            marks = ", ".join("?" * len(row))
            connection.execute(f'INSERT INTO "{table}" VALUES ({marks})', row)
    connection.close()
    return f"sqlite:///{target}"


def load_postgresql(dump: Path, url: str) -> None:
    """Load a dump into an empty database of PostgreSQL."""
    lines = text_of(dump).split("\n")
    metadata = sa.MetaData()
    for name, columns in tables_in(lines).items():
        kinds = ((n, _IN_POSTGRESQL.get(kind, sa.Text)) for n, kind in columns)
        sa.Table(name, metadata, *(sa.Column(n, kind, primary_key=n == "id") for n, kind in kinds))
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        metadata.create_all(connection)
        for name, row in _rows_in(lines):
            table = metadata.tables[name]
            values = zip(table.c, row, strict=True)
            given = {column.name: _in_postgresql(column, value) for column, value in values}
            connection.execute(table.insert(), given)
    engine.dispose()


def _in_sqlite(kind: str) -> str:
    return "INTEGER" if kind in ("int", "tinyint") else "TEXT"


def _in_postgresql(column: sa.Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, sa.Boolean):
        return bool(value)
    return datetime.fromisoformat(value) if isinstance(column.type, sa.DateTime) else value


def tables_in(lines: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the tables of a dump, each with its columns and their types in MariaDB."""
    tables: dict[str, list[tuple[str, str]]] = {}
    table = ""
    for line in lines:
        if found := _TABLE.match(line):
            table = found[1]
            tables[table] = []
        elif table and (found := _COLUMN.match(line)):
            tables[table].append((found[1], found[2]))
        elif line.startswith(")"):
            table = ""
    return tables


def _rows_in(lines: list[str]) -> Iterator[tuple[str, list[Any]]]:
    for line in lines:
        if found := _ROW.match(line):
            yield found[1], _values(found[2])


def _values(text: str) -> list[Any]:
    return list(_each_value(text))


def _each_value(text: str) -> Iterator[Any]:
    at = 0
    while True:
        if text[at] == "'":
            value, at = _quoted(text, at + 1)
            yield value
        else:
            end = min(found for found in (text.find(",", at), text.find(")", at)) if found >= 0)
            word = text[at:end]
            yield None if word == "NULL" else int(word)
            at = end
        if text[at] == ")":
            return
        at += 1


def _quoted(text: str, at: int) -> tuple[str, int]:
    """Return a text from its first character, and the place after its closing quote."""
    characters = []
    while True:
        character = text[at]
        if character == "\\":
            characters.append(_ESCAPED.get(text[at + 1], text[at + 1]))
            at += 2
        elif character != "'":
            characters.append(character)
            at += 1
        elif text[at + 1] == "'":
            characters.append("'")
            at += 2
        else:
            return "".join(characters), at + 1

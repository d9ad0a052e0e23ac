"""Loads a dump of MariaDB into SQLite, as Heat's database would be there."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def recorded_database(target: Path) -> str:
    """Load the recorded database into a new file; return its URL."""
    return load(RECORDED / "heat.sql", target)


def load(dump: Path, target: Path) -> str:
    """Load a dump into a new file; return its URL for SQLAlchemy."""
    lines = dump.read_text().split("\n")
    with sqlite3.connect(target) as connection:
        for table, columns in tables_in(lines).items():
            keyed = [f'"{n}" {k}{" PRIMARY KEY" if n == "id" else ""}' for n, k in columns]
            connection.execute(f'CREATE TABLE "{table}" ({", ".join(keyed)})')
            for column in _INDEXED.get(table, ()):
                connection.execute(f'CREATE INDEX "{table}_{column}" ON "{table}" ("{column}")')
        for line in lines:
            if found := _ROW.match(line):
                row = _values(found[2])
                marks = ", ".join("?" * len(row))
                connection.execute(f'INSERT INTO "{found[1]}" VALUES ({marks})', row)
    connection.close()
    return f"sqlite:///{target}"


def tables_in(lines: list[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the tables of a dump, each with its columns and their types."""
    tables: dict[str, list[tuple[str, str]]] = {}
    table = ""
    for line in lines:
        if found := _TABLE.match(line):
            table = found[1]
            tables[table] = []
        elif table and (found := _COLUMN.match(line)):
            kind = "INTEGER" if found[2] in ("int", "tinyint") else "TEXT"
            tables[table].append((found[1], kind))
        elif line.startswith(")"):
            table = ""
    return tables


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

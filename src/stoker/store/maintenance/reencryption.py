"""Encrypts texts of earlier keys with the newest key, in the background.

It goes through the tables in steps of bounded size. A text that was changed meanwhile is skipped:
every writer uses the newest key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.store.schema import tables
from stoker.store.schema.columns import Kind, kind_of
from stoker.store.sql.databases import for_writing
from stoker.store.sql.encryption import BEGINNING, MARKS, ColumnCipher, key_of
from stoker.store.sql.foreign import note_key
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import database_faults, in_transaction

ROWS_AT_ONCE = 40
_DOCUMENTS_AT_ONCE = 4  # rows of contents, which may be long
_DONE = "reencrypted"


class _Place(Struct, frozen=True):
    """Encrypted columns of a table, and the key column of its rows."""

    table: sa.Table
    key: sa.Column[Any]
    columns: tuple[sa.Column[Any], ...]
    at_once: int


class _Renewed(Struct, frozen=True):
    """A text and its replacement."""

    key: Any
    column: sa.Column[Any]
    old: str
    new: str


def _places() -> Iterator[_Place]:
    contents = tables.contents
    yield _Place(contents, contents.c.hash, (contents.c.body,), _DOCUMENTS_AT_ONCE)
    for table in tables.metadata.sorted_tables:
        columns = tuple(c for c in table.columns if kind_of(c) is Kind.ENCRYPTED)
        if columns:
            yield _Place(table, next(iter(table.primary_key)), columns, ROWS_AT_ONCE)


PLACES = tuple(_places())  # everything that is encrypted, except the record of the current key


class Reencryption:
    """The texts of earlier keys in a database."""

    def __init__(self, engine: sa.Engine, cipher: ColumnCipher, runner: Runner) -> None:
        self._engine = engine
        self._writing = for_writing(engine)
        self._cipher = cipher
        self._runner = runner
        self._for = ""
        self._place = 0
        self._after: Any = None

    @property
    def is_under_way(self) -> bool:
        """Return whether texts of earlier keys may be left, as far as this process knows."""
        return self._for == self._cipher.newest and self._place < len(PLACES)

    async def step(self) -> bool:
        """Process some more rows; return whether any are left. Raises StoreError."""
        if self._for != self._cipher.newest:  # other keys: start again
            done = await self._runner.read(self._noted)
            self._for = self._cipher.newest
            self._place, self._after = len(PLACES) if done == self._for else 0, None
        if self._place == len(PLACES):
            return False
        place, key = PLACES[self._place], self._for
        changes, after = await self._runner.read(lambda: self._read_batch(place, self._after))
        last = after is None and self._place + 1 == len(PLACES)
        if changes or last:
            await self._runner.write(lambda: self._write(place, changes, key if last else None))
        self._place, self._after = self._place + (after is None), after
        return not last

    async def left(self) -> Mapping[str, int]:
        """Return the number of texts of each key, by its id. Reads everything."""
        return await self._runner.read(self._count)

    @property
    def newest(self) -> str:
        """Return the id of the newest key."""
        return self._cipher.newest

    def _read_batch(self, place: _Place, after: Any) -> tuple[list[_Renewed], Any]:
        """Return the changes of the rows after one, and the last row, if there are more."""
        select = sa.select(place.key, *place.columns).order_by(place.key).limit(place.at_once)
        if after is not None:
            select = select.where(place.key > after)
        with database_faults(), self._engine.connect() as connection:
            rows = connection.execute(select).all()
        changes = [
            _Renewed(key, column, text, self._cipher.renewed(text))
            for key, *texts in rows
            for column, text in zip(place.columns, texts, strict=True)
            if key_of(text) not in (None, self._cipher.newest)
        ]
        return changes, rows[-1][0] if len(rows) == place.at_once else None

    def _write(self, place: _Place, changes: list[_Renewed], done_for: str | None) -> None:
        def renew(connection: sa.Connection) -> None:
            for change in changes:
                same = sa.and_(place.key == change.key, change.column == change.old)
                values = {change.column: change.new}
                connection.execute(place.table.update().where(same).values(values))
            if done_for is not None:
                note_key(connection, self._cipher)
                marks = tables.marks
                connection.execute(marks.delete().where(marks.c.name == _DONE))
                connection.execute(marks.insert(), {"name": _DONE, "value": done_for})

        in_transaction(self._writing, renew)

    def _noted(self) -> str | None:
        select = sa.select(tables.marks.c.value).where(tables.marks.c.name == _DONE)
        with database_faults(), self._engine.connect() as connection:
            return connection.execute(select).scalar()

    def _count(self) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        with database_faults(), self._engine.connect() as connection:
            for place in PLACES:
                for column in place.columns:
                    beginning = sa.func.substr(column, 1, BEGINNING)
                    encrypted = sa.or_(*(column.startswith(mark) for mark in MARKS))
                    select = sa.select(beginning, sa.func.count()).where(encrypted)
                    select = select.group_by(beginning)
                    for text, count in connection.execute(select):
                        key = key_of(text)
                        if key is not None:
                            found[key] += count
        return found

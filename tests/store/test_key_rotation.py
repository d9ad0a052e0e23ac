"""Encryption keys are rotated while the service runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken

from stoker.server.key_rotation import KeyRotation
from stoker.store.maintenance import reencryption
from stoker.store.maintenance.reencryption import PLACES
from stoker.store.opening import OpenStore
from stoker.store.schema import tables
from stoker.store.sql.databases import for_writing
from stoker.store.sql.encryption import ColumnCipher, key_of
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.keys import add_key, drop_earlier_keys, keys_in

A, B = Fernet.generate_key(), Fernet.generate_key()


@contextmanager
def opened(directory: Path, *passphrases: str) -> Iterator[OpenStore]:
    first, *earlier = passphrases or (None,)
    store = OpenStore(None, directory, first, [text for text in earlier if text])
    try:
        yield store
    finally:
        store.close()


def fill(store: OpenStore, rows: int) -> None:
    """Rows in every table that holds encrypted texts, as the cipher of the store writes them."""
    for place in PLACES:
        with for_writing(store._database).begin() as connection:
            for number in range(1, rows + 1):
                row: dict[str, Any] = {}
                for column in place.table.columns:
                    if column in place.columns:
                        row[column.key] = store._cipher.encrypt({"secret": f"{column}-{number}"})
                    elif isinstance(column.type, sa.Boolean):
                        row[column.key] = False
                    elif isinstance(column.type, sa.Float | sa.Integer):
                        row[column.key] = number
                    else:
                        row[column.key] = f"x{number:04}"
                connection.execute(place.table.insert(), row)


def values(store: OpenStore) -> list[Any]:
    with store._database.connect() as connection:
        return [
            store._cipher.decrypt(text)
            for place in PLACES
            for row in connection.execute(sa.select(*place.columns).order_by(place.key))
            for text in row
        ]


def test_texts_name_the_key_that_has_encrypted_them() -> None:
    old, both = ColumnCipher(A), ColumnCipher(B, A)
    text = old.encrypt("x")
    assert key_of(text) == old.newest != both.newest
    assert both.decrypt(text) == "x"
    renewed = both.renewed(text)
    assert key_of(renewed) == both.newest
    assert ColumnCipher(B).decrypt(renewed) == "x"
    with pytest.raises(InvalidTag):
        ColumnCipher(B).decrypt(text)


def test_unknown_newer_key_is_read_from_key_file(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as here:
        add_key(tmp_path)
        newer = ColumnCipher(*keys_in(tmp_path))
        assert here._cipher.decrypt(newer.encrypt("x")) == "x"
        assert here._cipher.newest != newer.newest
        with pytest.raises(InvalidTag):
            here._cipher.decrypt(ColumnCipher(A).encrypt("x"))


def test_texts_of_earlier_releases_use_any_key() -> None:
    value = {"a": 1}
    unnamed = "aes:" + ColumnCipher(A).encrypt(value).partition(":")[2]
    fernet = Fernet(A).encrypt(b'{"a":1}').decode()
    for text in (unnamed, fernet):
        assert key_of(text) == "unnamed"
        cipher = ColumnCipher(B, A)
        assert cipher.decrypt(text) == value
        assert ColumnCipher(B).decrypt(cipher.renewed(text)) == value
        with pytest.raises((InvalidTag, InvalidToken)):
            ColumnCipher(B).decrypt(text)


def test_reencryption_covers_all_encrypted_columns() -> None:
    named = {str(column) for place in PLACES for column in place.columns}
    marked = {
        str(column)
        for table in tables.metadata.sorted_tables
        for column in table.columns
        if column.comment == "encrypted"
        or ("encrypted" in (table.comment or "").split("; ")[-1:] and column.name == "body")
    }
    assert named == marked


async def test_reencryption_finishes_in_steps_and_frees_keys(
    tmp_path: Path,
) -> None:
    rows = reencryption.ROWS_AT_ONCE + 3
    with opened(tmp_path) as store:
        fill(store, rows)
        before = values(store)
        old = store.reencryption.newest
        add_key(tmp_path)
        store.renew_keys(None)
        assert values(store) == before
        new = store.reencryption.newest
        assert set(await store.reencryption.left()) == {old}
        steps = 0
        while await store.reencryption.step():
            steps += 1
        assert steps > len(PLACES)
        assert set(await store.reencryption.left()) == {new}
        assert values(store) == before
    assert drop_earlier_keys(tmp_path) == 1
    with opened(tmp_path) as store:
        assert values(store) == before
        assert not await store.reencryption.step(), "it was noted that nothing is left"


async def test_crash_during_reencryption_loses_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 3)
        before = values(store)
    add_key(tmp_path)
    while True:  # every process lives for one bite only, of a pass that is one bite longer
        with opened(tmp_path) as store:
            for _ in range(len(PLACES) // 2):
                await store.reencryption.step()
            assert values(store) == before
            left = await store.reencryption.left()
        if len(left) == 2:
            break
    with opened(tmp_path) as store:
        while await store.reencryption.step():
            assert values(store) == before
        assert len(await store.reencryption.left()) == 1


async def test_reencryption_keeps_concurrent_writes(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 1)
        add_key(tmp_path)
        store.renew_keys(None)
        place = next(place for place in PLACES if place.table is tables.resources)
        changes, _ = store.reencryption._read_batch(place, None)
        newer = store._cipher.encrypt("newer")
        with for_writing(store._database).begin() as connection:
            connection.execute(tables.resources.update().values(data=newer))
        store.reencryption._write(place, changes, None)
        with store._database.connect() as connection:
            row = connection.execute(sa.select(tables.resources)).mappings().one()
        assert row["data"] == newer
        assert key_of(row["properties"]) == store.reencryption.newest


async def test_passphrases_and_key_file_can_be_exchanged(
    tmp_path: Path,
) -> None:
    with opened(tmp_path) as store:
        fill(store, 2)
        before = values(store)
    for passphrases in (("one",), ("two", "one")):
        with opened(tmp_path, *passphrases) as store:
            assert values(store) == before
            while await store.reencryption.step():
                pass
    with opened(tmp_path, "two") as store:
        assert values(store) == before
    earlier = OpenStore(None, tmp_path, None, ["two"])
    assert earlier.reencryption.newest == ColumnCipher(*keys_in(tmp_path)).newest
    assert values(earlier) == before
    earlier.close()


def test_keys_without_that_of_the_database_change_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, "right") as store:
        fill(store, 1)
        before = values(store)
        with pytest.raises(UnusableDatabaseError, match="no key that is named by now"):
            store.renew_keys("wrong")
        assert values(store) == before
        newest = store.reencryption.newest
    with opened(tmp_path, "right") as store:
        assert store.reencryption.newest == newest


class Pieces:
    """A store whose re-encryption needs several steps."""

    newest = "k"

    def __init__(self, steps: int) -> None:
        self.steps = steps

    async def step(self) -> bool:
        self.steps -= 1
        return self.steps > 0


async def test_service_repeats_reencryption_steps() -> None:
    pieces = Pieces(4)
    await KeyRotation(pieces).once()
    assert pieces.steps == 0

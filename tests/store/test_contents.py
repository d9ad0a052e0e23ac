"""Contents that inputs have in common: decoded once, shared while they are used."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Input
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace
from stoker.store.schema import tables
from stoker.store.sql import contents
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.store import SqlStore
from stoker.template.environment.environment import parse_environment

from .inline import InlineRunner

LARGE = "x" * (contents.RECENT_CHARACTERS + 1)


class CountingCipher(ColumnCipher):
    """Counts decryptions and encryptions of contents."""

    decrypted = 0

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        self.decrypted += 1
        return super().decrypt_content(text)


@pytest.fixture
def cipher() -> CountingCipher:
    return CountingCipher(Fernet.generate_key())


@pytest.fixture
def store(cipher: CountingCipher) -> SqlStore:
    return SqlStore(open_database("sqlite://"), cipher, InlineRunner())


def input_of(input_id: str, files: dict[str, str]) -> Input:
    template = {"description": "the same"}
    return Input(input_id, "s", template=template, text="text", environment={}, files=files)


@pytest.mark.parametrize("text", ["small", LARGE])
async def test_inputs_share_common_files(
    store: SqlStore, cipher: CountingCipher, text: str
) -> None:
    inputs = [input_of(f"i{n}", {"a.yaml": text}) for n in range(3)]
    for each in inputs:
        await store.commit(PublicChange("s", puts=(each,)))
    one, *others = [await store.input(each.id) for each in inputs]
    assert one == inputs[0]
    assert all(each.files is one.files for each in others)
    assert all(each.template is one.template for each in others)


async def test_large_files_are_released_with_the_last_input(
    store: SqlStore, cipher: CountingCipher
) -> None:
    await store.commit(PublicChange("s", puts=(input_of("i", {"a.yaml": LARGE}),)))
    held = await store.input("i")
    before = cipher.decrypted
    await store.input("i")
    assert cipher.decrypted == before
    del held
    gc.collect()
    await store.input("i")
    assert cipher.decrypted == before + 1


async def test_contents_read_are_written_back_unchanged(store: SqlStore) -> None:
    given = input_of("i", {"a.yaml": "small"})
    await store.commit(PublicChange("s", puts=(given,)))
    read = await store.input("i")
    await store.commit(PublicChange("s", puts=(replace(read, id="again"),)))
    assert await store.input("again") == replace(given, id="again")


async def test_contents_of_a_dropped_input_are_written_again() -> None:
    database = open_database("sqlite://")
    store = SqlStore(database, ColumnCipher(Fernet.generate_key()), InlineRunner())
    given = input_of("i", {"a.yaml": "small"})
    await store.commit(PublicChange("s", puts=(given,)))
    read = await store.input("i")
    with database.begin() as connection:
        connection.execute(tables.inputs.delete())
        connection.execute(tables.contents.delete())
    with pytest.raises(NotFoundError):
        await store.input("i")
    await store.commit(PublicChange("s", puts=(replace(read, id="again"),)))
    with database.begin() as connection:
        assert connection.execute(sa.select(sa.func.count(tables.contents.c.hash))).scalar() == 4
    fresh = SqlStore(database, store._cipher, InlineRunner())
    assert await fresh.input("again") == replace(given, id="again")


async def test_environments_share_their_large_sections(store: SqlStore) -> None:
    defaults = {f"p{n}": "x" for n in range(20)}
    for name in "ab":
        environment = {"parameter_defaults": dict(defaults), "parameters": {"own": name}}
        given = replace(input_of(name, {}), environment=environment)
        await store.commit(PublicChange("s", puts=(given,)))
    one, other = await store.input("a"), await store.input("b")
    assert one.environment != other.environment
    assert one.environment["parameter_defaults"] is other.environment["parameter_defaults"]
    assert one.environment["parameter_defaults"] == defaults
    parsed = [parse_environment(each.environment) for each in (one, other)]
    assert parsed[0].parameter_defaults is parsed[1].parameter_defaults

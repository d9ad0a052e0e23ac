"""A change that cannot be written fails without affecting others in its transaction."""

from __future__ import annotations

import asyncio

import pytest

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Action, Stack, Status
from stoker.kernel.errors import AlreadyExistsError
from stoker.kernel.values import replace
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.store import SqlStore
from tests.store.inline import InlineRunner

STACK = Stack("1", "project", "name", Action.CREATE, Status.IN_PROGRESS, "", 0.0, "input")


@pytest.fixture
def store() -> SqlStore:
    key = b"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    return SqlStore(open_database("sqlite://"), ColumnCipher(key), InlineRunner())


async def outcomes(store: SqlStore, *stacks: Stack) -> list[BaseException | None]:
    commits = [store.commit(PublicChange(stack.id, puts=(stack,))) for stack in stacks]
    return await asyncio.gather(*commits, return_exceptions=True)


async def test_one_of_two_equal_names_in_transaction_wins(store: SqlStore) -> None:
    first, second = await outcomes(store, STACK, replace(STACK, id="2"))
    assert first is None
    assert isinstance(second, AlreadyExistsError)
    assert await store.stack("1") is not None
    assert await store.stack("2") is None


async def test_refused_text_fails_its_own_change_only(store: SqlStore) -> None:
    bad = replace(STACK, id="2", name="other", reason="\ud800")
    first, second = await outcomes(store, STACK, bad)
    assert first is None
    assert isinstance(second, UnicodeError)
    assert await store.stack("1") is not None

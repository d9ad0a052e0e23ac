"""One engine owns a stack at a time; a former owner cannot write to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.simulation.world import Plain
from tests.store.inline import InlineRunner, Result

from stoker.engine.model.interfaces import (
    Change,
    FencedError,
    Observer,
    OwnerChange,
    PublicChange,
    StoreError,
)
from stoker.engine.model.records import Action, Operation, OperationStatus, Stack, Status
from stoker.kernel.errors import AlreadyExistsError
from stoker.kernel.values import replace
from stoker.store.sql.databases import open_database
from stoker.store.store import SqlStore

STACK = Stack("id", "project", "name", Action.CREATE, Status.IN_PROGRESS, "", 0.0, "input")


@pytest.fixture
async def store() -> SqlStore:
    store = SqlStore(open_database("sqlite://"), Plain(), InlineRunner())
    operation = Operation("operation", STACK.id, Action.CREATE, 0.0)
    await store.commit(PublicChange(STACK.id, puts=(STACK, operation)))
    return store


async def test_each_acquire_has_its_own_fencing_token(store: SqlStore) -> None:
    tokens = [(await store.acquire(STACK.id)).stack.fencing_token for _ in range(3)]
    assert tokens == sorted(set(tokens))


@pytest.mark.parametrize("off", [-1, 1])
async def test_only_the_newest_fencing_token_writes(store: SqlStore, off: int) -> None:
    await store.acquire(STACK.id)
    taken = (await store.acquire(STACK.id)).stack
    late = replace(taken, reason="late")
    with pytest.raises(FencedError):
        await store.commit(OwnerChange(STACK.id, taken.fencing_token + off, puts=(late,)))
    found = await store.stack(STACK.id)
    assert found is not None
    assert found.reason == ""
    await store.commit(
        OwnerChange(STACK.id, taken.fencing_token, puts=(replace(taken, reason="ours"),))
    )
    found = await store.stack(STACK.id)
    assert found is not None
    assert found.reason == "ours"


async def test_a_write_never_sets_the_fencing_token(store: SqlStore) -> None:
    taken = (await store.acquire(STACK.id)).stack
    await store.commit(
        OwnerChange(STACK.id, taken.fencing_token, puts=(replace(taken, fencing_token=0),))
    )
    found = await store.stack(STACK.id)
    assert found is not None
    assert found.fencing_token == taken.fencing_token


async def test_one_of_two_equal_names_in_transaction_wins(store: SqlStore) -> None:
    twins = [replace(STACK, id=id_, name="twin") for id_ in ("one", "other")]
    commits = [store.commit(PublicChange(twin.id, puts=(twin,))) for twin in twins]
    verdicts = await asyncio.gather(*commits, return_exceptions=True)
    assert sorted(type(verdict) for verdict in verdicts if verdict is not None) == [
        AlreadyExistsError
    ]
    assert None in verdicts


class Heard(Observer):
    """Records its notifications."""

    def __init__(self) -> None:
        self.changes: list[tuple[Change, bool]] = []

    def committed(self, change: Change, *, certain: bool) -> None:
        self.changes.append((change, certain))


class Doubtful(InlineRunner):
    """The connection breaks after each transaction."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        await super().write(transaction)
        raise StoreError("gone", passing=True)


async def test_observers_see_every_committed_change(
    store: SqlStore,
) -> None:
    heard = Heard()
    store.observe(heard)
    lost = OwnerChange(STACK.id, 7, puts=(STACK,))
    good = OwnerChange(STACK.id, (await store.acquire(STACK.id)).stack.fencing_token, puts=(STACK,))
    with pytest.raises(FencedError):
        await store.commit(lost)
    waiting = asyncio.ensure_future(store.commit(good))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await store.commit(good)
    assert heard.changes == [(good, True)] * 2


async def test_observers_hear_of_what_may_have_been_written() -> None:
    store, heard = SqlStore(open_database("sqlite://"), Plain(), Doubtful()), Heard()
    store.observe(heard)
    change = PublicChange(STACK.id, puts=(STACK,))
    with pytest.raises(StoreError):
        await store.commit(change)
    assert heard.changes == [(change, False)]


async def test_a_stack_at_rest_is_not_taken_over(store: SqlStore) -> None:
    taken = (await store.acquire(STACK.id)).stack
    assert taken is not None
    ended = Operation("operation", STACK.id, Action.CREATE, 0.0, OperationStatus.COMPLETE)
    await store.commit(OwnerChange(STACK.id, taken.fencing_token, puts=(ended,)))
    assert await store.acquire(STACK.id) is None
    assert await store.acquire("there is none") is None
    await store.commit(OwnerChange(STACK.id, taken.fencing_token, puts=(STACK,)))


async def test_stacks_acquired_together_have_own_tokens(store: SqlStore) -> None:
    operation = Operation("other", "other", Action.CREATE, 0.0)
    other = replace(STACK, id="other", name="other")
    await store.commit(PublicChange("other", puts=(other, operation)))
    ids = [STACK.id, "other", STACK.id, "none", STACK.id]
    taken = [each and each.stack for each in await asyncio.gather(*map(store.acquire, ids))]
    assert [stack and stack.id for stack in taken] == [*ids[:3], None, ids[4]]
    tokens = [stack.fencing_token for stack in taken if stack is not None and stack.id == STACK.id]
    assert len(set(tokens)) == 3

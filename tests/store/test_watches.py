"""Watches and measurements in every database that the store supports."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from msgspec import structs
from tests.store.test_contract import TwoProcesses, made

from stoker.engine.model.interfaces import Key, OwnerChange, PublicChange, TransactionReader
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.stack_records.watches import Watch, WatchDefinition, WatchMeasurement
from stoker.kernel.values import replace
from stoker.schema.watching import Measurement, WatchState
from stoker.store.schema.tables import MEASUREMENTS_KEPT


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(database_url)
    yield both
    both.close()


async def begun(stores: TwoProcesses, stack: Stack, **values: float) -> Watch:
    """A watch of a stack that this test has taken over."""
    watch = Watch(str(uuid4()), stack.id, "alarm", "names", "Löad", 1.5, 61.5)
    await keep(stores, stack, replace(watch, **values))
    return replace(watch, **values)


async def keep(stores: TwoProcesses, stack: Stack, watch: Watch) -> None:
    """Write the watch as the owner of the stack does when the resource was created or changed."""
    defined = WatchDefinition(**structs.asdict(watch))
    await stores.one.commit(OwnerChange(stack.id, stack.fencing_token, puts=(defined,)))


def measured(watch: Watch, measurement: Measurement) -> WatchMeasurement:
    return WatchMeasurement(**structs.asdict(measurement), resource_id=watch.resource_id)


async def judged(stores: TwoProcesses, watch: Watch) -> None:
    await stores.other.commit(PublicChange(watch.stack_id, puts=(watch,)))


async def test_watch_keeps_its_state_when_rule_changes(stores: TwoProcesses) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    watch = await begun(stores, stack)
    assert await stores.other.watches(stack.project_id) == [watch]
    alarm = replace(watch, state=WatchState.ALARM, reason="höt", changed_at=60.25, next_at=121.5)
    alarm = replace(alarm, acts=False)
    await judged(stores, alarm)
    assert await stores.one.watches(stack.project_id, "alarm") == [alarm]
    await keep(stores, stack, replace(watch, created_at=70.0, next_at=90.0))
    assert await stores.one.watches(stack.project_id) == [replace(alarm, next_at=90.0)]


async def test_due_watches_are_listed_longest_waiting_first(
    stores: TwoProcesses,
) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    late, later, _ = [await begun(stores, stack, next_at=at) for at in (-30.0, -20.0, 1e12)]
    assert await stores.other.due_watches(-10.0, 9) == [late, later]
    assert await stores.other.due_watches(-10.0, 1) == [late]
    assert await stores.other.next_watch_at() == -30.0
    for watch in (late, later):
        await judged(stores, replace(watch, next_at=1e12))


async def test_a_guard_sees_a_watch_as_it_is(stores: TwoProcesses) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    watch = await begun(stores, stack, next_at=1e12)
    seen: list[Watch | None] = []

    def guard(inside: TransactionReader) -> None:
        seen.extend([inside.watch(watch.resource_id), inside.watch("none")])

    await stores.other.commit(PublicChange(stack.id, guards=(guard,)))
    assert seen == [watch, None]


async def test_the_newest_measurements_are_kept(
    stores: TwoProcesses,
) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    watch = await begun(stores, stack, next_at=1e12)
    values = [Measurement(float(at), math.pi, "Count") for at in range(600)]
    for begin in range(0, MEASUREMENTS_KEPT + 600, 600):
        some = [measured(watch, replace(each, at=each.at + begin)) for each in values]
        await stores.one.commit(PublicChange(stack.id, some))
    found = await stores.other.measurements(watch.resource_id, 0.0)
    assert len(found) == MEASUREMENTS_KEPT
    assert found[-1] == Measurement(begin + 599.0, math.pi, "Count")
    assert len(await stores.other.measurements(watch.resource_id, begin + 597.0)) == 3


@pytest.mark.parametrize("by_owner", [True, False])
async def test_watch_is_deleted_with_its_measurements(stores: TwoProcesses, by_owner: bool) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    watch = await begun(stores, stack, next_at=1e12)
    await stores.one.commit(PublicChange(stack.id, puts=(measured(watch, Measurement(1.0, 2.0)),)))
    if by_owner:
        gone = OwnerChange(stack.id, stack.fencing_token, drops=(Key(Resource, watch.resource_id),))
        await stores.one.commit(gone)
    else:
        await stores.one.commit(PublicChange(stack.id, drops=(Key(Watch, watch.resource_id),)))
    assert await stores.other.watches(stack.project_id) == []
    assert await stores.other.measurements(watch.resource_id, 0.0) == []


async def test_project_sees_own_watches_and_its_users(stores: TwoProcesses) -> None:
    stack = (await stores.one.acquire((await made(stores.one)).id)).stack
    users = str(uuid4())
    with_users = replace(stack, user_project_id=users)
    await stores.one.commit(OwnerChange(stack.id, stack.fencing_token, puts=(with_users,)))
    watch = await begun(stores, stack, next_at=1e12)
    for project, found in ((stack.project_id, [watch]), (users, [watch]), (str(uuid4()), [])):
        assert await stores.other.watches(project) == found
        assert await stores.other.watches(project, metric=("names", "Löad")) == found
        assert await stores.other.watches(project, metric=("names", "x")) == []

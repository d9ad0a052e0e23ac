"""The purge of old rows, in every supported database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from tests.store.test_contract import (
    TwoProcesses,
    event_of,
    made,
    operation_on,
    resource_of,
    stack_in,
)
from tests.store.test_snapshots import part_of, snapshot_of

from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import Action, Input, OperationStatus, Stack, Status
from stoker.engine.model.requests import EventQuery
from stoker.kernel.values import replace

LONG_AGO, THEN, NOW = 1_000.0, 2_000.0, 3_000.0


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(database_url)
    yield both
    both.close()


async def recorded(stores: TwoProcesses, stack: Stack, files: dict[str, str]) -> Stack:
    """A stack with an input, a row and an event."""
    given = Input(str(uuid4()), stack.id, {"of": stack.id}, files=files)
    stack = replace(stack, input_id=given.id)
    await stores.one.commit(PublicChange(stack.id, puts=(stack, given, event_of(stack))))
    write = OwnerChange(stack.id, stack.fencing_token, puts=(resource_of(stack),))
    await stores.one.commit(write)
    return stack


def deleted(at: float) -> Stack:
    stack = stack_in(str(uuid4()))
    return replace(stack, action=Action.DELETE, status=Status.COMPLETE, deleted_at=at)


async def purged(stores: TwoProcesses, before: float) -> None:
    while await stores.one.purge_stacks(before):
        pass


async def test_deleted_stack_is_purged_with_all_its_rows(
    stores: TwoProcesses,
) -> None:
    shared = {"child.yaml": f"shared by {uuid4()}"}
    old = await recorded(stores, deleted(LONG_AGO), shared)
    recent = await recorded(stores, deleted(NOW), shared)
    live = await recorded(stores, stack_in(str(uuid4())), shared)
    await purged(stores, THEN)
    assert await stores.other.stack(old.id) is None
    assert not await stores.other.resources(old.id)
    assert not await stores.other.events([old.id], EventQuery())
    with pytest.raises(Exception, match=old.input_id):
        await stores.other.input(old.input_id)
    for kept in (recent, live):
        assert await stores.other.stack(kept.id) is not None
        assert len(await stores.other.resources(kept.id)) == 1
        assert len(await stores.other.events([kept.id], EventQuery())) == 1
        assert (await stores.other.input(kept.input_id)).files == shared


async def test_many_stacks_are_purged_in_bites(stores: TwoProcesses) -> None:
    gone = [deleted(LONG_AGO) for _ in range(25)]
    for stack in gone:
        await stores.one.commit(PublicChange(stack.id, puts=(stack,)))
    counts = []
    while count := await stores.one.purge_stacks(THEN):
        counts.append(count)
    assert max(counts) < len(gone)
    assert [await stores.other.stack(stack.id) for stack in gone] == [None] * len(gone)


async def test_nested_stack_needed_by_snapshot_is_kept(
    stores: TwoProcesses,
) -> None:
    root = await made(stores.one)
    nested = replace(deleted(LONG_AGO), project_id=root.project_id, parent_id=root.id)
    snapshot = snapshot_of(root)
    part = replace(part_of(snapshot, "group"), nested_id=nested.id)
    await stores.one.commit(PublicChange(nested.id, puts=(nested,)))
    await stores.one.commit(PublicChange(root.id, puts=(snapshot,)))
    taken = (await stores.one.acquire(root.id)).stack
    await stores.one.commit(OwnerChange(root.id, taken.fencing_token, puts=(part,)))
    await purged(stores, THEN)
    assert await stores.other.stack(nested.id) is not None


async def test_purge_keeps_operations_in_progress(
    stores: TwoProcesses,
) -> None:
    stack = stack_in(str(uuid4()))
    above = replace(operation_on(stack), created_at=LONG_AGO)
    below = replace(operation_on(stack), created_at=LONG_AGO, parent_operation=above.id)
    over, cancelled, fresh = (
        replace(operation_on(stack), created_at=at, status=OperationStatus.COMPLETE, plan=None)
        for at in (LONG_AGO, LONG_AGO, NOW)
    )
    above = replace(above, status=OperationStatus.COMPLETE, plan=None)
    cancel = replace(operation_on(stack), created_at=NOW, cancels=cancelled.id)
    events = [replace(event_of(stack, reason), time=at) for reason, at in (("a", 1), ("b", NOW))]
    operations = (above, below, over, cancelled, fresh, cancel)
    await stores.one.commit(PublicChange(stack.id, puts=(stack, *operations, *events)))
    while await stores.one.purge_history(THEN):
        pass
    left = [each for each in operations if await stores.other.operation(each.id) is not None]
    assert left == [above, below, cancelled, fresh, cancel]
    assert [e.reason for e in await stores.other.events([stack.id], EventQuery())] == ["b"]


async def test_event_of_a_waiting_hook_stays(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    reason = "CREATE paused until Hook pre-create is cleared"
    waiting, gone = replace(resource_of(stack), hook={"at": "pre-create"}), str(uuid4())
    events = [
        replace(event_of(stack, reason), time=1, resource_id=each) for each in (waiting.id, gone)
    ]
    taken = (await stores.one.acquire(stack.id)).stack
    change = OwnerChange(stack.id, taken.fencing_token, puts=(waiting, *events))
    await stores.one.commit(change)
    while await stores.one.purge_history(THEN):
        pass
    left = await stores.other.events([stack.id], EventQuery())
    assert [event.resource_id for event in left] == [waiting.id]

"""Snapshots in every database that the store supports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
import sqlalchemy as sa
from tests.store.test_contract import TwoProcesses, made

from stoker.engine.model.interfaces import (
    FencedError,
    Key,
    OwnerChange,
    PublicChange,
    TransactionReader,
)
from stoker.engine.model.records import Input, Stack, Status
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.kernel.values import replace
from stoker.store.schema import tables


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(database_url)
    yield both
    both.close()


def snapshot_of(stack: Stack, input_id: str = "input") -> Snapshot:
    state = {"action": "CREATE", "status": "COMPLETE", "tags": ["a"]}
    return Snapshot(str(uuid4()), stack.id, 4.0, input_id, "op", "näme", stack_state=state)


def part_of(snapshot: Snapshot, *path: str) -> SnapshotPart:
    return SnapshotPart(
        str(uuid4()),
        snapshot.id,
        path,
        f"{path[-1]}-token",
        "row",
        "Sim::Disk",
        "Sim::Disk",
        physical_id="object",
        metadata={"m": [1]},
        data={"password": "secret"},
    )


async def test_snapshots_and_parts_round_trip(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    first, second = snapshot_of(stack), replace(snapshot_of(stack), name=None)
    await stores.one.commit(PublicChange(stack.id, puts=(first,)))
    await stores.one.commit(PublicChange(stack.id, puts=(second,)))
    parts = part_of(first, "b"), part_of(first, "a", "inner"), part_of(second, "a")
    write = OwnerChange(stack.id, taken.fencing_token, puts=parts)
    await stores.one.commit(write)
    assert await stores.other.snapshots(stack.id) == [first, second]
    assert await stores.other.snapshot(second.id) == second
    assert await stores.other.snapshot_parts(first.id) == [parts[1], parts[0]]
    done = replace(parts[0], complete=True, data={"image": "i"})
    ended = replace(first, status=Status.COMPLETE, reason="done")
    write = replace(write, puts=(done, ended))
    await stores.one.commit(write)
    assert await stores.other.snapshot(first.id) == ended
    assert (await stores.other.snapshot_parts(first.id))[1] == done


async def test_drop_removes_only_the_given_snapshot(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    gone, stays = snapshot_of(stack), snapshot_of(stack)
    await stores.one.commit(PublicChange(stack.id, puts=(gone, stays)))
    parts = part_of(gone, "a"), part_of(stays, "a")
    write = OwnerChange(stack.id, taken.fencing_token, puts=parts)
    await stores.one.commit(write)
    dropped = OwnerChange(
        stack.id,
        taken.fencing_token,
        drops=(Key(Snapshot, gone.id), Key(SnapshotPart, parts[0].id)),
    )
    await stores.one.commit(dropped)
    assert await stores.other.snapshots(stack.id) == [stays]
    assert await stores.other.snapshot_parts(gone.id) == []
    assert await stores.other.snapshot_parts(stays.id) == [parts[1]]


async def test_former_owner_writes_no_snapshot(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    await stores.other.acquire(stack.id)
    snapshot = snapshot_of(stack)
    write = OwnerChange(stack.id, taken.fencing_token, puts=(snapshot,))
    with pytest.raises(FencedError):
        await stores.one.commit(write)
    assert await stores.other.snapshot(snapshot.id) is None


async def test_guard_counts_earlier_snapshots(
    stores: TwoProcesses,
) -> None:
    stack = await made(stores.one)
    seen = []

    def guard(inside: TransactionReader) -> None:
        seen.append((inside.count_snapshots(stack.id), inside.has_snapshot(first.id)))

    first = snapshot_of(stack)
    await stores.one.commit(PublicChange(stack.id, puts=(first,), guards=(guard,)))
    await stores.one.commit(PublicChange(stack.id, puts=(snapshot_of(stack),), guards=(guard,)))
    assert seen == [(0, False), (1, True)]


async def test_tidying_keeps_what_a_snapshot_starts_from(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    inputs = tuple(Input(str(uuid4()), stack.id, {"kept": n}) for n in range(2))
    snapshot = snapshot_of(stack, inputs[0].id)
    await stores.one.commit(PublicChange(stack.id, puts=(*inputs, snapshot)))
    await stores.one.tidy(stack.id, 100)
    assert await stores.other.input(inputs[0].id) == inputs[0]
    engine = stores.one._engine
    with engine.connect() as connection:
        known = set(connection.execute(sa.select(tables.inputs.c.id)).scalars())
    assert inputs[1].id not in known


async def test_data_of_resources_are_encrypted(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    part = part_of(snapshot_of(stack), "a")
    await stores.one.commit(OwnerChange(stack.id, taken.fencing_token, puts=(part,)))
    with stores.one._engine.connect() as connection:
        row = connection.execute(
            sa.select(tables.snapshot_parts).where(tables.snapshot_parts.c.id == part.id)
        ).one()
    assert "secret" not in str(row)


async def test_parts_of_nested_stack_are_found(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    snapshot = snapshot_of(stack)
    inside = [
        part_of(snapshot, 'a"é%', "b"),
        part_of(snapshot, 'a"é%', "c", "d"),
        part_of(snapshot, 'a"é%', "c"),
    ]
    outside = [
        part_of(snapshot, 'a"é%'),
        part_of(snapshot, 'a"é%x', "b"),
        part_of(snapshot, 'a"éy', "b"),
        part_of(snapshot, "other", 'a"é%', "b"),
    ]
    await stores.one.commit(PublicChange(stack.id, [snapshot]))
    parts = [*inside, *outside]
    await stores.one.commit(OwnerChange(stack.id, taken.fencing_token, parts))
    found = await stores.other.snapshot_parts(snapshot.id, ['a"é%'])
    assert found == sorted(inside, key=lambda part: part.path)
    assert await stores.other.snapshot_parts(snapshot.id, ['a"é%', "c"]) == [inside[1]]
    assert await stores.other.snapshot_parts(snapshot.id, ["b"]) == []

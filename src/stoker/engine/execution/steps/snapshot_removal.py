"""Removes snapshots: the objects in the cloud, then the record of the snapshot.

The record of a part is deleted as soon as its object is, so that an engine which continues after a
crash repeats little. Parts without an object are deleted with the snapshot. A snapshot that cannot
be removed completely stays, with the status FAILED.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.interfaces import Key
from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.model.stack_records.snapshots import Snapshot, SnapshotPart
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Failed,
    ManagedType,
    SnapshotFacts,
    Snapshots,
    Wait,
    can,
)


async def drop_snapshots(
    session: Session, snapshots: Sequence[Snapshot], waiting: Waiting
) -> str | None:
    """Remove snapshots of the stack. Return why one of them cannot be removed, or None.

    Raises :class:`StoppedError`.
    """
    for snapshot in snapshots:
        parts = await session.ports.store.snapshot_parts(snapshot.id)
        with waiting.resting:
            results = await asyncio.gather(
                *(
                    _drop_part(session, part, work, waiting)
                    for part in parts
                    if (work := _removal_of(session, part)) is not None
                )
            )
        reasons = [reason for reason in results if reason is not None]
        if reasons:
            reason = f"the snapshot {snapshot.id} is not deleted: {reasons[0]}"
            failed = replace(snapshot, status=Status.FAILED, reason=session.masking.text(reason))
            await session.record([failed])
            return reason
        await session.record(drops=_keys_of(snapshot, parts))
    return None


async def forget_snapshots(session: Session, snapshots: Sequence[Snapshot]) -> None:
    """Drop the records of snapshots. Their objects stay in the cloud."""
    for snapshot in snapshots:
        parts = await session.ports.store.snapshot_parts(snapshot.id)
        await session.record(drops=_keys_of(snapshot, parts))


def _keys_of(snapshot: Snapshot, parts: Sequence[SnapshotPart]) -> list[Key[Any]]:
    return [*(Key(SnapshotPart, part.id) for part in parts), Key(Snapshot, snapshot.id)]


def _removal_of(session: Session, part: SnapshotPart) -> TypeCall | None:
    """Return the call that removes the object of a part; None if there is no object."""
    type_ = session.ports.types.find(part.implementation)
    if (
        part.nested_id is not None
        or not isinstance(type_, ManagedType)
        or not can(type_, Snapshots)
    ):
        return None
    landing = session.ports.limits.landing if part.asked else 0.0
    facts = SnapshotFacts(part.object_name, session.ports.clock.now() + landing)
    return TypeCall(type_, type_.delete_snapshot, properties={}, snapshot=facts)


async def _drop_part(
    session: Session, part: SnapshotPart, work: TypeCall, waiting: Waiting
) -> str | None:
    """Remove the part of a snapshot for one resource. Return the reason of a failure, or None."""
    with waiting.step:
        return await _dropped(session, part, work, waiting)


async def _dropped(
    session: Session, part: SnapshotPart, work: TypeCall, waiting: Waiting
) -> str | None:
    caller = TypeCaller(session, waiting, _row_of(session, part))
    try:
        while True:
            seen = waiting.round
            outcome = await caller.ask(work)
            if isinstance(outcome, Failed):
                return f"{'.'.join(part.path)}: {outcome.reason}"
            if not isinstance(outcome, Wait):
                break
            await waiting.wait(outcome, seen)
    except RequestError as refused:
        return f"{'.'.join(part.path)}: {refused.message}"
    await session.record(drops=[Key(SnapshotPart, part.id)])
    return None


def _row_of(session: Session, part: SnapshotPart) -> Resource:
    """Return the resource of a part; its row may have been deleted."""
    now = session.ports.clock.now()
    return Resource(
        id=part.row_id,
        stack_id=session.stack.id,
        name=part.path[-1],
        type_name=part.type_name,
        token="",
        created_at=now,
        updated_at=now,
        implementation=part.implementation,
        action=Action.DELETE,
        status=Status.COMPLETE,
        physical_id=part.physical_id,
        data=part.data,
    )

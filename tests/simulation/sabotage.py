"""Stores that break one durability rule each: with any of them the simulation must fail.

They wrap the store of an engine and keep less than a store promises. The names are the rules of the
design, shortened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.model.interfaces import FencedError, Store
from stoker.engine.model.records import Action, Event, Operation, Resource, Status, StoredSignal
from stoker.engine.model.storage.changes import (
    AnyRecord,
    Change,
    OwnerChange,
    PublicChange,
    records_of,
)
from stoker.kernel.values import replace


class _Around:
    """A store that lets everything through."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, change: Change) -> None:
        await self._store.commit(change)


class WithoutIntent(_Around):
    """Rule 1: the row does not say that a create has started until its result is there."""

    async def commit(self, change: Change) -> None:
        if isinstance(change, OwnerChange):
            gone = {row.id for row in records_of(change, Resource) if _is_intent(row)}
            puts = [
                record
                for record in change.puts
                if not (isinstance(record, Resource) and record.id in gone)
                and not (isinstance(record, Event) and record.resource_id in gone)
            ]
            change = replace(change, puts=puts)
        await self._store.commit(change)


def _is_intent(row: Resource) -> bool:
    begun = row.action is Action.CREATE and row.status is Status.IN_PROGRESS
    return begun and row.physical_id is None


class WithoutResult(_Around):
    """Rule 2: the physical id is not committed until the whole action is done."""

    async def commit(self, change: Change) -> None:
        if isinstance(change, OwnerChange):
            puts = [
                replace(record, physical_id=None)
                if isinstance(record, Resource)
                and (record.action, record.status) == (Action.CREATE, Status.IN_PROGRESS)
                else record
                for record in change.puts
            ]
            change = replace(change, puts=puts)
        await self._store.commit(change)


class WithoutToken(_Around):
    """Rule 3: a created object is not found again, because the token is not kept."""

    async def resources(self, stack_id: str) -> list[Resource]:
        rows = await self._store.resources(stack_id)
        return [replace(row, token=f"lost{row.token[4:]}") for row in rows]


class WithoutOwner(_Around):
    """Rule 4: a former owner continues to write."""

    async def commit(self, change: Change) -> None:
        try:
            await self._store.commit(change)
        except FencedError:
            stack = await self._store.stack(change.stack_id)
            assert stack is not None
            await self._store.commit(replace(change, fencing_token=stack.fencing_token))


class WithoutEvent(_Around):
    """Rule 5: state first, event afterwards."""

    async def commit(self, change: Change) -> None:
        await self._store.commit(_without(change, Event))
        await asyncio.sleep(0.01)
        await self._store.commit(PublicChange(change.stack_id, records_of(change, Event)))


class WithoutSignal(_Around):
    """Rule 6: a signal is acknowledged first and stored a little later."""

    async def commit(self, change: Change) -> None:
        signals = records_of(change, StoredSignal)
        if isinstance(change, OwnerChange) or not signals:
            await self._store.commit(change)
            return
        await self._store.commit(_without(change, StoredSignal))
        _later(self._store, PublicChange(change.stack_id, signals), 0.5)


class WithoutTimer(_Around):
    """Rule 7: deadlines live in memory only."""

    async def commit(self, change: Change) -> None:
        puts: Any = [
            replace(record, deadline=None) if isinstance(record, Operation) else record
            for record in change.puts
        ]
        await self._store.commit(replace(change, puts=puts))


class WithoutDurability(_Around):
    """Rule 8: a commit returns before its transaction has been written."""

    async def commit(self, change: Change) -> None:
        if isinstance(change, PublicChange):
            await self._store.commit(change)
        else:
            _later(self._store, change, 0.05)


def _without(change: Change, kind: type[AnyRecord]) -> Change:
    puts: Any = [record for record in change.puts if not isinstance(record, kind)]
    return replace(change, puts=puts)


_pending: set[asyncio.Task[None]] = set()


def _later(store: Store, change: Change, seconds: float) -> None:
    async def write() -> None:
        await asyncio.sleep(seconds)
        await store.commit(change)

    task = asyncio.ensure_future(write())
    _pending.add(task)


RULES: Mapping[str, Callable[[Store], Any]] = {
    "intent-first": WithoutIntent,
    "result-next": WithoutResult,
    "found-again": WithoutToken,
    "one-owner": WithoutOwner,
    "state-and-event": WithoutEvent,
    "signal-stored": WithoutSignal,
    "timers-are-rows": WithoutTimer,
    "group-commit": WithoutDurability,
}

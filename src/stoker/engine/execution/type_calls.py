"""Calls to resource types: on a worker thread, retried while a cloud refuses them for now.

Knows nothing of what an answer means for a row.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stoker.engine.execution.calls import handed_on, lookups_of, make_call, with_ids
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.orphaned_calls import Ended
from stoker.engine.model.records import Action, Resource, Status, evolve
from stoker.kernel.errors import Refused
from stoker.schema.resource_type import (
    Adopts,
    Call,
    Done,
    MakesStack,
    ManagedType,
    Outcome,
    ResourceType,
    Wait,
    can,
)

Method = Callable[[Call], Outcome]
_MAKING = (Action.CREATE, Action.UPDATE)
SHORT_PAUSE = 2.0
"""Pauses of so many seconds or less are not worth a word."""


@dataclass(frozen=True, slots=True)
class Work:
    """An action that is to be done: what is called, and with which properties."""

    type: ManagedType
    action: Action
    method: Method
    properties: Mapping[str, Any]
    previous: Mapping[str, Any]
    changed: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    """Attributes that somebody refers to: read once the object is there."""


class TypeCalls:
    """Calls methods of types for one session."""

    def __init__(self, session: Session, waiting: Waiting) -> None:
        self._session = session
        self._waiting = waiting

    async def ask(self, row: Resource, work: Work, method: Callable[[Call], Any]) -> Any:
        """The answer of one of the type's methods, which must be safe to repeat.

        Calls that the cloud turns away for now are repeated, after the time that it names or
        after pauses that grow, until the operation ends. Raises
        :class:`stoker.kernel.errors.Refused` when the cloud refuses for good.
        """
        attempt = 0
        while True:
            try:
                return await self.once(row, work, method)
            except Refused:
                raise
            except Exception as error:  # noqa: BLE001 - told apart where the pause is made
                if method == work.type.delete and self._session.ports.faults.is_not_found(error):
                    return Done()
                row = await self.pause(row, error, attempt)
                attempt += 1

    async def pause(self, row: Resource, error: Exception, attempt: int) -> Resource:
        """Wait until the call may be repeated; the row tells why where that takes long.

        Raises :class:`stoker.kernel.errors.Refused` when it never will be.
        """
        faults = self._session.ports.faults
        after = faults.retry_after(error, attempt)
        if after is None:
            raise Refused(faults.describe(error)) from error
        if after > SHORT_PAUSE:
            row = await self.tell(row, f"{faults.describe(error)}; it is tried again")
        await self._waiting.wait(Wait(after=after), self._waiting.round)
        return row

    async def tell(self, row: Resource, reason: str) -> Resource:
        """The row with what it waits for, in words; on record, so that it can be read."""
        if row.status is Status.IN_PROGRESS and row.reason != reason:
            row = evolve(row, reason=reason)
            await self._session.commit(resources=[row])
        return row

    async def once(
        self,
        row: Resource,
        work: Work,
        method: Callable[[Call], Any],
        admitted: Callable[[], Awaitable[None]] | None = None,
    ) -> Any:
        """The answer to one call; raises what it raises.

        ``admitted`` is awaited when the call may be made, and before it is.
        """
        left = self._session.ports.orphaned_calls.take(row.id)
        if left is not None:
            await self.end_of(left)
        call = make_call(
            self._session,
            row,
            work.type,
            properties=work.properties,
            previous=work.previous,
            changed=work.changed,
        )
        if work.action in _MAKING and can(work.type, MakesStack):
            call = replace(call, inherited=await handed_on(self._session, row))
        made = functools.partial(self._call, call, work.type, method)
        return await self._run(row, work.type.service, made, admitted)

    async def end_of(self, left: Ended) -> float | None:
        """Wait for a call that was left behind, as long as it may do something.

        Returns the seconds within which its request may still be done; None when nobody knows.
        """
        if not left.cancelled():
            landing = self._session.ports.limits.landing
            await asyncio.wait([asyncio.wrap_future(left)], timeout=landing)
        return left.result() if left.done() and not left.cancelled() else None

    async def _run(
        self,
        row: Resource,
        service: str | None,
        call: Callable[[], Any],
        admitted: Callable[[], Awaitable[None]] | None,
    ) -> Any:
        """What the call returns. One that goes on after the caller was cancelled is remembered."""
        ended = Ended()
        faults = self._session.ports.faults

        def noted() -> Any:
            if not ended.set_running_or_notify_cancel():
                return None
            lands: float | None = None
            try:
                answer = call()
                lands = 0.0
            except Exception as error:
                lands = faults.lands_within(error)
                raise
            else:
                return answer
            finally:
                ended.set_result(lands)

        try:
            return await self._session.ports.workers.run(service, noted, admitted)
        except asyncio.CancelledError:
            if not ended.cancel():
                self._session.ports.orphaned_calls.remember(row.id, ended)
            raise

    def _call(self, call: Call, type_: ResourceType, method: Callable[[Call], Any]) -> Any:
        """Runs on a worker: names become ids, then the type is called."""
        ports, stack = self._session.ports, self._session.stack
        if type_.service is not None:
            call = replace(call, cloud=ports.clouds.connection(stack))
            looks = can(type_, Adopts) and method == type_.find
            if looks or call.action not in ("DELETE", "CHECK"):
                call = replace(call, properties=self._with_ids(type_, call.properties))
                if call.update.previous and call.action == "UPDATE":
                    previous = self._with_ids(type_, call.update.previous)
                    call = replace(call, update=replace(call.update, previous=previous))
        return method(call)

    def _with_ids(self, type_: ResourceType, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        lookups = lookups_of(type_, properties)
        if not lookups:
            return properties
        found = self._session.ports.clouds.lookup(self._session.stack, lookups)
        return with_ids(properties, lookups, dict(enumerate(found)))

"""Calls to resource types: the one way from the engine to a method of a type.

A call runs on a worker thread where it uses a service, and directly where it does not. Calls
of the engine that owns a stack wait for those that were orphaned, and are retried while a cloud
refuses them for now. Knows nothing of what an answer means for a row.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.build import (
    build_call,
    handed_on,
    resolved,
    resolved_where_known,
    with_software,
)
from stoker.engine.execution.calls.shared_parts import is_shared, shared_parts, sharers
from stoker.engine.execution.session import Session, StackRows, may_land_late
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.orphaned_calls import Ended
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import RequestError, is_final, machine_errors, require_machine
from stoker.kernel.log import Log
from stoker.kernel.tracing import span
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Adopts,
    Call,
    Done,
    MakesStack,
    ManagedType,
    ResourceType,
    Signal,
    SnapshotFacts,
    Wait,
    can,
)
from stoker.schema.resource_type.call import NO_SNAPSHOT

log = Log(__name__)

_MAKING = (Action.CREATE, Action.UPDATE)
_NO_IDS = (Action.DELETE, Action.CHECK, Action.SUSPEND, Action.RESUME, Action.SNAPSHOT)
_ABOUT_OBJECT = frozenset(("read", "check", "live"))
"""Methods that look at the object alone: they work though what it was made of is gone."""
_NEED_NO_IDS = _ABOUT_OBJECT | {"publish"}
_LOOKING = _ABOUT_OBJECT | {"find", "occupants", "declarers"}
"""Methods that change nothing: it does not matter when they are done."""
_SHARING = frozenset(("create", "update", "delete"))
"""Methods that add and remove parts which other resources may declare too."""
_REMOVING = frozenset(("delete", "delete_snapshot"))
"""Methods for which it is well that there is nothing."""
TRIED_AGAIN = "; it is tried again"
"""Ends the reason of a row whose call the cloud has turned away for now."""
SHORT_PAUSE = 2.0
"""Pauses of so many seconds or less are not worth a word."""


class TypeCall(Struct, frozen=True):
    """What is called, and with which properties."""

    type: ManagedType
    method: Callable[[Call], Any]
    properties: Mapping[str, Any]
    previous: Mapping[str, Any] | None = None
    changed: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    """Attributes that somebody refers to: read once the object is there."""
    snapshot: SnapshotFacts = NO_SNAPSHOT
    """That which the method takes or removes."""
    signal: Signal | None = None
    """That which the method reacts to."""

    @property
    def service(self) -> str | None:
        """The service that the method uses."""
        return self.type.service_for(self.properties)


Ask = Callable[[Resource, TypeCall], Awaitable[Any]]
"""Makes a call about a row, and returns the answer or raises."""


class TypeCaller:
    """Calls by the engine that owns the stack."""

    def __init__(self, session: Session, waiting: Waiting) -> None:
        self._session = session
        self._waiting = waiting

    async def ask(self, row: Resource, work: TypeCall) -> Any:
        """The answer of one of the type's methods, which must be safe to repeat.

        Calls that the cloud turns away for now are repeated, after the time that it names or
        after pauses that grow, until the operation ends. Raises
        :class:`stoker.kernel.errors.RequestError` when the cloud refuses for good.
        """
        attempt = 0
        while True:
            try:
                return await self.once(row, work)
            except ENDS_TURN:
                raise
            except Exception as error:
                if is_final(error):
                    raise
                faults = self._session.ports.faults
                if faults.is_not_found(error) and work.method.__name__ in _REMOVING:
                    return Done()
                if work.method.__name__ not in _LOOKING:
                    self._note_unanswered(row, faults.lands_within(error))
                row = await self.pause(row, error, attempt)
                attempt += 1

    async def until_accepted(self, row: Resource, tell: Callable[[], Awaitable[None]]) -> Resource:
        """The row once ``tell`` has succeeded, repeated as in :meth:`ask`."""
        attempt = 0
        while True:
            try:
                with machine_errors():
                    await tell()
            except ENDS_TURN:
                raise
            except Exception as error:
                if is_final(error):
                    raise
                row = await self.pause(row, error, attempt)
                attempt += 1
            else:
                return row

    async def pause(self, row: Resource, error: Exception, attempt: int) -> Resource:
        """Wait until the call may be repeated; the row tells why where that takes long.

        Raises :class:`stoker.kernel.errors.RequestError` when it never will be.
        """
        faults = self._session.ports.faults
        after = faults.retry_after(error, attempt)
        if after is None:
            raise RequestError(faults.describe(error)) from error
        if after > SHORT_PAUSE:
            row = await self.tell(row, faults.describe(error) + TRIED_AGAIN)
        await self._waiting.wait(Wait(after=after), self._waiting.round)
        return row

    async def tell(self, row: Resource, reason: str) -> Resource:
        """The row with what it waits for, in words; on record, so that it can be read."""
        if row.status is Status.IN_PROGRESS and row.reason != reason:
            row = replace(row, reason=reason)
            await self._session.commit(resources=[row])
        return row

    async def once(
        self,
        row: Resource,
        work: TypeCall,
        admitted: Callable[[], Awaitable[None]] | None = None,
    ) -> Any:
        """Return the answer to one call. Raises the errors of the call, and :class:`MachineError`.

        ``admitted`` is awaited when the call may be made, before it is sent. A call that continues
        after this was cancelled is remembered if it changes anything.
        """
        await self.end_of_orphan(row)
        try:
            return await self._made(row, work, admitted)
        except Exception as error:
            require_machine(error)
            raise

    async def _made(
        self, row: Resource, work: TypeCall, admitted: Callable[[], Awaitable[None]] | None
    ) -> Any:
        call = await bound_call(self._session, row, self._with_landing(row, work))
        service = work.service
        if service is None:
            return call()
        ports, ended = self._session.ports, Ended()

        def noted() -> Any:
            ports.lease.require()
            answer, lands = None, None
            if ended.set_running_or_notify_cancel():
                try:
                    answer, lands = call(), 0.0
                except Exception as error:
                    lands = ports.faults.lands_within(error)
                    raise
                finally:
                    ended.set_result(lands)
            return answer

        name = f"{work.method.__name__} {row.type_name}"
        try:
            with span(name, resource=row.name):
                return await ports.workers.run(service, noted, admitted)
        except asyncio.CancelledError:
            if not ended.cancel() and work.method.__name__ not in _LOOKING:
                ports.orphaned_calls.remember(row.id, ended)
            raise
        except Exception:
            # A call for which no thread could be started waits in the queue of the threads.
            if not ended.done() and not ended.cancel():
                ports.orphaned_calls.remember(row.id, ended)
            raise

    async def end_of_orphan(self, row: Resource) -> float | None:
        """Wait for an orphaned call about the row, as long as it may do something.

        Returns the seconds within which its request may still be done; None when nobody knows.
        """
        ports = self._session.ports
        left = ports.orphaned_calls.take(row.id)
        if left is None:
            return None
        if not left.cancelled():
            try:
                await asyncio.wait([asyncio.wrap_future(left)], timeout=ports.limits.landing)
            except asyncio.CancelledError:
                ports.orphaned_calls.remember(row.id, left)
                raise
        lands = left.result() if left.done() and not left.cancelled() else None
        self._note_unanswered(row, lands or 0.0)
        return lands

    def _with_landing(self, row: Resource, work: TypeCall) -> TypeCall:
        """The work of a snapshot, with the time until which an earlier request may be done."""
        limits, sent = self._session.ports.limits, self._session.unanswered.get(row.id)
        if not work.snapshot.name or sent is None or sent < limits.cloud_since:
            return work
        until = max(work.snapshot.lands_until, sent + limits.landing)
        return replace(work, snapshot=replace(work.snapshot, lands_until=until))

    def _note_unanswered(self, row: Resource, lands: float) -> None:
        """A change has ended without an answer: it may still be done within those seconds."""
        if lands > 0 and may_land_late(row):
            ports = self._session.ports
            sent = ports.clock.now() + lands - ports.limits.landing
            self._session.unanswered[row.id] = sent


async def remove_user(session: Session, row: Resource, type_: ResourceType) -> None:
    """Remove the stack user of a row whose object stays; the row goes in any case."""
    call, ports = build_call(session, row, type_), session.ports

    def remove() -> None:
        if call.signalling is not None:
            call.signalling.delete_user(call)

    try:
        await ports.workers.run("identity", remove)
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - whatever Keystone says, the resource goes
        log.warning("stack user left behind", resource=row.name, error=str(error))


async def bound_call(stack_rows: StackRows, row: Resource, work: TypeCall) -> Callable[[], Any]:
    """The call with all that it needs; run on a worker if it uses a service."""
    type_, method = work.type, work.method
    call = build_call(
        stack_rows,
        row,
        type_,
        properties=work.properties,
        previous=work.previous,
        changed=work.changed,
        snapshot=work.snapshot,
        signal=work.signal,
    )
    if row.action in _MAKING and can(type_, MakesStack):
        call = replace(call, inherited=await handed_on(stack_rows, row))
    if type_.names_software or type_.keeps_software:
        call = await with_software(stack_rows, row, type_, call)
    if work.service is None:
        return lambda: method(call)
    ports, stack = stack_rows.ports, stack_rows.stack
    others = sharers(stack_rows, row, type_) if method.__name__ in _SHARING else ()
    if type_.shares and method.__name__ == "update":
        stack_rows.targets[row.id] = work.properties

    def connected() -> Any:
        made = replace(call, cloud=ports.clouds.connection(stack))
        looks = can(type_, Adopts) and method == type_.find
        if looks or not (row.action in _NO_IDS or method.__name__ in _NEED_NO_IDS):
            made = replace(made, properties=resolved(stack_rows, type_, made.properties))
            if made.update.previous and row.action is Action.UPDATE:
                previous = resolved_where_known(stack_rows, type_, made.update.previous)
                made = replace(made, update=replace(made.update, previous=previous))
        elif method.__name__ == "delete":
            # What the object was made of may be gone, or have another name.
            known = resolved_where_known(stack_rows, type_, made.properties)
            made = replace(made, properties=known)
        if others:
            made = replace(made, shared=shared_parts(stack_rows, others, made))
            if method.__name__ == "delete" and is_shared(type_, made):
                return Done()
        return method(made)

    return connected

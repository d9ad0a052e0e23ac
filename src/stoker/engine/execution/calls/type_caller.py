"""Calls methods of resource types: the only way from the engine to a type.

In: the row of a resource, and a :class:`TypeCall` that names a method of its type. Out: the answer
of the method. A call runs on a worker thread if its type uses a service, and directly otherwise.

A :class:`TypeCaller` works for the engine that owns the stack. Its calls first wait for orphaned
calls about the same row, and are retried while the cloud rejects them temporarily. Its row is the
newest one: every change is made to it before it is committed. The meaning of an answer for the row
is decided by :mod:`resource_run`, which extends this class. Tested by tests/recovery.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.build import (
    build_call,
    handed_on,
    resolved,
    resolved_where_known,
    with_software,
)
from stoker.engine.execution.calls.shared_parts import SharedParts, is_shared
from stoker.engine.execution.session import Session, StackRows, may_land_late
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.clouds import RunCall
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.orphaned_calls import Ended
from stoker.engine.model.records import Action, Event, Resource, Status
from stoker.kernel.errors import RequestError, is_final, machine_errors
from stoker.kernel.logs.log import Log
from stoker.kernel.logs.tracing import span
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Done,
    Failed,
    MakesStack,
    ManagedType,
    ResourceType,
    Signal,
    SnapshotFacts,
    can,
)
from stoker.schema.resource_type.call import NO_SNAPSHOT

log = Log(__name__)

_MAKING = (Action.CREATE, Action.UPDATE)
_NO_IDS = (Action.DELETE, Action.CHECK, Action.SUSPEND, Action.RESUME, Action.SNAPSHOT)
# Methods that only read the object: they work even if objects in its properties are deleted.
_ABOUT_OBJECT = frozenset(("read", "check", "live"))
_NEED_NO_IDS = _ABOUT_OBJECT | {"publish"}
# Methods that change nothing: a request that takes effect late does no harm.
_READING = _ABOUT_OBJECT | {"find", "occupants", "declarers"}
# Methods that add and remove parts which other resources may declare too.
_SHARING = frozenset(("create", "update", "delete"))
# Methods that succeed if there is no object.
_REMOVING = frozenset(("delete", "delete_snapshot"))
TRIED_AGAIN = "; it is tried again"  # ends the reason of a row whose call is repeated later
_LONGEST_SILENT_PAUSE_SECONDS = 2.0  # longer pauses are shown in the reason of the row


class TypeCall(Struct, frozen=True):
    """A method of a type, and the values of its :class:`Call`."""

    type: ManagedType
    method: Callable[[Call], Any]
    properties: Mapping[str, Any]
    previous: Mapping[str, Any] | None = None
    changed: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()  # that the template refers to: read after a create
    snapshot: SnapshotFacts = NO_SNAPSHOT  # that the method takes or removes
    signal: Signal | None = None  # that the method reacts to
    lets_others_start: bool = False  # before its action has ended, if the type permits it

    @property
    def service(self) -> str | None:
        """Return the service that the method uses."""
        return self.type.service_for(self.properties)


# Sends a call about a row, and returns the answer or raises.
Ask = Callable[[Resource, TypeCall], Awaitable[Any]]


class TypeCaller:
    """Calls the type of one resource, whose row it holds."""

    __slots__ = ("row", "session", "waiting")

    def __init__(self, session: Session, waiting: Waiting, row: Resource) -> None:
        self.session = session
        self.waiting = waiting
        self.row = row

    async def record(self, *events: Event, **changes: Any) -> None:
        """Change columns of the row, and commit it with the events."""
        if changes:
            self.row = replace(self.row, **changes)
        await self.session.commit(resources=[self.row], events=events)

    async def ask(self, work: TypeCall) -> Any:
        """Return the answer of one of the type's methods, which must be safe to repeat.

        Calls that the cloud rejects temporarily are repeated, after the time that it names or after
        growing pauses, until the operation ends. Raises :class:`stoker.kernel.errors.RequestError`
        when the cloud finally rejects the call.
        """
        attempt, reason = 0, self.row.reason
        while True:
            try:
                answer = await self.once(work)
            except ENDS_TURN:
                raise
            except Exception as error:
                if is_final(error):
                    raise
                faults = self.session.ports.faults
                if faults.is_not_found(error) and work.method.__name__ in _REMOVING:
                    answer = Done()
                else:
                    if work.method.__name__ not in _READING:
                        self._note_unanswered(faults.lands_within(error))
                    await self.pause(error, attempt)
                    attempt += 1
                    continue
            if attempt:
                self.row = replace(self.row, reason=reason)
            return answer

    async def until_accepted(self, publish: Callable[[], Awaitable[None]]) -> None:
        """Call ``publish`` until it succeeds, repeated as in :meth:`ask`."""
        attempt, reason = 0, self.row.reason
        while True:
            try:
                with machine_errors():
                    await publish()
            except ENDS_TURN:
                raise
            except Exception as error:
                if is_final(error):
                    raise
                await self.pause(error, attempt)
                attempt += 1
            else:
                if attempt:
                    self.row = replace(self.row, reason=reason)
                return

    async def settle(self, work: TypeCall) -> None:
        """Call a method that belongs to no action until it is done; the row keeps its status.

        Raises :class:`stoker.kernel.errors.RequestError` if it fails.
        """
        while True:
            seen = self.waiting.round
            outcome = await self.ask(work)
            if isinstance(outcome, Failed):
                raise RequestError(outcome.reason)
            updated = with_answer(self.row, outcome.physical_id, outcome.attributes, outcome.data)
            if updated != self.row:
                self.row = updated
                await self.record()
            if isinstance(outcome, Done):
                return
            await self.waiting.wait(outcome, seen)

    async def pause(self, error: Exception, attempt: int) -> None:
        """Wait until the call may be repeated; a long pause is shown in the row.

        Raises :class:`stoker.kernel.errors.RequestError` if it must not be repeated.
        """
        faults = self.session.ports.faults
        after = faults.retry_after(error, attempt)
        if after is None:
            raise RequestError(faults.describe(error)) from error
        if after > _LONGEST_SILENT_PAUSE_SECONDS:
            await self.show(faults.describe(error) + TRIED_AGAIN)
        await self.waiting.sleep(after)

    async def show(self, reason: str) -> None:
        """Commit why the action in progress waits, for users to read."""
        if self.row.status is Status.IN_PROGRESS and self.row.reason != reason:
            await self.record(reason=reason)

    async def once(self, work: TypeCall) -> Any:
        """Return the answer to one call. Raises the errors of the call, and :class:`MachineError`.

        A call that continues after this was cancelled is remembered if it changes anything.
        """
        with machine_errors():
            call = await self.prepared(work)
            service = work.service
            if service is None:
                return call()
            return await self.send(work, call, partial(self.session.ports.workers.run, service))

    async def prepared(self, work: TypeCall) -> Callable[[], Any]:
        """Return the call with everything that it needs, after orphaned calls have ended."""
        await self.end_of_orphan()
        if work.snapshot.name:
            work = self._with_landing(work)
        return await bound_call(self.session, self.row, work)

    async def send(
        self,
        work: TypeCall,
        call: Callable[[], Any],
        run: RunCall,
    ) -> Any:
        """Return the answer to a prepared call, which ``run`` sends on a thread."""
        ports, row, ended = self.session.ports, self.row, Ended()

        def leased_call() -> Any:
            # The call may have waited for a thread for so long that another engine owns the stack.
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

        try:
            with span(f"{work.method.__name__} {row.type_name}", resource=row.name):
                return await run(leased_call)
        except asyncio.CancelledError:
            if not ended.cancel() and work.method.__name__ not in _READING:
                ports.orphaned_calls.remember(row.id, ended)
            raise
        except Exception:
            # A call for which no thread could be started waits in the queue of the threads.
            if not ended.done() and not ended.cancel():
                ports.orphaned_calls.remember(row.id, ended)
            raise

    async def end_of_orphan(self) -> float | None:
        """Wait for an orphaned call about the row, as long as it may have an effect.

        Returns the seconds within which its request may still take effect; None if unknown.
        """
        row, ports = self.row, self.session.ports
        left = ports.orphaned_calls.pop(row.id)
        if left is None:
            return None
        if not left.cancelled():
            try:
                await asyncio.wait([asyncio.wrap_future(left)], timeout=ports.limits.landing)
            except asyncio.CancelledError:
                ports.orphaned_calls.remember(row.id, left)
                raise
        lands = left.result() if left.done() and not left.cancelled() else None
        self._note_unanswered(lands or 0.0)
        return lands

    def _with_landing(self, work: TypeCall) -> TypeCall:
        """Return the call about a snapshot, with the end of the effect of an earlier request."""
        limits, sent = self.session.ports.limits, self.session.unanswered.get(self.row.id)
        if sent is None or sent < limits.cloud_since:
            return work
        until = max(work.snapshot.lands_until, sent + limits.landing)
        return replace(work, snapshot=replace(work.snapshot, lands_until=until))

    def _note_unanswered(self, lands: float) -> None:
        """Note a change without an answer, which may take effect within ``lands`` seconds."""
        if lands > 0 and may_land_late(self.row):
            ports = self.session.ports
            sent = ports.clock.now() + lands - ports.limits.landing
            self.session.unanswered[self.row.id] = sent


def with_answer(
    row: Resource,
    physical_id: str | None,
    attributes: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    progress: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Resource:
    """Return the row with the values that an answer names, and with other changes."""
    if physical_id is not None:
        changes["physical_id"] = physical_id
    if attributes is not None:
        changes["attributes"] = {**row.attributes, **attributes}
    if data is not None:
        changes["data"] = dict(data)
    if progress is not None and dict(progress) != dict(row.progress):
        changes["progress"] = dict(progress)
    return replace(row, **changes) if changes else row


async def remove_user(session: Session, row: Resource, type_: ResourceType) -> None:
    """Remove the stack user of a row whose object stays; the row is removed in any case."""
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
    """Return the call with everything that it needs, to be run on a worker if it uses a service."""
    type_, method = work.type, work.method
    call = build_call(
        stack_rows,
        row,
        type_,
        properties=work.properties,
        previous=work.previous,
        changed=work.changed,
    )
    if work.snapshot.name or work.signal is not None:
        call = replace(call, snapshot=work.snapshot, signal=work.signal)
    if row.action in _MAKING and can(type_, MakesStack):
        call = replace(call, inherited=await handed_on(stack_rows, row))
    if type_.names_software or type_.keeps_software:
        call = await with_software(stack_rows, row, type_, call)
    if work.service is None:
        return lambda: method(call)
    ports, stack = stack_rows.ports, stack_rows.stack
    if type_.shares and method.__name__ == "update":
        stack_rows.targets[row.id] = work.properties

    def connected() -> Any:
        bound = replace(call, cloud=ports.clouds.connection(stack))
        is_search = method.__name__ == "find"
        if is_search or not (row.action in _NO_IDS or method.__name__ in _NEED_NO_IDS):
            bound = replace(bound, properties=resolved(stack_rows, row, type_, bound.properties))
            if bound.update.previous and row.action is Action.UPDATE:
                previous = resolved_where_known(stack_rows, type_, bound.update.previous)
                bound = replace(bound, update=replace(bound.update, previous=previous))
        elif method.__name__ == "delete":
            # Objects in the properties may be deleted or renamed. The delete must still work.
            known = resolved_where_known(stack_rows, type_, bound.properties)
            bound = replace(bound, properties=known)
        if type_.shares and method.__name__ in _SHARING:
            shared = SharedParts(stack_rows, row, type_, bound)
            bound = replace(bound, shared=shared)
            if method.__name__ == "delete" and shared.others and is_shared(type_, bound):
                return Done()
        return method(bound)

    return connected

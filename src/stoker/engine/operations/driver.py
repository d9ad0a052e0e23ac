"""Runs the operations of one stack, one after another, each to exactly one end.

Takes the id of a stack; everything else is read from the store. Produces commits: the plan of
each operation, its progress, and its end together with the new status and event of the stack. A
failed operation ends in the same commit that starts its rollback.

Invariant: a driver writes only while its fencing token is the newest, and no operation ends twice.
A driver can die anywhere. The next one reads the rows and continues a stored plan without the
finished nodes; recovery has no other code.

The dispatchers (:mod:`stoker.dispatch.in_process`, :mod:`stoker.dispatch.turns`) start drivers and
notify them of commits. Knows no HTTP and no SQL.
Tested by tests/operations, tests/recovery and tests/engines/test_letting_go.py.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import NO_ENDS, End
from stoker.engine.model.interfaces import (
    ENDS_TURN,
    Dispatcher,
    FencedError,
    Ports,
    StoreError,
    is_passing,
)
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import (
    AcquiredStack,
    Action,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    current_operation,
    superseded_operations,
)
from stoker.engine.operations.completion import ended_cancel, reason_of_cancelled, refuse
from stoker.engine.operations.crash_loop import (
    MAX_ATTEMPTS,
    back_off,
    healthy_after_delay,
    reason_to_give_up,
    spare,
)
from stoker.engine.operations.kinds import KINDS
from stoker.engine.operations.running import RunningOperation
from stoker.engine.operations.settled_rows import leave_rows, settled_rows
from stoker.engine.operations.time_limits import TimeLimits
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError, ValidationError, fault_reason, machine_errors
from stoker.kernel.logs.log import Log, conceal, request
from stoker.kernel.logs.tracing import span
from stoker.kernel.values import replace

log = Log(__name__)


class Driver:
    """Drives one stack until it has nothing left to do.

    ``fault`` is the error of the previous driver, ``recorded`` a new stack that was acquired in the
    transaction of its request. With ``max_idle_seconds``, the driver releases its stack after so
    many seconds of pauses, if pauses of at least that length follow; ``resume_at`` is then the time
    at which the next driver is due.
    """

    def __init__(
        self,
        ports: Ports,
        stack_id: str,
        dispatcher: Dispatcher,
        fault: Exception | None = None,
        recorded: AcquiredStack | None = None,
        max_idle_seconds: float | None = None,
    ) -> None:
        self._ports = ports
        self._stack_id = stack_id
        self._dispatcher = dispatcher
        self._fault = fault
        self._recorded = recorded
        self._max_idle_seconds = max_idle_seconds
        self.resume_at: float | None = None
        self._is_released = False
        self._is_dirty = False  # the store may have more than was read last
        self._notified = asyncio.Event()
        self._limits = TimeLimits(ports)
        self._running: RunningOperation | None = None
        self.acquired: Stack | None = None

    def notify(self) -> None:
        """Report a new operation or signal in the store."""
        self._is_dirty = True
        self._notified.set()

    @property
    def has_notification(self) -> bool:
        """Return whether there are unprocessed notifications."""
        return self._notified.is_set()

    async def next_notification(self) -> None:
        """Wait for the next notification."""
        self._notified.clear()
        await self._notified.wait()

    def child_ended(self, child_id: str, ends: Mapping[str, End] = NO_ENDS) -> None:
        """Handle the end of an operation of a nested stack; ``ends`` has the results, if known."""
        if self._running is not None:
            self._running.waiting.wake(child_id, ends)
        # A driver about to release the stack no longer waits for nested stacks. The notification
        # has the dispatcher start another driver.
        if self._running is None or self.resume_at is not None:
            self._notified.set()

    def wake_all(self) -> None:
        """Read everything again, after notifications may have been lost."""
        self.notify()
        if self._running is not None:
            self._running.waiting.wake_all()

    def release(self) -> None:
        """Release the stack as soon as no call about it is in flight."""
        self._is_released = True
        self._notified.set()

    async def run(self) -> None:
        """Drive until every operation has ended. Raises the errors in :data:`ENDS_TURN`."""
        try:
            with machine_errors():
                await self._run()
        finally:
            self._ports.evaluations.masks.release(self._stack_id)

    async def _run(self) -> None:
        acquired = self._recorded or await self._ports.store.acquire(self._stack_id)
        if acquired is None:
            return  # The commit of the request has failed, or the operation has ended since.
        self.acquired = stack = acquired.stack
        if acquired.operation is not None:
            # A stack that no engine has driven has no resources and no signals: read nothing.
            session = await self._open(stack, ())
            session.hold(acquired.input)
            await self._drive_all(session, acquired.operation)
            return
        if self._fault is not None and is_passing(self._fault):
            # The database or the machine failed the driver before this one, not the operation.
            await self._ports.store.reset_attempts(stack)
            stack = replace(stack, attempts=1)
        if stack.attempts >= MAX_ATTEMPTS:
            await self._give_up(stack)
            return
        await back_off(self._ports, stack, self._notified, lambda: self._is_released)
        if self._is_released:
            await spare(self._ports, stack)
            return
        async with healthy_after_delay(self._ports, stack):
            session = await self._open(stack)
            await self._drive_all(session, await self._next(session))

    async def _drive_all(self, session: Session, operation: Operation | None) -> None:
        """Drive this operation, then all other open ones."""
        while operation is not None:
            await self._drive(session, operation)
            if self._is_released or self.resume_at is not None:
                await _record_release(self._ports, session)
                return
            if operation.action is not Action.CREATE or session.signals:
                # Skip this after a plain create. Only signals make more events than are kept.
                await self._ports.store.tidy(self._stack_id, session.events_to_keep)
            # Save a read: after a success, any other open operation was notified or seen before.
            last = operation.action is not Action.SIGNAL and session.stack.status is Status.COMPLETE
            operation = None if last and not self._is_dirty else await self._next(session)
        await leave_rows(session)

    async def _open(self, stack: Stack, rows: Sequence[Resource] | None = None) -> Session:
        settled = None
        if rows is None:
            settled = await settled_rows(self._ports, stack)
            rows = settled.rows if settled else await self._ports.store.resources(self._stack_id)
        session = Session.driving(self._ports, stack, rows)
        session.settled = settled
        session.wake = self._dispatcher.wake
        return session

    async def _give_up(self, stack: Stack) -> None:
        """End an operation on which every driver failed, if necessary without reading its rows."""
        reason = reason_to_give_up(stack, self._fault)
        log.error("operation given up", stack=self._stack_id, reason=reason)
        try:
            with machine_errors():
                session = await self._open(stack)
                operation = await self._next(session)
                if operation is not None:
                    await refuse(session, operation, reason)
        except FencedError:
            raise
        except Exception as fault:
            if is_passing(fault):
                raise
            await _end_without_rows(self._ports, stack, reason)
            if stack.parent_id is not None:
                self._dispatcher.wake_parent(stack.parent_id, self._stack_id)
        self.notify()  # other operations may be open; the next driver runs them

    async def _next(self, session: Session) -> Operation | None:
        """Return the operation to run; end those that it supersedes.

        Notifications from here on are processed later. Earlier ones are in the store and read now:
        operations, and signals that the next operation may wait for.
        """
        # Reset before reading: a commit between the two would be missed in the other order.
        self._notified.clear()
        self._is_dirty = False
        open_ = await session.load_agenda()
        if len(open_) > 1:
            self._is_dirty = True
        if session.stack.deleted_at is not None:
            next_, superseded = None, open_
        else:
            next_ = current_operation(open_)
            superseded = superseded_operations(open_)
        if superseded:
            await session.commit(operations=[_as_superseded(op, open_) for op in superseded])
        return next_

    async def _drive(self, session: Session, operation: Operation) -> None:
        """Run one operation to its end.

        Internal errors are raised, so that the operation is retried until its time is up.
        """
        session.client_token = operation.client_token
        # Extend nothing after an internal error. An operation that fails every driver must end.
        if self._fault is None or (isinstance(self._fault, StoreError) and self._fault.passing):
            operation = await self._limits.extended(session.stack, operation)
        run = KINDS[operation.kind](session, operation)
        conceal(lambda text: session.masking.text(text))
        try:
            across = operation.request_id or f"req-{operation.id}"
            stack, action = session.stack.name, operation.action.value
            trace = span(f"{action} stack", across, stack=stack, id=self._stack_id)
            with machine_errors(), request(across), trace:
                await self._try(session, run)
        except ENDS_TURN:
            raise
        except Exception as fault:
            if not self._limits.is_up(run.operation):
                raise
            log.exception("operation given up", stack=self._stack_id)
            await refuse(session, run.operation, fault_reason(fault))

    async def _try(self, session: Session, run: RunningOperation) -> None:
        try:
            _require_readable(run.operation)
            # Apply the time limit here. While it runs, an operation ends its actions on its own.
            async with asyncio.timeout(self._limits.seconds_left(run.operation)):
                await run.prepare()
        except (DiagnosticError, RequestError) as refused:
            await refuse(session, run.operation, str(refused))
        except TimeoutError:
            await refuse(session, run.operation, _timed_out(run.operation))
        else:
            self._running = run
            try:
                await self._attend(session, run)
            finally:
                self._running = None

    async def _attend(self, session: Session, running: RunningOperation) -> None:
        """Run an operation, and notify it of its time limit, of signals and of successors."""
        run = asyncio.ensure_future(running.run())
        expired = False
        try:
            while not run.done() and self.resume_at is None:
                if self._is_released:
                    running.waiting.stop()
                seconds_left = None if expired else self._limits.seconds_left(running.operation)
                timeouts = (seconds_left, self._max_idle_seconds)
                timeout = min((each for each in timeouts if each is not None), default=None)
                await _either(run, self._notified, timeout)
                if self._notified.is_set():
                    self._notified.clear()
                    await _read_changes(session, running)
                elif not run.done() and self._limits.is_up(running.operation) and not expired:
                    expired = True
                    await running.expire(_timed_out(running.operation))
                elif not run.done():
                    self._release_if_idle(session, running, seconds_left)
            await run
        finally:
            run.cancel()
            # Read an error of the run as well: asyncio logs errors that are not read.
            await asyncio.gather(run, return_exceptions=True)

    def _release_if_idle(
        self, session: Session, running: RunningOperation, seconds_left: float | None
    ) -> None:
        """Release the stack if only long pauses follow; ``seconds_left`` is the operation's."""
        if self._max_idle_seconds is None:
            return
        until = running.waiting.rests_until(self._max_idle_seconds)
        if until is not None and not _may_be_sent(session):
            pause = min(until - asyncio.get_running_loop().time(), seconds_left or math.inf)
            self.resume_at = self._ports.clock.now() + pause
            running.waiting.stop()


async def _end_without_rows(ports: Ports, stack: Stack, reason: str) -> None:
    # The rows themselves may be the cause, as when they cannot be decrypted. The store ends the
    # operation by columns that are never encrypted.
    log.exception("operation ended without its rows", stack=stack.id)
    await ports.store.give_up(stack.id, reason, ports.clock.now())


async def _read_changes(session: Session, running: RunningOperation) -> None:
    """Read new signals and operations: a later operation ends this one, a signal wakes it."""
    await session.load_signals()
    first = current_operation(await session.ports.store.queue(session.stack.id))
    if first is not None and first.id != running.operation.id:
        running.waiting.stop()
    else:
        running.waiting.wake()


async def _either(run: asyncio.Future[Any], notified: asyncio.Event, seconds: float | None) -> None:
    """Return when the run has ended, a notification arrives, or the time is up."""
    notification: asyncio.Future[Any] = asyncio.ensure_future(notified.wait())
    try:
        await asyncio.wait(
            {run, notification}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        notification.cancel()


async def _record_release(ports: Ports, session: Session) -> None:
    """Record that no request is in flight, unless one may be.

    With that record the next engine starts immediately. Without it, it waits until requests of
    this one can no longer take effect, as after a crash.
    """
    if _may_be_sent(session):
        await spare(ports, session.stack)
    else:
        await ports.store.release(session.stack)


def _may_be_sent(session: Session) -> bool:
    """Return whether a request about the stack may be in flight, or take effect late."""
    ports = session.ports
    # Requests sent before this time can no longer take effect.
    earliest = ports.clock.now() - ports.limits.landing
    return (
        bool(session.unanswered)
        or ports.orphaned_calls.any_of(session.rows)
        # A create without a response may still make its object, while it is being searched for.
        or any(
            row.physical_id is None and max(row.asked, default=0.0) > earliest
            for row in session.rows.values()
        )
    )


def _as_superseded(operation: Operation, open_: Sequence[Operation]) -> Operation:
    """Return an operation as superseded; a started cancel has already reported its end."""
    if operation.kind is OperationKind.CANCEL and operation.status is OperationStatus.RUNNING:
        return ended_cancel(operation)
    cancelled = operation.id in (newer.cancels for newer in open_)
    reason = reason_of_cancelled(operation.action) if cancelled else operation.reason
    return replace(operation, status=OperationStatus.SUPERSEDED, reason=reason)


def _require_readable(operation: Operation) -> None:
    """Raise ValidationError for an operation whose stored request cannot be read."""
    # A delete needs none of the request, and is the way out for a user.
    if "request" in operation.unreadable and operation.action is not Action.DELETE:
        raise ValidationError("the stored operation cannot be read; send the request again")


def _timed_out(operation: Operation) -> str:
    return f"{operation.action.capitalize()} timed out"

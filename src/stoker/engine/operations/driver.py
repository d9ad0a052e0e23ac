"""Runs the operations of a stack, one after another, each to exactly one end.

A driver owns one stack while it runs. It makes the plan, stores it, has it executed, and commits
the end of the operation together with the stack's new status and event; on failure with rollback,
together with the rollback. It also resumes operations that another engine left unfinished: a stored
plan is loaded, and execution skips finished nodes. Knows no HTTP and no SQL.
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
    foremost,
    taken_over,
)
from stoker.engine.operations.completion import ended_cancel, reason_of_cancelled, refuse
from stoker.engine.operations.crash_loop import (
    MOST_TAKE_UPS,
    hold,
    proving,
    reason_to_give_up,
    spare,
)
from stoker.engine.operations.kinds import KINDS
from stoker.engine.operations.running import Running
from stoker.engine.operations.time_limits import TimeLimits
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError, ValidationError, fault_reason, machine_errors
from stoker.kernel.log import Log, conceal, request
from stoker.kernel.tracing import span
from stoker.kernel.values import replace

log = Log(__name__)


class Driver:
    """Drives one stack until it has nothing left to do.

    ``fault`` is the error of the previous driver, ``recorded`` a new stack that was acquired in the
    transaction of its request. A driver that does not stay releases its stack after ``stays``
    seconds of pauses, if pauses of at least that length follow.
    """

    def __init__(
        self,
        ports: Ports,
        stack_id: str,
        dispatcher: Dispatcher,
        fault: Exception | None = None,
        recorded: AcquiredStack | None = None,
        stays: float | None = None,
    ) -> None:
        self._ports = ports
        self._stack_id = stack_id
        self._dispatcher = dispatcher
        self._fault = fault
        self._recorded = recorded
        self._stays = stays
        self.rests_until: float | None = None
        """Time at which the released stack is to be resumed."""
        self._leaves = False
        self._look_again = False
        """There may be more in the store than what was read last."""
        self._news = asyncio.Event()
        self._limits = TimeLimits(ports)
        self._running: Running | None = None
        self.taken: Stack | None = None

    def notify(self) -> None:
        """There is something new in the store for this stack: an operation or a signal."""
        self._look_again = True
        self._news.set()

    @property
    def has_news(self) -> bool:
        """Return whether there are unprocessed notifications."""
        return self._news.is_set()

    async def news(self) -> None:
        """Wait for the next notification."""
        self._news.clear()
        await self._news.wait()

    def child_ended(self, child_id: str, ends: Mapping[str, End] = NO_ENDS) -> None:
        """Handle the end of an operation of a nested stack; ``ends`` has the results, if known."""
        if self._running is not None:
            self._running.waiting.wake(child_id, ends)
        if self._running is None or self.rests_until is not None:
            self._news.set()

    def look(self) -> None:
        """There may be news of any kind."""
        self.notify()
        if self._running is not None:
            self._running.waiting.wake_all()

    def leave(self) -> None:
        """Release the stack as soon as no call about it is in flight."""
        self._leaves = True
        self._news.set()

    async def run(self) -> None:
        """Drive until every operation has ended. Raises the errors in :data:`ENDS_TURN`."""
        with machine_errors():
            await self._run()

    async def _run(self) -> None:
        taken = self._recorded or await self._ports.store.take(self._stack_id)
        if taken is None:
            return  # The commit of the request has failed, or the operation has ended since.
        self.taken = taken.stack
        if taken.operation is not None:
            session = await self._open(taken.stack, ())
            session.hold(taken.given)
            await self._go_on(session, taken.operation)
            return
        stack = taken.stack
        if self._fault is not None and is_passing(self._fault):
            # The database or the machine failed the driver before this one, not the operation.
            await self._ports.store.forget_take_ups(stack)
            stack = replace(stack, take_ups=1)
        if stack.take_ups >= MOST_TAKE_UPS:
            await self._give_up(stack)
            return
        await hold(self._ports, stack, self._news, lambda: self._leaves)
        if self._leaves:
            await spare(self._ports, stack)
            return
        async with proving(self._ports, stack):
            session = await self._open(stack)
            await self._go_on(session, await self._next(session))

    async def _go_on(self, session: Session, operation: Operation | None) -> None:
        """Drive this operation, and all others that there are."""
        while operation is not None:
            await self._drive(session, operation)
            if self._leaves or self.rests_until is not None:
                await self._let_go(session)
                return
            if operation.action is not Action.CREATE or session.signals:
                # only signals make more events than a create is allowed to leave
                await self._ports.store.tidy(self._stack_id, session.events_to_keep)
            last = operation.action is not Action.SIGNAL and session.stack.status is Status.COMPLETE
            operation = None if last and not self._look_again else await self._next(session)

    async def _let_go(self, session: Session) -> None:
        """Record that nothing is under way, unless something may be."""
        if _may_be_sent(session):
            await spare(self._ports, session.stack)
        else:
            await self._ports.store.hand_over(session.stack)

    async def _open(self, stack: Stack, rows: Sequence[Resource] | None = None) -> Session:
        if rows is None:
            rows = await self._ports.store.resources(self._stack_id)
        session = Session.driving(self._ports, stack, rows)
        session.wake = self._dispatcher.wake
        return session

    async def _give_up(self, stack: Stack) -> None:
        """End the operation that no driver got any further with, if need be without reading it."""
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
            log.exception("operation ended without its rows", stack=self._stack_id)
            await self._ports.store.give_up(self._stack_id, reason, self._ports.clock.now())
            if stack.parent_id is not None:
                self._dispatcher.wake_parent(stack.parent_id, self._stack_id)
        self.notify()  # there may be others

    async def _next(self, session: Session) -> Operation | None:
        """Return the operation to run; end those that it supersedes.

        Notifications from here on are processed later. Earlier ones are in the store and read now:
        operations, and signals that the next operation may wait for.
        """
        self._news.clear()
        self._look_again = False
        open_ = await session.load_agenda()
        if len(open_) > 1:
            self._look_again = True
        if session.stack.deleted_at is not None:
            next_, over = None, open_
        else:
            next_ = foremost(open_)
            over = taken_over(open_)
        if over:
            await session.commit(operations=[_given_up(op, open_) for op in over])
        return next_

    async def _drive(self, session: Session, operation: Operation) -> None:
        """Take one operation to its end.

        Internal errors are raised, so that the operation is retried until its time is up.
        """
        session.client_token = operation.client_token
        # An operation that fails every driver must end: internal errors extend no time limit.
        if self._fault is None or (isinstance(self._fault, StoreError) and self._fault.passing):
            operation = await self._limits.extended(session.stack, operation)
        run = KINDS[operation.kind](session, operation)
        conceal(lambda text: session.masking.text(text))
        try:
            across = operation.request_id or f"req-{operation.id}"
            stack, action = session.stack.name, operation.action.value
            told = span(f"{action} stack", across, stack=stack, id=self._stack_id)
            with machine_errors(), request(across), told:
                await self._try(session, run)
        except ENDS_TURN:
            raise
        except Exception as fault:
            if not self._limits.is_up(run.operation):
                raise
            log.exception("operation given up", stack=self._stack_id)
            await refuse(session, run.operation, fault_reason(fault))

    async def _try(self, session: Session, run: Running) -> None:
        try:
            _require_readable(run.operation)
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

    async def _attend(self, session: Session, running: Running) -> None:
        """Run it, and notify it of its time limit, of signals and of successors."""
        run = asyncio.ensure_future(running.run())
        expired = False
        try:
            while not run.done() and self.rests_until is None:
                if self._leaves:
                    running.waiting.stop()
                left = self._limits.seconds_left(running.operation) if not expired else None
                pause = min(
                    (each for each in (left, self._stays) if each is not None), default=None
                )
                await _either(run, self._news, pause)
                if self._news.is_set():
                    self._news.clear()
                    await self._hear(session, running)
                elif not run.done() and self._limits.is_up(running.operation) and not expired:
                    expired = True
                    await running.expire(_timed_out(running.operation))
                elif not run.done():
                    self._rest(session, running, left)
            await run
        finally:
            run.cancel()
            # Read an error of the run as well: asyncio logs errors that are not read.
            await asyncio.gather(run, return_exceptions=True)

    def _rest(self, session: Session, running: Running, left: float | None) -> None:
        """Release the stack if only long pauses follow; ``left`` is the operation's time."""
        until = None if self._stays is None else running.waiting.rests_until(self._stays)
        if until is not None and not _may_be_sent(session):
            pause = min(until - asyncio.get_running_loop().time(), left or math.inf)
            self.rests_until = self._ports.clock.now() + pause
            running.waiting.stop()

    async def _hear(self, session: Session, running: Running) -> None:
        """Read changes: a later operation ends this one, signals wake waiting resources."""
        await session.load_signals()
        first = foremost(await self._ports.store.queue(self._stack_id))
        if first is not None and first.id != running.operation.id:
            running.waiting.stop()
        else:
            running.waiting.wake()


async def _either(run: asyncio.Future[Any], news: asyncio.Event, seconds: float | None) -> None:
    """Return when the run has ended, there is news, or the time is up."""
    waiting: asyncio.Future[Any] = asyncio.ensure_future(news.wait())
    try:
        await asyncio.wait({run, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


def _may_be_sent(session: Session) -> bool:
    """Return whether a request about the stack may be under way, or done late."""
    ports = session.ports
    lands_before = ports.clock.now() - ports.limits.landing
    return (
        bool(session.unanswered)
        or ports.orphaned_calls.any_of(session.rows)
        # an object that is looked for may still be made
        or any(
            row.physical_id is None and max(row.asked, default=0.0) > lands_before
            for row in session.rows.values()
        )
    )


def _given_up(operation: Operation, open_: Sequence[Operation]) -> Operation:
    """Return an operation as superseded; a started cancel has already reported its end."""
    if operation.kind is OperationKind.CANCEL and operation.status is OperationStatus.RUNNING:
        return ended_cancel(operation)
    cancelled = operation.id in (newer.cancels for newer in open_)
    reason = reason_of_cancelled(operation.action) if cancelled else operation.reason
    return replace(operation, status=OperationStatus.SUPERSEDED, reason=reason)


def _require_readable(operation: Operation) -> None:
    """Raise ValidationError for an operation whose stored request cannot be read."""
    if "request" in operation.unreadable and operation.action is not Action.DELETE:
        raise ValidationError("the stored operation cannot be read; send the request again")


def _timed_out(operation: Operation) -> str:
    return f"{operation.action.capitalize()} timed out"

"""Walks a plan: starts the step of each node when the nodes before it are done.

In: an operation with its plan, the desired definitions, and the facts of planning. Out: the rows of
its resources, and the failure in ``waiting`` if there is one. Decisions that the planner left open
because of an unknown value are made by the apply step, with the planner's own function, once the
value exists.

The driver starts and ends operations; transactions and calls are in
:mod:`stoker.engine.execution.calls`. Tested by tests/operations, tests/ordering and the simulation.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.create_recovery import sweep
from stoker.engine.execution.early import EarlyStarts, NeedsEnd, NotStartedError, need_all
from stoker.engine.execution.reasons import ActionFailedError, named_reason, reason_of_stack
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.apply import ApplyStep
from stoker.engine.execution.steps.remove import RemoveStep, remove_snapshots, unforeseen
from stoker.engine.execution.steps.snapshot import visit_step
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.plans import (
    Change,
    Definitions,
    Node,
    Observed,
    OnFailure,
    Phase,
    Plan,
    Step,
)
from stoker.engine.model.records import Action, Operation, Resource, Status
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import fault_reason, require_machine
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace

log = Log(__name__)

Act = Callable[[Node], Awaitable[None]]

_FEW = 1000  # nodes that are sorted on the event loop, in a few milliseconds; more use a thread


class Execution:
    """A running operation."""

    def __init__(
        self,
        session: Session,
        operation: Operation,
        desired: Definitions,
        observed: Observed,
        waiting: Waiting,
    ) -> None:
        self.waiting = waiting
        self._session = session
        session.desired_names = frozenset(desired.names)
        self._action = operation.action
        self._plan = operation.plan or Plan()
        self._desired = desired
        self._observed = observed
        self._context = OperationContext(session, operation, waiting, desired)
        # A cancel keeps replaced rows: other resources may still use their objects.
        removes = any(phase.step is Step.REMOVE for phase in self._plan.phases)
        self._completes = removes and operation.cancels is None
        self._tasks: set[asyncio.Task[None]] = set()
        self._gathers = False
        self.gathered: list[str] = []  # failures in a phase that gathers them

    async def run(self) -> None:
        """Do everything, or as much as can be done after a failure or a stop.

        Raises the errors in :data:`stoker.engine.model.interfaces.ENDS_TURN`.
        """
        try:
            for phase in self._plan.phases:
                if phase.nodes and self._may_go_on():
                    await self._walk(phase)
            if self._completes and self._may_go_on():
                left = unforeseen(self._session, self._plan)
                if left is not None:
                    await self._walk(left)
            await sweep(self._session, self.waiting)
            if self._action is Action.DELETE and self._may_go_on():
                await self._remove_snapshots()
        finally:
            for task in self._tasks:
                task.cancel()

    def _may_go_on(self) -> bool:
        """Return whether the walk may continue."""
        return self.waiting.failed is None and not (self.waiting.stopped or self.gathered)

    async def _remove_snapshots(self) -> None:
        """Remove the snapshots of a deleted stack. The delete fails if one of them stays."""
        try:
            reason = await remove_snapshots(self._context)
        except StoppedError:
            return
        if reason is not None:
            self.fail(reason)

    async def _pause(self, node: Node) -> None:
        """Wait out the pause since the last change of the previous batch, which the rows record."""
        current, now = self._session.current, self._session.ports.clock.now()
        changed = max(current[name].updated_at for name in node.dependencies)
        # After a clock was set back, the time of the change may lie in the future.
        if (left := min(changed + self._plan.pause - now, self._plan.pause)) > 0:
            await self.waiting.sleep(left)

    def fail(self, reason: str) -> None:
        """Fail the operation: start no more actions, end waiting ones."""
        self.waiting.fail(reason, self._session.ports.limits.failure_grace)

    async def abandon(self) -> None:
        """Give calls in flight a moment after the time limit, then cancel their tasks.

        The calls continue on their threads as orphaned calls.
        """
        if self._tasks:
            grace = self._session.ports.limits.abandon_grace
            _, left = await asyncio.wait(self._tasks, timeout=grace)
            for task in left:
                task.cancel()

    async def _walk(self, phase: Phase) -> None:
        """Run the step of the phase for each of its nodes, in its direction."""
        self._gathers = phase.on_failure is OnFailure.GATHER
        by_key = {node.key: node for node in phase.nodes}
        # A key without a task is an early node: others need not wait for its end.
        finished: deque[tuple[str, asyncio.Task[None] | None]] = deque()
        has_finished = asyncio.Event()

        def finish(key: str, task: asyncio.Task[None] | None = None) -> None:
            finished.append((key, task))
            has_finished.set()

        early = self._context.early = EarlyStarts(phase, self.waiting, finish)
        step = self._function_of(phase.step)
        if len(phase.nodes) <= _FEW:
            sorter = phase.sorter()
        else:
            sorter = await self._session.ports.workers.compute(phase.sorter)
        ready = deque[str]()
        running = 0
        while True:
            ready.extend(sorter.get_ready())
            for key in await self._to_start(phase, ready):
                task = asyncio.ensure_future(self._start(phase, step, by_key[key]))
                self._tasks.add(task)
                task.add_done_callback(partial(finish, key))
                running += 1
            if not running:
                return
            if ready and self._may_start(phase):
                await asyncio.sleep(0)  # the started steps enter their first changes
            elif not finished:
                has_finished.clear()
                with self.waiting.resting:
                    await has_finished.wait()
            # Nodes that end in one turn of the loop, as those of one commit, are handled together.
            while finished:
                key, ended = finished.popleft()
                if ended is None:
                    sorter.done(key)
                    continue
                running -= 1
                self._tasks.discard(ended)
                succeeded = await self._succeeded(by_key[key], ended)
                if not early.end(key, succeeded=succeeded) and succeeded:
                    sorter.done(key)

    def _function_of(self, step: Step) -> tuple[Act, NeedsEnd]:
        """Return the functions that carry out a node, and that decide when it may start."""
        match step:
            case Step.APPLY:
                apply = ApplyStep(self._context, self._desired, self._observed)
                return apply.apply, apply.needs_end
            case Step.REMOVE:
                remove = RemoveStep(self._context, self._desired)
                return remove.remove, remove.needs_end
            case Step.VISIT:
                return visit_step(self._context).visit, need_all

    async def _start(self, phase: Phase, step: tuple[Act, NeedsEnd], node: Node) -> None:
        act, needs_end = step
        if node.change is Change.PAUSE:
            act, needs_end = self._pause, need_all
        early = self._context.early
        assert early is not None
        with self.waiting.step:
            if await early.admit(node, needs_end) and not self._may_start(phase):
                raise NotStartedError
            await act(node)

    async def _to_start(self, phase: Phase, ready: deque[str]) -> list[str]:
        """Remove and return the next keys: as many as the store has room for their changes."""
        if not ready or not self._may_start(phase):
            return []
        count = await self._session.ports.store.room(len(ready))
        if not self._may_start(phase):
            return []
        return [ready.popleft() for _ in range(count)]

    def _may_start(self, phase: Phase) -> bool:
        if self.waiting.stopped or self.waiting.expired:
            return False
        return phase.on_failure is not OnFailure.STOP or self.waiting.failed is None

    async def _succeeded(self, node: Node, task: asyncio.Task[None]) -> bool:
        """Return whether the node is done; a failure becomes the operation's failure."""
        if task.cancelled():
            if not self._is_held(node):
                await self._abandon(node)
            return False
        error = task.exception()
        if error is None:
            return True
        if isinstance(error, NotStartedError):
            return False
        require_machine(error)
        if isinstance(error, ENDS_TURN):
            raise error
        if isinstance(error, StoppedError):
            if not self.waiting.stopped:
                await self._abandon(node)
            return False
        if isinstance(error, ActionFailedError):
            self._fail_by(error.row.action, node.name, error.reason)
            return False
        if isinstance(error, DiagnosticError):
            reason = str(error.first)
        else:
            log.error("step failed", resource=node.name, exc_info=error)
            reason = fault_reason(error)
        await self._mark_failed(node, reason)
        return False

    def _is_held(self, node: Node) -> bool:
        """Return whether a node has not started, because it waits for an early one to end."""
        return self._context.early is not None and self._context.early.is_held(node.key)

    def _fail_by(self, action: Action, name: str, reason: str) -> None:
        named = named_reason(name, reason)
        if self._gathers:
            self.gathered.append(named)
        else:
            self.fail(reason_of_stack(action, named))

    async def _abandon(self, node: Node) -> None:
        """Fail the row of an abandoned call; its object will be found by its token."""
        if node.change is Change.PAUSE:
            return
        row = self._row_of(node)
        if row is not None and self._context.hooks.is_at_hook(row):
            return
        await self._mark_failed(node, self.waiting.failed or "abandoned")

    def _row_of(self, node: Node) -> Resource | None:
        return self._session.rows.get(node.key) or self._session.current.get(node.name)

    async def _mark_failed(self, node: Node, reason: str) -> None:
        """Record the failure of a node in its row, whatever state the row is in."""
        session = self._session
        row = self._row_of(node)
        # The step may have failed before the first commit of its row.
        if row is None:
            type_name = self._desired.type_names.get(node.name, "")
            row = replace(session.new_row(node.name), type_name=type_name)
        if row.status is not Status.IN_PROGRESS:
            action = self._failing_action(node, row)
            row, started = session.transitions.resource_to(
                row, action, Status.IN_PROGRESS, "state changed"
            )
            events = [started]
        else:
            events = []
        failed, event = session.transitions.resource_to(row, row.action, Status.FAILED, reason)
        await session.commit(resources=[failed], events=[*events, event])
        self._fail_by(failed.action, node.name, reason)

    def _failing_action(self, node: Node, row: Resource) -> Action:
        """Return the action that was to start on a row that is not in progress."""
        match node.change:
            case Change.REMOVE:
                return Action.DELETE
            case Change.VISIT:
                return self._action
        return Action.CREATE if row.action is Action.INIT else Action.UPDATE

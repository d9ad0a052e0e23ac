"""The walk of a stack: one action on each existing resource, as to suspend it.

The desired state of the stack stays the same. The plan is a phase over the rows, stored before the
first action; nested stacks are walked by operations of their own.
"""

from __future__ import annotations

from stoker.engine.execution.execute import Execution
from stoker.engine.execution.reasons import reason_of_resource, reason_of_stack
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.visit import is_beyond
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import WalkRequest
from stoker.engine.model.plans import UNOBSERVED, NoDefinitions
from stoker.engine.model.records import Action, Operation, OperationStatus, Status, is_nested
from stoker.engine.model.secrets import masking_of
from stoker.engine.operations.completion import begin, fail, succeed
from stoker.engine.operations.running import Running
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.walks import plan_of_walk
from stoker.kernel.values import replace

_NOT_SUPPORTED = ". '{}' not fully supported (see resources)"


class Walk(Running):
    """One walk of a stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._execution: Execution | None = None

    async def prepare(self) -> None:
        """Evaluate the present input, for its outputs and its secrets to mask, and plan."""
        session = self._session
        wanted = await evaluation_at(session.ports, session.stack, session.stack.input_id)
        session.masking = await session.ports.workers.compute(lambda: masking_of(wanted))
        self._wanted = wanted
        if self.operation.plan is None:
            action, rows = self.operation.action, tuple(session.rows.values())
            plan = await session.ports.workers.compute(lambda: plan_of_walk(action, rows))
            self.operation = replace(self.operation, plan=plan)

    async def run(self) -> None:
        """Start, visit every row, end."""
        session = self._session
        if self.operation.status is OperationStatus.WAITING:
            self.operation = await begin(session, self.operation)
        self._execution = Execution(
            session, self.operation, NoDefinitions(), UNOBSERVED, self.waiting
        )
        await self._execution.run()
        if self.waiting.stopped:
            return
        failed, note = self._failed(self._execution), await self._note()
        if failed is None:
            await self._tell_snapshot(Status.COMPLETE, "Stack SNAPSHOT completed successfully")
            await succeed(session, self.operation, self._wanted, note)
        else:
            await self._tell_snapshot(Status.FAILED, failed)
            await fail(session, self.operation, failed, note)

    def _failed(self, execution: Execution) -> str | None:
        """Return the reason of the failure, or None."""
        failures = sorted(execution.gathered)
        if self.operation.action is Action.CHECK:
            there = self._session.current
            failures += [
                reason_of_resource(name, f"Resource {name} not created yet.", "Error")
                for name in self._wanted.names
                if name not in there or there[name].action is Action.INIT
            ]
        if self.waiting.failed is None and failures:
            return reason_of_stack(self.operation.action, *failures)
        return self.waiting.failed

    async def _note(self) -> str:
        """Return a note if the stack, or one nested in it, has resources without this action."""
        session, note = self._session, _NOT_SUPPORTED.format(self.operation.action)
        rows = list(session.current.values())
        beyond = any(
            not is_nested(row) and is_beyond(self.operation.action, session.type_of(row))
            for row in rows
        )
        if not beyond and any(is_nested(row) for row in rows):
            children = await session.ports.store.children(session.stack.id)
            beyond = any(child.reason.endswith(note) for child in children)
        return note if beyond else ""

    async def _tell_snapshot(self, status: Status, reason: str) -> None:
        """Record the result of the snapshot of this stack, if this is one."""
        request, session = self.operation.request, self._session
        if not isinstance(request, WalkRequest) or len(request.snapshot) != 1:
            return
        snapshot = await session.ports.store.snapshot(request.snapshot[0])
        if snapshot is not None:
            reason = session.masking.text(reason)
            await session.keep(snapshots=[replace(snapshot, status=status, reason=reason)])

    async def expire(self, reason: str) -> None:
        """The time is up, also for calls under way."""
        self.waiting.expire(reason)
        if self._execution is not None:
            await self._execution.abandon()

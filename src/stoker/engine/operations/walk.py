"""Walks over a stack: one action on each existing resource (suspend, resume, check, snapshot).

Takes an operation with a :class:`WalkRequest` and the recorded rows. Produces the rows with the
action done; the desired state of the stack stays the same. A check compares each object, but
changes none.

Invariant: the plan is a single phase over the rows, stored before the first action. Nested stacks
are walked by operations of their own, started by the step for their resource.

The driver runs it. Tested by tests/operations/test_walks.py, test_checks.py and test_snapshots.py.
"""

from __future__ import annotations

from stoker.engine.execution.execute import Execution
from stoker.engine.execution.reasons import reason_of_resource, reason_of_stack
from stoker.engine.execution.steps.visit import is_beyond
from stoker.engine.model.kinds import WalkRequest
from stoker.engine.model.plans import NoDefinitions
from stoker.engine.model.records import Action, OperationStatus, Status, is_nested
from stoker.engine.operations.completion import begin, fail, succeed
from stoker.engine.operations.running import PlannedOperation
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.stack_secrets import masking_at
from stoker.engine.planning.walks import plan_of_walk
from stoker.kernel.values import replace

_NOT_SUPPORTED = ". '{}' not fully supported (see resources)"


class Walk(PlannedOperation):
    """One walk of a stack."""

    async def prepare(self) -> None:
        """Evaluate the present input, for its outputs and the secrets to mask, and plan."""
        session = self._session
        evaluation = await evaluation_at(session.ports, session.stack, session.stack.input_id)
        session.mask(await masking_at(session.ports, session.stack, session.rows.values()))
        self._evaluation = evaluation
        if self.operation.plan is None:
            action, rows = self.operation.action, tuple(session.rows.values())
            plan = await session.ports.workers.compute(lambda: plan_of_walk(action, rows))
            self.operation = replace(self.operation, plan=plan)

    async def run(self) -> None:
        """Start, visit every row, end."""
        session = self._session
        if self.operation.status is OperationStatus.WAITING:
            self.operation = await begin(session, self.operation)
        execution = await self._execute(NoDefinitions())
        if self.waiting.stopped:
            return
        failed, note = self._failed(execution), await self._note()
        # The snapshot's record ends before the operation. A driver that dies in between walks over
        # finished nodes and writes it again; in the other order it would stay in progress.
        if failed is None:
            await self._end_snapshot(Status.COMPLETE, "Stack SNAPSHOT completed successfully")
            await succeed(session, self.operation, self._evaluation, note)
        else:
            await self._end_snapshot(Status.FAILED, failed)
            await fail(session, self.operation, failed, note)

    def _failed(self, execution: Execution) -> str | None:
        """Return the reason of the failure, or None."""
        failures = sorted(execution.gathered)
        if self.operation.action is Action.CHECK:
            # A walk visits rows only, so the resources without a row are reported here.
            rows = self._session.current
            failures += [
                reason_of_resource(name, f"Resource {name} not created yet.", "Error")
                for name in self._evaluation.names
                if name not in rows or rows[name].action is Action.INIT
            ]
        if self.waiting.failed is None and failures:
            return reason_of_stack(self.operation.action, *failures)
        return self.waiting.failed

    async def _note(self) -> str:
        """Return a note if the stack, or one nested in it, has resources without this action."""
        session, note = self._session, _NOT_SUPPORTED.format(self.operation.action)
        rows = list(session.current.values())
        unsupported = any(
            not is_nested(row) and is_beyond(self.operation.action, session.type_of(row))
            for row in rows
        )
        if not unsupported and any(is_nested(row) for row in rows):
            children = await session.ports.store.children(session.stack.id)
            # Nested stacks end with the same note, so their own types need not be read.
            unsupported = any(child.reason.endswith(note) for child in children)
        return note if unsupported else ""

    async def _end_snapshot(self, status: Status, reason: str) -> None:
        """Record the result of the snapshot of this stack, if this is one."""
        request, session = self.operation.request, self._session
        if not isinstance(request, WalkRequest) or len(request.snapshot) != 1:
            return
        snapshot = await session.ports.store.snapshot(request.snapshot[0])
        if snapshot is not None:
            reason = session.masking.text(reason)
            await session.record([replace(snapshot, status=status, reason=reason)])

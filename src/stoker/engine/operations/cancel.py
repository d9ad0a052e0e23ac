"""Cancels an update or a create without rollback: no more of its actions start.

Takes an operation that names the cancelled one, and the recorded rows. Produces one commit: the
stack has failed, with the rows of its changing nested stacks, and those stacks are cancelled, too.
Started actions on single resources are then finished in the background, because their progress in
the cloud is unknown. Another request need not wait for them.

Invariant: the status is reported once, at the start; the end reports only the rows left unfinished.

The driver runs it. Tested by tests/operations/test_cancel.py.
"""

from __future__ import annotations

from stoker.engine.execution.calls.hooks import superseded_pauses
from stoker.engine.execution.nested.ends import cancel_of
from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.session import Session
from stoker.engine.model.plans import (
    Change,
    Definitions,
    Node,
    NoDefinitions,
    OnFailure,
    Phase,
    Plan,
    Step,
)
from stoker.engine.model.records import (
    Action,
    Event,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
)
from stoker.engine.operations.completion import end_cancel, reason_of_cancelled
from stoker.engine.operations.desired_state import desired_state_of
from stoker.engine.operations.running import PlannedOperation
from stoker.engine.planning.planner import Planner
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType
from stoker.template.evaluate.type_resolver import TemplateType

_CONTINUED = (Change.CONTINUE, Change.UPDATE, Change.LATER)


class CancelOperation(PlannedOperation):
    """One cancel, from its start on the stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        super().__init__(session, operation)
        self._desired: Definitions = NoDefinitions()

    async def prepare(self) -> None:
        """Plan the rest of the started actions, towards the input in force."""
        await super().prepare()
        session = self._session
        if not any(_is_in_progress(row) for row in session.rows.values()):
            return
        in_force = replace(self.operation, input_id=session.stack.input_id)
        self._desired = await desired_state_of(session, in_force)
        if self.operation.plan is None:
            planner = Planner(
                tuple(session.rows.values()), session.reference_of, call_about(session)
            )
            whole = await session.ports.workers.compute(lambda: planner.plan(self._desired))
            self.operation = replace(self.operation, plan=self._rest(whole))

    async def run(self) -> None:
        """Report that the stack is cancelled, then finish the started actions."""
        session = self._session
        if self.operation.status is OperationStatus.WAITING and not await self._begin():
            return
        await self._execute(self._desired)
        if self.waiting.stopped:
            return
        await end_cancel(session, self.operation)

    async def _begin(self) -> bool:
        """Commit that the stack is cancelled, and with it the changing stacks nested in it.

        Return False if the operation to cancel has ended in the meantime.
        """
        session, operation = self._session, self.operation
        cancelled = await session.ports.store.operation(operation.cancels or "")
        if cancelled is None or cancelled.status is not OperationStatus.SUPERSEDED:
            await session.commit(
                operations=[replace(operation, status=OperationStatus.SUPERSEDED, plan=None)]
            )
            return False
        stack, events = self._cancelled()
        rows, nested_events, cancels = await self._nested()
        paused, releases = superseded_pauses(session)
        self.operation = replace(operation, status=OperationStatus.RUNNING)
        await session.commit(
            stack=stack,
            resources=[*rows, *paused],
            operations=[self.operation, *cancels],
            events=[*nested_events, *events],
            dropped_signals=releases,
        )
        return True

    def _cancelled(self) -> tuple[Stack, list[Event]]:
        """Return the failed stack and its events, with a start event if it had none yet."""
        stack, action, events = self._session.stack, self.operation.action, []
        transitions = self._session.transitions
        if (stack.action, stack.status) != (action, Status.IN_PROGRESS):
            stack, started = transitions.stack_to(
                stack,
                action,
                Status.IN_PROGRESS,
                f"Stack {action} started",
                updated_at=self.operation.created_at,
            )
            events.append(started)
        stack, event = transitions.stack_to(
            stack, action, Status.FAILED, reason_of_cancelled(action)
        )
        return stack, [*events, event]

    async def _nested(self) -> tuple[list[Resource], list[Event], list[Operation]]:
        """Return the rows of changing nested stacks as failed, and the cancels of those stacks."""
        rows, events, cancels = [], [], []
        reason = reason_of_cancelled(self.operation.action)
        for row in self._session.rows.values():
            # Leave out deletes. A nested stack that is being deleted stays deleted: its operation
            # runs to its end, as any started action does.
            if not _is_in_progress(row) or row.action is Action.DELETE or not self._nests(row):
                continue
            failed, event = self._session.transitions.resource_to(
                row, row.action, Status.FAILED, f"{row.action} aborted: {reason}"
            )
            rows.append(failed)
            events.append(event)
            if (cancel := await cancel_of(self._session, row, self.operation)) is not None:
                cancels.append(cancel)
        return rows, events, cancels

    def _rest(self, plan: Plan) -> Plan:
        """Return the started nodes of a plan.

        A node has started, so its dependencies were complete by then, or they have started too: a
        node that started early is continued when its values are final.
        """
        return Plan(tuple(self._started(phase) for phase in plan.phases))

    def _started(self, phase: Phase) -> Phase:
        nodes = [node for node in phase.nodes if self._is_continued(phase.step, node)]
        keys = frozenset(node.key for node in nodes)
        left = (replace(node, dependencies=node.dependencies & keys) for node in nodes)
        return replace(phase, on_failure=OnFailure.GO_ON, nodes=tuple(left))

    def _is_continued(self, step: Step, node: Node) -> bool:
        row = self._session.rows.get(node.row_id or "")
        if row is None or not _is_in_progress(row):
            return False
        if step is Step.REMOVE:
            return row.action is Action.DELETE
        return node.change in _CONTINUED and not self._nests(row)

    def _nests(self, row: Resource) -> bool:
        if row.nested_id is not None or row.implementation == TemplateType.implementation:
            return True
        return isinstance(self._session.type_of(row), NestingType)


def _is_in_progress(row: Resource) -> bool:
    return row.status is Status.IN_PROGRESS

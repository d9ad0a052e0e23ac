"""Cancels an update or a create without rollback: no more of its actions start.

The stack is reported as failed immediately. Started actions on single resources are finished in the
background, as their progress in the cloud is unknown; another request need not wait for them.
Nested stacks are cancelled in the same transaction.
"""

from __future__ import annotations

from stoker.engine.execution.calls.hooks import superseded_pauses
from stoker.engine.execution.execute import Execution
from stoker.engine.execution.nested.ends import cancel_of
from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.plans import (
    UNOBSERVED,
    Change,
    Definitions,
    Node,
    NoDefinitions,
    OnFailure,
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
from stoker.engine.operations.running import Running
from stoker.engine.operations.wanted import wanted_by
from stoker.engine.planning.planner import Planner
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType
from stoker.template.evaluate.type_resolver import TemplateType

_GOES_ON = (Change.CONTINUE, Change.UPDATE, Change.LATER)


class CancelOperation(Running):
    """One cancel, from its start on the stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._wanted: Definitions = NoDefinitions()
        self._execution: Execution | None = None

    async def prepare(self) -> None:
        """Plan the rest of the started actions, towards the input in force."""
        session = self._session
        if not any(_is_under_way(row) for row in session.rows.values()):
            return
        in_force = replace(self.operation, input_id=session.stack.input_id)
        self._wanted = await wanted_by(session, in_force)
        if self.operation.plan is None:
            planner = Planner(
                tuple(session.rows.values()), session.reference_of, call_about(session)
            )
            whole = await session.ports.workers.compute(lambda: planner.plan(self._wanted))
            self.operation = replace(self.operation, plan=self._rest(whole))

    async def run(self) -> None:
        """Report that the stack is cancelled, then finish the started actions."""
        session = self._session
        if self.operation.status is OperationStatus.WAITING and not await self._begin():
            return
        self._execution = Execution(session, self.operation, self._wanted, UNOBSERVED, self.waiting)
        await self._execution.run()
        if self.waiting.stopped:
            return
        await end_cancel(session, self.operation)

    async def expire(self, reason: str) -> None:
        """The time is up, also for calls under way."""
        self.waiting.expire(reason)
        if self._execution is not None:
            await self._execution.abandon()

    async def _begin(self) -> bool:
        """Commit that the stack is cancelled, and with it those nested in it that are changing.

        Return whether there was something to cancel: the operation may just have ended.
        """
        session, operation = self._session, self.operation
        given_up = await session.ports.store.operation(operation.cancels or "")
        if given_up is None or given_up.status is not OperationStatus.SUPERSEDED:
            await session.commit(
                operations=[replace(operation, status=OperationStatus.SUPERSEDED, plan=None)]
            )
            return False
        stack, events = self._cancelled()
        rows, told, below = await self._nested()
        paused, releases = superseded_pauses(session)
        self.operation = replace(operation, status=OperationStatus.RUNNING)
        await session.commit(
            stack=stack,
            resources=[*rows, *paused],
            operations=[self.operation, *below],
            events=[*told, *events],
            dropped_signals=releases,
        )
        return True

    def _cancelled(self) -> tuple[Stack, list[Event]]:
        """Return the failed stack and its events; with a start if there was none yet."""
        stack, action, events = self._session.stack, self.operation.action, []
        transitions = self._session.transitions
        if (stack.action, stack.status) != (action, Status.IN_PROGRESS):
            stack, begun = transitions.stack_to(
                stack,
                action,
                Status.IN_PROGRESS,
                f"Stack {action} started",
                updated_at=self.operation.created_at,
            )
            events.append(begun)
        stack, event = transitions.stack_to(
            stack, action, Status.FAILED, reason_of_cancelled(action)
        )
        return stack, [*events, event]

    async def _nested(self) -> tuple[list[Resource], list[Event], list[Operation]]:
        """Return the rows of changing nested stacks as failed, and the cancels of those stacks."""
        rows, events, below = [], [], []
        reason = reason_of_cancelled(self.operation.action)
        for row in self._session.rows.values():
            if not _is_under_way(row) or row.action is Action.DELETE or not self._nests(row):
                continue
            failed, told = self._session.transitions.resource_to(
                row, row.action, Status.FAILED, f"{row.action} aborted: {reason}"
            )
            rows.append(failed)
            events.append(told)
            if (cancel := await cancel_of(self._session, row, self.operation)) is not None:
                below.append(cancel)
        return rows, events, below

    def _rest(self, plan: Plan) -> Plan:
        """Return the rest of a plan: each of its nodes on its own."""
        phases = [
            replace(
                phase,
                on_failure=OnFailure.GO_ON,
                nodes=tuple(
                    replace(node, dependencies=frozenset())
                    for node in phase.nodes
                    if self._goes_on(phase.step, node)
                ),
            )
            for phase in plan.phases
        ]
        return Plan(tuple(phases))

    def _goes_on(self, step: Step, node: Node) -> bool:
        row = self._session.rows.get(node.row_id or "")
        if row is None or not _is_under_way(row):
            return False
        if step is Step.REMOVE:
            return row.action is Action.DELETE
        return node.change in _GOES_ON and not self._nests(row)

    def _nests(self, row: Resource) -> bool:
        if row.nested_id is not None or row.implementation == TemplateType.implementation:
            return True
        return isinstance(self._session.type_of(row), NestingType)


def _is_under_way(row: Resource) -> bool:
    return row.status is Status.IN_PROGRESS

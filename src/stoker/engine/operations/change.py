"""The change of a stack: create, update, delete and rollback bring it to an input, or to nothing.

The plan is made and stored before the first action. One that an earlier engine has stored is gone
on with: execution skips what is done.
"""

from __future__ import annotations

from dataclasses import replace

from stoker.engine.execution.execute import Execution
from stoker.engine.execution.preparation import (
    call_about,
    check_failed_and_replaced,
    patient,
    read_missing,
)
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import Batches, ChangeRequest
from stoker.engine.model.plans import Definitions, Nothing, Plan
from stoker.engine.model.records import Operation, OperationStatus
from stoker.engine.operations.completion import begin, cancelled, fail, succeed
from stoker.engine.operations.running import Running
from stoker.engine.operations.wanted import wanted_by
from stoker.engine.planning.planner import Planner


class StackChange(Running):
    """One change of a stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._wanted: Definitions = Nothing()
        self._healthy: frozenset[str] = frozenset()
        self._planned: Plan | None = None
        self._execution: Execution | None = None

    async def prepare(self) -> None:
        """Evaluate what is wanted, look at the live objects that it depends on, and plan."""
        self.operation = await cancelled(self._session, self.operation)
        self._wanted = await wanted_by(self._session, self.operation)
        await read_missing(self._session, self._wanted)
        with patient(self._session) as ask:
            self._healthy = await check_failed_and_replaced(self._session, self._wanted, ask)
        if self.operation.status is OperationStatus.WAITING or self.operation.plan is None:
            self._planned = await self._plan()

    async def run(self) -> None:
        """Begin, execute, end. The plan is stored before its first action."""
        if self._planned is not None:
            planned = replace(self.operation, plan=self._planned)
            self.operation = await begin(self._session, planned)
        self._execution = Execution(
            self._session, self.operation, self._wanted, self._healthy, self.waiting
        )
        await self._execution.run()
        if self.waiting.stopped:
            return
        if self.waiting.failed is None:
            await succeed(self._session, self.operation, self._wanted)
        else:
            await fail(self._session, self.operation, self.waiting.failed)

    async def expire(self, reason: str) -> None:
        """The time is up, also for calls under way."""
        self.waiting.expire(reason)
        if self._execution is not None:
            await self._execution.abandon()

    async def _plan(self) -> Plan:
        session, request = self._session, self.operation.request
        batches = request.batches if isinstance(request, ChangeRequest) else Batches()
        planner = Planner(
            tuple(session.rows.values()),
            session.reference_of,
            call_about(session),
            self._healthy,
            batches,
        )
        return await session.ports.workers.compute(lambda: planner.plan(self._wanted))

"""The change of a stack: create, update, delete and rollback bring it to an input, or to nothing.

The plan is made and stored before the first action. A plan that an earlier engine has stored is
continued: execution skips finished nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from stoker.engine.execution.execute import Execution
from stoker.engine.execution.nested.preview_tree import PreviewOptions, foresee_with
from stoker.engine.execution.observe.preparation import call_about, observe, patient, read_missing
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.accepted import changes_in
from stoker.engine.model.kinds import Batches, ChangeRequest
from stoker.engine.model.plans import UNOBSERVED, Definitions, NoDefinitions, Plan
from stoker.engine.model.records import Operation, OperationStatus
from stoker.engine.operations.completion import begin, cancelled, fail, succeed
from stoker.engine.operations.running import Running
from stoker.engine.operations.wanted import restored, wanted_by
from stoker.engine.planning.planner import Planner
from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

_MOST_DEPARTURES = 5
"""Resources that a refusal names."""


class StackChange(Running):
    """One change of a stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._evaluated: Definitions = NoDefinitions()
        self._wanted: Definitions = NoDefinitions()
        """The same, or what a snapshot makes of it."""
        self._observed = UNOBSERVED
        self._planned: Plan | None = None
        self._execution: Execution | None = None

    async def prepare(self) -> None:
        """Evaluate the desired state, read the live objects that it depends on, and plan."""
        self.operation = await cancelled(self._session, self.operation)
        self._evaluated = await wanted_by(self._session, self.operation)
        self._wanted = await restored(self._session, self.operation, self._evaluated)
        await read_missing(self._session, self._wanted)
        with patient(self._session) as ask:
            self._observed = await observe(
                self._session, self._wanted, ask, converge=self.operation.converges
            )
        if self.operation.status is OperationStatus.WAITING or self.operation.plan is None:
            planner = self._planner()
            self._planned = await self._session.ports.workers.compute(
                lambda: planner.plan(self._wanted)
            )
            if self.operation.is_bound:
                await self._require_allowed(self._planned)
            await self._require_accepted(planner)

    async def run(self) -> None:
        """Start, execute, end. The plan is stored before its first action."""
        if self._planned is not None:
            planned = replace(self.operation, plan=self._planned)
            self.operation = await begin(self._session, planned)
        self._execution = Execution(
            self._session, self.operation, self._wanted, self._observed, self.waiting
        )
        await self._execution.run()
        if self.waiting.stopped:
            return
        if self.waiting.failed is None:
            await succeed(self._session, self.operation, self._evaluated)
        else:
            await fail(self._session, self.operation, self.waiting.failed)

    async def expire(self, reason: str) -> None:
        """The time is up, also for calls under way."""
        self.waiting.expire(reason)
        if self._execution is not None:
            await self._execution.abandon()

    async def _require_accepted(self, planner: Planner) -> None:
        """Raise ValidationError if the plan, down the tree, is another than the one that was
        accepted.
        """
        request, wanted = self.operation.request, self._wanted
        accepted = request.accepted if isinstance(request, ChangeRequest) else None
        if accepted is None or not isinstance(wanted, Evaluation):
            return
        assert self.operation.input_id is not None
        given = await self._session.ports.store.input(self.operation.input_id)
        premises = PreviewOptions(converge=self.operation.converges)
        found = await foresee_with(planner, self._session, given, wanted, premises)
        departures = list(accepted.departures(found.decisions))
        if departures:
            # There is nothing to roll back, and the rollback plan was never accepted.
            assert isinstance(request, ChangeRequest)
            self.operation = replace(self.operation, request=replace(request, rollback=False))
            raise ValidationError(
                "nothing was changed, as the accepted plan no longer holds:"
                f" {_told(departures)}. Make a new plan"
            )

    async def _require_allowed(self, plan: Plan) -> None:
        """Raise ValidationError if the policy of the stack does not allow the plan."""
        operation = self.operation
        types = {row.name: row.type_name for row in self._session.current.values()}

        def denied() -> list[str]:
            found = (
                operation.denial(change, name, types.get(name, ""))
                for name, change in changes_in(plan).items()
            )
            return [why for why in found if why is not None]

        if why := await self._session.ports.workers.compute(denied):
            raise ValidationError(f"nothing was changed. {_told(why)}")

    def _planner(self) -> Planner:
        session, request = self._session, self.operation.request
        return Planner(
            tuple(session.rows.values()),
            session.reference_of,
            call_about(session),
            self._observed,
            request.batches if isinstance(request, ChangeRequest) else Batches(),
        )


def _told(reasons: Sequence[str]) -> str:
    more = len(reasons) - _MOST_DEPARTURES
    told = "; ".join(reasons[:_MOST_DEPARTURES])
    return f"{told}; and {more} more" if more > 0 else told

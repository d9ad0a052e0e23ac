"""Brings a stack to an input: create, update, delete, rollback, adopt, restore and abandon.

Takes an operation with a :class:`ChangeRequest` and the recorded rows. Produces the objects, rows
and status that the operation's input describes; without an input, the stack is emptied.

Invariant: the plan is made and stored before the first action, and if the user accepted a plan, it
is the same. A plan that an earlier engine has stored is continued: execution skips finished nodes.

The driver runs it. :mod:`stoker.engine.operations.completion` commits its start and end.
Tested by tests/operations, tests/rollback and tests/operations/test_accepted_plans.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.engine.execution.nested.preview_tree import departures_from
from stoker.engine.execution.observe.importing import (
    NOTHING_IMPORTED,
    give_up_contested,
    prepare_objects,
)
from stoker.engine.execution.observe.preparation import call_about, observe, patient, read_missing
from stoker.engine.execution.session import Session
from stoker.engine.model.accepted import changes_in
from stoker.engine.model.kinds import Batches, ChangeRequest
from stoker.engine.model.plans import UNOBSERVED, Change, Definitions, NoDefinitions, Plan
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource
from stoker.engine.operations.completion import begin, cancelled, fail, succeed
from stoker.engine.operations.desired_state import desired_state_of, restored
from stoker.engine.operations.running import PlannedOperation
from stoker.engine.planning.moves import NO_MOVES, moves_back, moves_to
from stoker.engine.planning.planner import Planner
from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

_MAX_NAMED_RESOURCES = 5  # in the text of one refusal


class StackChange(PlannedOperation):
    """One change of a stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        super().__init__(session, operation)
        self._evaluated: Definitions = NoDefinitions()
        self._desired: Definitions = NoDefinitions()  # with the parts of a snapshot to restore
        self._observed = UNOBSERVED
        self._planned: Plan | None = None
        self._changed: Sequence[Resource] = ()  # moved and imported rows, for the first commit
        self._changes: Sequence[Event] = ()
        self._imported = NOTHING_IMPORTED

    async def prepare(self) -> None:
        """Evaluate the desired state, read the live objects that it depends on, and plan."""
        self.operation = await cancelled(self._session, self.operation)
        self._evaluated = await desired_state_of(self._session, self.operation)
        self._desired = await restored(self._session, self.operation, self._evaluated)
        # Plan only once. A later engine must continue the plan that was stored and shown.
        is_planned = self.operation.status is not OperationStatus.WAITING and self.operation.plan
        moves = NO_MOVES
        if not is_planned:
            moves = await self._session.ports.workers.compute(self._required_moves)
        # Read attributes that only the new template uses. Without values, the plan would treat them
        # as unknown.
        await read_missing(self._session, self._desired, moves)
        before = await self._session.rename(moves)
        try:
            if not is_planned:
                with patient(self._session) as ask:
                    self._imported = await prepare_objects(
                        self._session, self.operation, self._desired, ask
                    )
            await self._plan(before, moves, bool(is_planned))
        except BaseException:
            # Moves and imports are committed with the plan.
            self._imported.undo(self._session)
            self._session.restore(before)
            raise
        if before or self._imported.rows:
            self._note_changes(before, moves)

    def _required_moves(self) -> Mapping[str, str]:
        """Return the new names of rows, by present name. Raises DiagnosticError."""
        request, current = self.operation.request, self._session.current
        assert isinstance(request, ChangeRequest)
        if self.operation.action is Action.ROLLBACK or request.restores:
            return moves_back(self._desired, current, self.operation.input_id)
        return moves_to(self._desired, current, request.moves)

    def _note_changes(self, before: Sequence[Resource], moves: Mapping[str, str]) -> None:
        """Prepare the rows and the events of the first commit."""
        session, imported = self._session, self._imported.rows
        moved = [session.rows[row.id] for row in before]
        shown = [
            replace(now, reason=f"moved from {row.name}; its object stays")
            for row, now in zip(before, moved, strict=True)
            if row.name in moves and row.replaced_by is None
        ]
        self._changed = (*moved, *imported)
        self._changes = tuple(session.transitions.event_of(row) for row in (*shown, *imported))

    async def _plan(
        self, before: Sequence[Resource], moves: Mapping[str, str], is_planned: bool
    ) -> None:
        """Read the live objects, and plan unless an earlier engine has planned already.

        ``before`` are the rows that ``moves`` change, as they were.
        """
        with patient(self._session) as ask:
            self._observed = await observe(
                self._session, self._desired, ask, converge=self.operation.converges
            )
        if not is_planned:
            planner = self._planner()
            await self._session.ports.workers.compute(lambda: self._decide(planner))
            assert self._planned is not None
            if self.operation.is_bound:
                moved = [row for row in before if row.name in moves]
                await self._require_allowed(self._planned, moved)
            await self._require_accepted(planner)

    def _decide(self, planner: Planner) -> None:
        decisions = planner.decide(self._desired)
        self._planned = planner.plan_by(decisions, self._desired)
        self._session.unchanged = planner.unchanged_by(decisions, self._desired)

    async def run(self) -> None:
        """Start, execute, end. The plan is stored before its first action."""
        if self._planned is not None:
            planned = replace(self.operation, plan=self._planned)
            self.operation = await begin(self._session, planned, self._changed, self._changes)
        contested = await give_up_contested(self._session, self.operation)
        if contested is not None:
            await fail(self._session, self.operation, contested)
            return
        await self._execute(self._desired, self._observed)
        if self.waiting.stopped:
            return
        if self.waiting.failed is None:
            await succeed(self._session, self.operation, self._evaluated)
        else:
            await fail(self._session, self.operation, self.waiting.failed)

    async def _require_accepted(self, planner: Planner) -> None:
        """Raise ValidationError if the plan of the tree differs from the accepted one."""
        request, desired = self.operation.request, self._desired
        accepted = request.accepted if isinstance(request, ChangeRequest) else None
        if accepted is None or not isinstance(desired, Evaluation):
            return
        assert self.operation.input_id is not None
        input_ = await self._session.ports.store.input(self.operation.input_id)
        converge = self.operation.converges
        departures = await departures_from(
            accepted, planner, self._session, input_, desired, converge=converge
        )
        if departures:
            # There is nothing to roll back, and the rollback plan was never accepted.
            assert isinstance(request, ChangeRequest)
            self.operation = replace(self.operation, request=replace(request, rollback=False))
            raise ValidationError(
                "nothing was changed, as the accepted plan no longer holds:"
                f" {_shortened(departures)}. Make a new plan"
            )

    async def _require_allowed(self, plan: Plan, moved: Sequence[Resource]) -> None:
        """Raise ValidationError if the policy of the stack does not allow the plan.

        A move takes a resource out of the statements about its name, so it needs the right to
        modify the resource of that name.
        """
        operation = self.operation
        types = {row.name: row.type_name for row in self._session.current.values()}

        def denied() -> list[str]:
            denials = [
                operation.denial(change, name, types.get(name, ""))
                for name, change in changes_in(plan).items()
            ]
            denials += [operation.denial(Change.UPDATE, row.name, row.type_name) for row in moved]
            return [denial for denial in denials if denial is not None]

        if reasons := await self._session.ports.workers.compute(denied):
            raise ValidationError(f"nothing was changed. {_shortened(reasons)}")

    def _planner(self) -> Planner:
        session, request = self._session, self.operation.request
        settled = session.settled
        return Planner(
            tuple(session.rows.values()),
            session.reference_of,
            call_about(session),
            self._observed,
            request.batches if isinstance(request, ChangeRequest) else Batches(),
            None if settled is None else settled.unchanged,
            verification=session.ports.verification,
        )


def _shortened(reasons: Sequence[str]) -> str:
    more = len(reasons) - _MAX_NAMED_RESOURCES
    named = "; ".join(reasons[:_MAX_NAMED_RESOURCES])
    return f"{named}; and {more} more" if more > 0 else named

"""Makes plans: compares evaluated definitions with recorded rows, and decides nothing twice.

:func:`decide` says what, :mod:`ordering` says when. A preview stops here. A delete is the plan
against no definitions at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from stoker.engine.model.kinds import Batches
from stoker.engine.model.plans import (
    PAUSE,
    UNOBSERVED,
    Change,
    Definitions,
    Direction,
    Node,
    Observed,
    OnFailure,
    Phase,
    Plan,
    Reason,
    Step,
    defined,
)
from stoker.engine.model.records import Resource
from stoker.engine.planning.decision import NEW, CallFor, Choice, Decision, choose, replaced_rows
from stoker.engine.planning.facts import RecordedFacts, ReferenceOf
from stoker.engine.planning.ordering import applied_dependencies, recorded_dependencies
from stoker.kernel.graph import dependencies_first
from stoker.kernel.values import replace


class Planner(Struct, frozen=True):
    """Makes plans for one stack from its rows."""

    rows: tuple[Resource, ...]
    reference_of: ReferenceOf
    call_for: CallFor
    observed: Observed = UNOBSERVED
    batches: Batches = field(default_factory=Batches)
    to_be: Mapping[str, Resource] = field(default_factory=dict)
    """Rows of nested stacks that are updated, with what they will show, as far as it is known."""

    def plan(self, wanted: Definitions) -> Plan:
        """The plan that brings the rows to the definitions.

        Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
        """
        current = {row.name: row for row in self.rows if row.replaced_by is None}
        decisions = self._decisions(wanted, current)
        going = [row for row in self.rows if _may_go(row, decisions)]
        phases = (
            Phase(
                Step.APPLY,
                Direction.DEPENDENCIES_FIRST,
                OnFailure.STOP,
                tuple(self._applied(wanted, current, _to_apply(decisions, wanted))),
            ),
            _removal(_removed(going, decisions)),
        )
        return Plan(phases, self.batches.pause)

    def _applied(
        self,
        wanted: Definitions,
        current: Mapping[str, Resource],
        applied: Mapping[str, Decision],
    ) -> Iterator[Node]:
        dependencies = {name: wanted.dependencies[name] for name in applied}
        for key, first in applied_dependencies(dependencies, self.batches).items():
            if key.startswith(PAUSE):
                yield Node(key, "", Change.PAUSE, first, Reason.BATCH)
                continue
            decision = applied[key]
            yield Node(
                key,
                key,
                decision.change,
                first,
                decision.reason,
                tuple(sorted(decision.changed)),
                tuple(sorted(decision.forcing)),
                current[key].id if key in current else None,
                decision.keeps_object,
            )

    def _decisions(
        self, wanted: Definitions, current: Mapping[str, Resource]
    ) -> dict[str, Decision]:
        decisions: dict[str, Decision] = {}

        def vague(name: str) -> bool:
            return name in decisions and _may_be_another(decisions[name])

        def unsettled(name: str) -> bool:
            if name in self.to_be:
                return False
            return name in decisions and decisions[name].change is not Change.KEEP

        facts = RecordedFacts({**current, **self.to_be}, self.reference_of, vague, unsettled)
        replaced = replaced_rows(self.rows)
        for name in dependencies_first(wanted.dependencies):
            row = current.get(name)
            if row is None:
                decisions[name] = NEW
                continue
            choice = choose(
                row,
                replaced.get(name, ()),
                defined(wanted, name, facts),
                self.call_for,
                self.observed,
            )
            decisions[name] = _planned(row, choice)
        return decisions


def _may_be_another(decision: Decision) -> bool:
    """Return whether the resource has another object afterwards, or may have."""
    return decision.change not in (Change.KEEP, Change.UPDATE) and not decision.keeps_object


def left_over(plan: Plan, rows: Iterable[Resource]) -> Phase:
    """The removal of rows that were replaced though the plan does not have it.

    A create may fail, and its engine die before the operation has failed of it: the one that goes
    on with the plan makes the object again, in another row.
    """
    foreseen = {node.key for phase in plan.phases for node in phase.nodes}
    going = [row for row in rows if row.replaced_by is not None and row.id not in foreseen]
    return _removal(_removed(going, {row.name: NEW for row in going}))


def _removal(nodes: Iterable[Node]) -> Phase:
    return Phase(Step.REMOVE, Direction.DEPENDENTS_FIRST, OnFailure.GO_ON, tuple(nodes))


def _planned(current: Resource, choice: Choice) -> Decision:
    if choice.row is current:
        return choice.decision
    return Decision(Change.TAKE_UP, Reason.RESTORED, choice.decision.changed)


def _to_apply(decisions: Mapping[str, Decision], wanted: Definitions) -> dict[str, Decision]:
    """The decisions that need a node.

    Those are the changes, unchanged resources whose dependencies may change, and resources with a
    hook before updates, even if they are unchanged.
    """
    shifting = {name for name, decision in decisions.items() if _may_be_another(decision)}
    found = {}
    for name in wanted.names:
        decision = decisions[name]
        if decision.change is Change.KEEP:
            if not shifting.isdisjoint(wanted.dependencies[name]):
                decision = replace(decision, reason=Reason.DEPENDENCY)
            elif "pre-update" in wanted.hooks_of(name):
                decision = replace(decision, reason=Reason.HOOK)
            else:
                continue
        found[name] = decision
    return found


def _removed(going: Iterable[Resource], decisions: Mapping[str, Decision]) -> Iterator[Node]:
    names = {row.id: row.name for row in going}
    for row_id, dependencies in recorded_dependencies(going).items():
        reason = Reason.REPLACED if names[row_id] in decisions else Reason.NOT_WANTED
        yield Node(row_id, names[row_id], Change.REMOVE, dependencies, reason, row_id=row_id)


def _may_go(row: Resource, decisions: Mapping[str, Decision]) -> bool:
    """Return whether the row leaves, or may have to leave once an unknown value has arrived."""
    if row.replaced_by is not None or row.name not in decisions:
        return True
    changes = (Change.REPLACE, Change.TAKE_UP, Change.LATER, Change.UPDATE)
    return decisions[row.name].change in changes

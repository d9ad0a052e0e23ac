"""Makes plans: compares evaluated definitions with recorded rows.

Takes the rows of a stack, the desired definitions and, for a converging update, facts about live
objects. Produces a :class:`Plan`: first the resources to apply, then the rows to remove, each
with the reason of its decision. :func:`choose` makes the decisions, :mod:`ordering` the order.

Invariant: planning writes nothing and calls no cloud, so a preview and an operation make the same
plan from the same facts. A decision that needs a missing value is LATER; execution makes it with
the same function when the value exists.

Operations and previews call it, on a thread. A delete is the plan for no definitions at all.
Tested by tests/ordering, tests/operations/test_plans_come_true.py and test_previews.py.
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
    # In previews: rows of nested stacks to update, with the known part of their future attributes.
    to_be: Mapping[str, Resource] = field(default_factory=dict)

    def plan(self, desired: Definitions) -> Plan:
        """Return the plan that brings the rows to the definitions.

        Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
        """
        current = {row.name: row for row in self.rows if row.replaced_by is None}
        decisions = self._decisions(desired, current)
        removable = [row for row in self.rows if _may_be_removed(row, decisions)]
        phases = (
            Phase(
                Step.APPLY,
                Direction.DEPENDENCIES_FIRST,
                OnFailure.STOP,
                tuple(self._applied(desired, current, _to_apply(decisions, desired))),
            ),
            _removal(_removed(removable, decisions)),
        )
        return Plan(phases, self.batches.pause)

    def _applied(
        self,
        desired: Definitions,
        current: Mapping[str, Resource],
        applied: Mapping[str, Decision],
    ) -> Iterator[Node]:
        dependencies = {name: desired.dependencies[name] for name in applied}
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
        self, desired: Definitions, current: Mapping[str, Resource]
    ) -> dict[str, Decision]:
        decisions: dict[str, Decision] = {}

        def may_be_replaced(name: str) -> bool:
            return name in decisions and _may_replace_object(decisions[name])

        def may_change(name: str) -> bool:
            if name in self.to_be:
                return False
            return name in decisions and decisions[name].change is not Change.KEEP

        facts = RecordedFacts(
            {**current, **self.to_be}, self.reference_of, may_be_replaced, may_change
        )
        replaced = replaced_rows(self.rows)
        # Decide dependencies first. Whether a value is unknown depends on the decision about the
        # resource that it comes from.
        for name in dependencies_first(desired.dependencies):
            row = current.get(name)
            if row is None:
                decisions[name] = NEW
                continue
            choice = choose(
                row,
                replaced.get(name, ()),
                defined(desired, name, facts),
                self.call_for,
                self.observed,
            )
            decisions[name] = _planned(row, choice)
        return decisions


def _may_replace_object(decision: Decision) -> bool:
    """Return whether the resource may have a new object afterwards."""
    return decision.change not in (Change.KEEP, Change.UPDATE) and not decision.keeps_object


def left_over(plan: Plan, rows: Iterable[Resource]) -> Phase:
    """Return the removal of replaced rows that the plan does not contain.

    If an engine dies after a failed create, before the operation has failed, the next engine
    continues the plan and creates the object again, in another row.
    """
    planned = {node.key for phase in plan.phases for node in phase.nodes}
    left = [row for row in rows if row.replaced_by is not None and row.id not in planned]
    return _removal(_removed(left, {row.name: NEW for row in left}))


def _removal(nodes: Iterable[Node]) -> Phase:
    # A failed delete keeps only the rows that the failed one depends on.
    return Phase(Step.REMOVE, Direction.DEPENDENTS_FIRST, OnFailure.GO_ON, tuple(nodes))


def _planned(current: Resource, choice: Choice) -> Decision:
    if choice.row is current:
        return choice.decision
    # An earlier object fits better than the current one, as in the rollback of a replacement.
    return Decision(Change.REINSTATE, Reason.RESTORED, choice.decision.changed)


def _to_apply(decisions: Mapping[str, Decision], desired: Definitions) -> dict[str, Decision]:
    """Return the decisions that need a node.

    Those are the changes, unchanged resources whose dependencies may be replaced, and resources
    with a hook before updates, even if they are unchanged.
    """
    moving = {name for name, decision in decisions.items() if _may_replace_object(decision)}
    found = {}
    for name in desired.names:
        decision = decisions[name]
        if decision.change is Change.KEEP:
            if not moving.isdisjoint(desired.dependencies[name]):
                decision = replace(decision, reason=Reason.DEPENDENCY)
            elif "pre-update" in desired.hooks_of(name):
                decision = replace(decision, reason=Reason.HOOK)
            else:
                continue
        found[name] = decision
    return found


def _removed(rows: Iterable[Resource], decisions: Mapping[str, Decision]) -> Iterator[Node]:
    names = {row.id: row.name for row in rows}
    for row_id, dependencies in recorded_dependencies(rows).items():
        reason = Reason.REPLACED if names[row_id] in decisions else Reason.NOT_WANTED
        yield Node(row_id, names[row_id], Change.REMOVE, dependencies, reason, row_id=row_id)


def _may_be_removed(row: Resource, decisions: Mapping[str, Decision]) -> bool:
    """Return whether the row is removed, or may have to be once an unknown value exists."""
    if row.replaced_by is not None or row.name not in decisions:
        return True
    # An update may become a replacement: execution decides again, by the facts of that moment.
    changes = (Change.REPLACE, Change.REINSTATE, Change.LATER, Change.UPDATE)
    return decisions[row.name].change in changes

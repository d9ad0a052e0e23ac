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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from weakref import ref

from msgspec import Struct, field

from stoker.engine.model.interfaces import Unchanged, Verification
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
from stoker.engine.planning.decision import (
    KEEP,
    NEW,
    CallFor,
    Choice,
    Decision,
    choose,
    replaced_rows,
)
from stoker.engine.planning.facts import RecordedFacts, ReferenceOf
from stoker.engine.planning.ordering import applied_dependencies, recorded_dependencies
from stoker.engine.planning.verification import verified_decisions
from stoker.kernel.graph import dependencies_first
from stoker.kernel.values import replace
from stoker.template.definition import Dependencies
from stoker.template.evaluate.evaluation import Evaluation


class Planner(Struct, frozen=True):
    """Makes plans for one stack from its rows."""

    rows: tuple[Resource, ...]
    reference_of: ReferenceOf
    call_for: CallFor
    observed: Observed = UNOBSERVED
    batches: Batches = field(default_factory=Batches)
    # Resources that need no decision, if they are the same as in an earlier plan.
    unchanged: Unchanged | None = None
    verification: Verification | None = None
    # In previews: rows of nested stacks to update, with the known part of their future attributes.
    to_be: Mapping[str, Resource] = field(default_factory=dict)

    def plan(self, desired: Definitions) -> Plan:
        """Return the plan that brings the rows to the definitions.

        Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
        """
        return self.plan_by(self.decide(desired), desired)

    def decide(self, desired: Definitions) -> Mapping[str, Decision]:
        """Return the decision about each desired resource. Raises as :meth:`plan`."""
        found = self._decisions(desired, self._current)
        if self.verification is None or self.unchanged is None:
            return found
        anew = replace(self, unchanged=None, verification=None)
        stack_id = self.rows[0].stack_id if self.rows else ""
        return verified_decisions(self.verification, stack_id, found, lambda: anew.decide(desired))

    @property
    def _current(self) -> dict[str, Resource]:
        return {row.name: row for row in self.rows if row.replaced_by is None}

    def plan_by(self, decisions: Mapping[str, Decision], desired: Definitions) -> Plan:
        """Return the plan for decisions."""
        current = self._current
        removable = [
            row
            for row in self.rows
            if (decisions.get(row.name) is not KEEP or row.replaced_by is not None)
            and _may_be_removed(row, decisions)
        ]
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
        spared = self._spared(desired, current, replaced)
        # Decide dependencies first. Whether a value is unknown depends on the decision about the
        # resource that it comes from.
        for name in _order(desired.dependencies):
            if name in spared and spared.issuperset(desired.dependencies[name]):
                decisions[name] = KEEP
                continue
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
            if decisions[name] is not KEEP:
                spared.discard(name)
        return decisions

    def _spared(
        self,
        desired: Definitions,
        current: Mapping[str, Resource],
        replaced: Mapping[str, Sequence[Resource]],
    ) -> set[str]:
        """Return the resources that need no decision if their dependencies need none either."""
        known = self.unchanged
        before = None if known is None else known.evaluation()
        if known is None or before is None or self.to_be or not isinstance(desired, Evaluation):
            return set()
        analyses, dependencies = desired.analyses, desired.dependencies
        has_same_graph = dependencies is before.dependencies
        observed = self.observed.gone.union(self.observed.drifted)
        return {
            name
            for name, row in known.rows.items()
            if current.get(name) is row
            and (analysis := analyses.get(name)) is before.analyses.get(name)
            and analysis is not None
            and not analysis.reads_others
            and (has_same_graph or dependencies.get(name) == before.dependencies.get(name))
            and row.id not in observed
            and name not in replaced
        }

    def unchanged_by(
        self, decisions: Mapping[str, Decision], desired: Definitions
    ) -> Unchanged | None:
        """Return the resources that the decisions leave as they are."""
        if not isinstance(desired, Evaluation):
            return None
        current = self._current
        rows = {name: current[name] for name, choice in decisions.items() if choice is KEEP}
        return Unchanged(rows, ref(desired))


def _may_replace_object(decision: Decision) -> bool:
    """Return whether the resource may have a new object afterwards."""
    return decision.change not in (Change.KEEP, Change.UPDATE) and not decision.keeps_object


def _order(dependencies: Mapping[str, frozenset[str]]) -> Sequence[str]:
    if isinstance(dependencies, Dependencies):
        return dependencies.order
    return dependencies_first(dependencies)


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
    moving = {
        name
        for name, decision in decisions.items()
        if decision is not KEEP and _may_replace_object(decision)
    }
    has_hooks, found = desired.has_hooks, {}
    for name in desired.names:
        decision = decisions[name]
        if decision.change is Change.KEEP:
            if not (moving or has_hooks):
                continue
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

"""Makes plans: compares evaluated definitions with recorded rows, and decides nothing twice.

:func:`decide` says what, :mod:`ordering` says when. A preview stops here. A delete is the plan
against no definitions at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stoker.engine.model.plans import PAUSE, Batches, Change, Definitions, Node, Plan, defined
from stoker.engine.model.records import Resource
from stoker.engine.planning.decision import CallFor, Choice, Decision, choose, replaced_rows
from stoker.engine.planning.facts import RecordedFacts, ReferenceOf
from stoker.engine.planning.ordering import apply_order, remove_order
from stoker.kernel.graph import needs_first


@dataclass(frozen=True, slots=True)
class Planner:
    """Makes plans for one stack from its rows."""

    rows: tuple[Resource, ...]
    reference_of: ReferenceOf
    call_for: CallFor
    usable: frozenset[str] = frozenset()
    """Ids of rows that have failed, or were replaced, and whose objects are fine."""
    batches: Batches = field(default_factory=Batches)

    def plan(self, wanted: Definitions) -> Plan:
        """The plan that brings the rows to the definitions.

        Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
        """
        current = {row.name: row for row in self.rows if row.replaced_by is None}
        decisions = self._decisions(wanted, current)
        needs = {name: wanted.needs[name] for name in _to_apply(decisions, wanted)}
        applied = tuple(
            Node(key, "", Change.PAUSE, first)
            if key.startswith(PAUSE)
            else Node(
                key,
                key,
                decisions[key].change,
                first,
                tuple(sorted(decisions[key].changed)),
                current[key].id if key in current else None,
            )
            for key, first in apply_order(needs, self.batches).items()
        )
        going = {row.id: row for row in self.rows if _may_go(row, decisions)}
        removed = tuple(
            Node(row_id, going[row_id].name, Change.REMOVE, first, (), row_id)
            for row_id, first in remove_order(going.values()).items()
        )
        return Plan(applied, removed, self.batches.pause)

    def _decisions(
        self, wanted: Definitions, current: Mapping[str, Resource]
    ) -> dict[str, Decision]:
        decisions: dict[str, Decision] = {}

        def vague(name: str) -> bool:
            return name in decisions and decisions[name].change not in (Change.KEEP, Change.UPDATE)

        def unsettled(name: str) -> bool:
            return name in decisions and decisions[name].change is not Change.KEEP

        facts = RecordedFacts(current, self.reference_of, vague, unsettled)
        replaced = replaced_rows(self.rows)
        for name in needs_first(wanted.needs):
            row = current.get(name)
            if row is None:
                decisions[name] = Decision(Change.CREATE)
                continue
            choice = choose(
                row,
                replaced.get(name, ()),
                defined(wanted, name, facts),
                self.call_for,
                self.usable,
            )
            decisions[name] = _planned(row, choice)
        return decisions


def _planned(current: Resource, choice: Choice) -> Decision:
    if choice.row is current:
        return choice.decision
    return Decision(Change.TAKE_UP, choice.decision.changed)


def _to_apply(decisions: Mapping[str, Decision], wanted: Definitions) -> Iterable[str]:
    """The names that need a node.

    Those are the ones that change, those whose ground may become another, and those that stop at a
    hook before an update, even one that leaves them as they are.
    """
    for name in wanted.names:
        if (
            decisions[name].change is not Change.KEEP
            or any(
                decisions[need].change not in (Change.KEEP, Change.UPDATE)
                for need in wanted.needs[name]
            )
            or "pre-update" in wanted.hooks_of(name)
        ):
            yield name


def _may_go(row: Resource, decisions: Mapping[str, Decision]) -> bool:
    """Whether the row leaves, or may have to leave once an unknown value has arrived."""
    if row.replaced_by is not None or row.name not in decisions:
        return True
    changes = (Change.REPLACE, Change.TAKE_UP, Change.LATER, Change.UPDATE)
    return decisions[row.name].change in changes

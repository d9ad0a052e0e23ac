"""The plan: a graph of actions on single resources, as data.

Making one compares the evaluated definitions with the recorded rows and decides nothing twice:
:func:`decide` says what, :mod:`ordering` says when. A preview
stops here. A delete is the plan against no definitions at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from stoker.engine.model.records import Resource
from stoker.engine.planning.decision import CallFor, Change, Choice, Decision, choose
from stoker.engine.planning.facts import RecordedFacts, ReferenceOf
from stoker.engine.planning.ordering import PAUSE, Batches, apply_order, remove_order
from stoker.kernel.graph import needs_first
from stoker.template.definition import Definition, Facts


@dataclass(frozen=True, slots=True)
class Node:
    """One action: on a name when applying, on a row when removing; or a pause."""

    key: str
    """The resource's name when applying, the row's id when removing; a pause has its own."""
    name: str
    change: Change
    first: frozenset[str]
    """Keys of the nodes of the same phase that come first."""
    changed: tuple[str, ...] = ()
    row_id: str | None = None
    """The row as it was when the plan was made."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All actions of an operation: first ``applied``, then ``removed``."""

    applied: tuple[Node, ...] = ()
    removed: tuple[Node, ...] = ()
    pause: float = 0.0
    """Seconds that each pause lasts."""

    def as_data(self) -> dict[str, Any]:
        """The plan in the form in which it is stored."""
        return {
            "applied": _data(self.applied),
            "removed": _data(self.removed),
            "pause": self.pause,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that was stored."""
        return cls(_nodes(data["applied"]), _nodes(data["removed"]), data["pause"])


def _data(nodes: Iterable[Node]) -> list[list[Any]]:
    return [
        [n.key, n.name, n.change.value, sorted(n.first), list(n.changed), n.row_id] for n in nodes
    ]


def _nodes(data: Iterable[list[Any]]) -> tuple[Node, ...]:
    return tuple(Node(k, n, Change(c), frozenset(f), tuple(p), r) for k, n, c, f, p, r in data)


class Definitions(Protocol):
    """What the engine needs of an evaluation."""

    @property
    def names(self) -> tuple[str, ...]:
        """The resources that the template wants."""

    @property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """What each of them needs."""

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """One definition with what is known now; a light one is little work, or TooMuch."""

    @property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """The attributes of each resource that somebody refers to."""

    def hooks_of(self, name: str) -> frozenset[str]:
        """The hooks at which one of them stops."""


class Nothing:
    """The empty template: what a delete wants."""

    names: tuple[str, ...] = ()
    needs: Mapping[str, frozenset[str]] = {}
    attributes_used: Mapping[str, frozenset[str]] = {}

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """There is none. Raises KeyError."""
        raise KeyError(name)

    def hooks_of(self, name: str) -> frozenset[str]:
        """There are none."""
        return frozenset()


def defined(wanted: Definitions, name: str, facts: Facts, *, light: bool = False) -> Definition:
    """One definition, with all that it needs, hidden dependencies included.

    A light one is little work, or raises :class:`stoker.template.definition.TooMuch`.
    """
    definition, needs = wanted.definition(name, facts, light=light), wanted.needs[name]
    return definition if definition.needs == needs else replace(definition, needs=needs)


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


def replaced_rows(rows: Iterable[Resource]) -> dict[str, list[Resource]]:
    """Rows that others have taken the place of, by name; the newest first."""
    found: dict[str, list[Resource]] = {}
    for row in rows:
        if row.replaced_by is not None:
            found.setdefault(row.name, []).append(row)
    for generations in found.values():
        generations.sort(key=lambda row: row.created_at, reverse=True)
    return found


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

"""What an operation wants, and the plan that brings a stack there: a graph of actions, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from stoker.template.definition import Definition, Facts


class Change(StrEnum):
    """What happens to a resource."""

    CREATE = "create"
    CONTINUE = "continue"
    """An earlier operation has begun just this; it goes on."""
    UPDATE = "update"
    REPLACE = "replace"
    TAKE_UP = "take up"
    """An object that was replaced is still there, and fits: it takes its place again."""
    KEEP = "keep"
    LATER = "later"
    """It depends on a value that does not exist yet."""
    REMOVE = "remove"
    PAUSE = "pause"
    """Nothing happens for a while, between two batches."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Resources that are applied batch after batch, and the seconds between two batches."""

    names: Sequence[Sequence[str]] = ()
    pause: float = 0.0

    def as_data(self) -> dict[str, Any]:
        """The batches in the form in which they are stored."""
        return {"names": [list(batch) for batch in self.names], "pause": self.pause}

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None) -> Batches:
        """The batches that were stored; none if there is nothing."""
        return cls() if data is None else cls(data["names"], data["pause"])


PAUSE = "/pause/"
"""Begins the keys of pauses; no resource is named so."""


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

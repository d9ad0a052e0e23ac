"""The desired state of an operation, and its plan: a graph of actions, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from graphlib import TopologicalSorter
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.kernel.values import replace
from stoker.schema.drift import Difference
from stoker.template.definition import Definition, Facts


class Change(StrEnum):
    """The change of a resource."""

    CREATE = "create"
    CONTINUE = "continue"
    """An earlier operation has started the same change; it continues."""
    UPDATE = "update"
    REPLACE = "replace"
    TAKE_UP = "take up"
    """An object that was replaced is still there, and fits: it takes its place again."""
    KEEP = "keep"
    LATER = "later"
    """It depends on a value that does not exist yet."""
    REMOVE = "remove"
    VISIT = "visit"
    """The operation's own action is done to it: it is suspended, resumed, checked."""
    PAUSE = "pause"
    """Nothing happens for a while, between two batches."""


class Reason(StrEnum):
    """The reason of a change: kept with every decision, for plans, previews and reports."""

    NEW = "new"
    """It does not exist yet."""
    PROPERTY = "property"
    """Properties differ."""
    TYPE_DECIDES = "type decides"
    """The type says that this change of properties needs a new object, or an update without one."""
    SETTINGS = "settings"
    """Something besides the properties differs: metadata, policies, dependencies."""
    TYPE = "type"
    """Another type now manages the object."""
    UNHEALTHY = "unhealthy"
    """A user has marked it."""
    FAILED = "failed"
    """Its last action failed, and the object is of no use."""
    GONE = "gone"
    """Its object was deleted outside the stack."""
    DRIFT = "drift"
    """Its object was changed outside the stack."""
    DELETED = "deleted"
    """The object is gone, or its delete has started."""
    UNFINISHED = "unfinished"
    """An action on it was cut off."""
    UNKNOWN = "unknown"
    """It refers to a value that does not exist yet."""
    NESTED = "nested"
    """Something may change inside its nested stack."""
    RESTORED = "restored"
    """An earlier object of the resource is still there, and fits."""
    SNAPSHOT = "snapshot"
    """It gets back what a snapshot holds of it."""
    EXTERNAL = "external"
    """It refers to an object that is not the stack's."""
    DEPENDENCY = "dependency"
    """What it was built on may become another object."""
    HOOK = "hook"
    """A user wants it to stop here."""
    BATCH = "batch"
    """Batches keep a distance."""
    NOT_WANTED = "not wanted"
    """The template does not have it any more."""
    REPLACED = "replaced"
    """Another object has, or may have, taken its place."""
    SAME = "same"
    """Nothing differs."""
    ASKED = "asked"
    """A user asks for it, of the whole stack."""


PAUSE = "/pause/"
"""Prefix of the keys of pauses; no resource has such a name."""


class Step(StrEnum):
    """The action of a phase on each of its nodes."""

    APPLY = "apply"
    """Bring the resource of a name to its definition."""
    REMOVE = "remove"
    """Take a row and its object away."""
    VISIT = "visit"
    """Do the operation's action to a row that stays what it is."""


class Direction(StrEnum):
    """The order of a phase by the dependencies of its nodes."""

    DEPENDENCIES_FIRST = "dependencies first"
    DEPENDENTS_FIRST = "dependents first"


class OnFailure(StrEnum):
    """The reaction of a phase to a failed node. Later phases do not start."""

    STOP = "stop"
    """Start nothing more."""
    GO_ON = "go on"
    """Start what does not hang on it."""
    GATHER = "gather"
    """As GO_ON, and without haste: the operation has failed once everything has ended."""


class Node(Struct, frozen=True):
    """One action: on a name, on a row; or a pause."""

    key: str
    """The resource's name when applying, the row's id else; a pause has its own."""
    name: str
    change: Change
    dependencies: frozenset[str]
    """Keys of the nodes of the same phase that it depends on."""
    reason: Reason
    changed: tuple[str, ...] = ()
    """Properties that differ."""
    forcing: tuple[str, ...] = ()
    """Those of them that cannot be changed in place."""
    row_id: str | None = None
    """The row as it was when the plan was made."""
    keeps_object: bool = False
    """The change is not known yet, but can only be made in place. Not stored: execution decides."""


class Phase(Struct, frozen=True):
    """Actions of one sort. The next phase starts when all of them are done."""

    step: Step
    direction: Direction
    on_failure: OnFailure
    nodes: tuple[Node, ...]

    def sorter(self) -> TopologicalSorter[str]:
        """Gives the keys of the nodes as they become ready, in the same order in any process."""
        sorter: TopologicalSorter[str] = TopologicalSorter({node.key: () for node in self.nodes})
        for node in self.nodes:
            if self.direction is Direction.DEPENDENCIES_FIRST:
                sorter.add(node.key, *node.dependencies)
            else:
                for need in sorted(node.dependencies):
                    sorter.add(need, node.key)
        sorter.prepare()
        return sorter


class Plan(Struct, frozen=True):
    """All actions of an operation, phase after phase."""

    phases: tuple[Phase, ...] = ()
    pause: float = 0.0
    """Seconds that each pause lasts."""

    def nodes(self, step: Step) -> Iterator[Node]:
        """Yield all nodes with this action."""
        return (node for phase in self.phases if phase.step is step for node in phase.nodes)

    def as_data(self) -> dict[str, Any]:
        """The plan in the form in which it is stored."""
        phases = [
            [p.step, p.direction, p.on_failure, [_node_data(node) for node in p.nodes]]
            for p in self.phases
        ]
        return {"phases": phases, "pause": self.pause}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Plan:
        """The plan that was stored."""
        return cls(
            tuple(
                Phase(Step(step), Direction(direction), OnFailure(policy), tuple(map(_node, nodes)))
                for step, direction, policy, nodes in data["phases"]
            ),
            data["pause"],
        )


def _node_data(node: Node) -> list[Any]:
    return [
        node.key,
        node.name,
        node.change,
        sorted(node.dependencies),
        node.reason,
        node.changed,
        node.forcing,
        node.row_id,
    ]


def _node(data: Sequence[Any]) -> Node:
    key, name, change, dependencies, reason, changed, forcing, row_id = data
    return Node(
        key,
        name,
        Change(change),
        frozenset(dependencies),
        Reason(reason),
        tuple(changed),
        tuple(forcing),
        row_id,
    )


Drift = Mapping[str, Difference]
"""What others have changed of an object, by property."""


class Observed(Struct, frozen=True):
    """Facts about the objects of rows, by the ids of these."""

    healthy: frozenset[str] = frozenset()
    """Rows that have failed, or were replaced, and whose objects are fine."""
    gone: frozenset[str] = frozenset()
    """Rows whose objects others have deleted."""
    drifted: Mapping[str, Drift] = field(default_factory=dict)
    """Properties that others have changed on the objects, and that can be set back in place."""


UNOBSERVED = Observed()
"""No object was read."""


class Definitions(Protocol):
    """The engine's view of an evaluation."""

    @property
    def names(self) -> tuple[str, ...]:
        """The resources that the template wants."""

    @property
    def dependencies(self) -> Mapping[str, frozenset[str]]:
        """The dependencies of each of them."""

    @property
    def type_names(self) -> Mapping[str, str]:
        """The type name of each in the template."""

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Return one definition with the present facts; a light one is little work, or
        TooMuchWorkError.
        """

    @property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """The attributes of each resource that the template refers to."""

    def hooks_of(self, name: str) -> frozenset[str]:
        """The hooks at which one of them stops."""


class NoDefinitions:
    """The empty template: the desired state of a delete."""

    names: tuple[str, ...] = ()
    dependencies: Mapping[str, frozenset[str]] = {}
    type_names: Mapping[str, str] = {}
    attributes_used: Mapping[str, frozenset[str]] = {}

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """There is none. Raises KeyError."""
        raise KeyError(name)

    def hooks_of(self, name: str) -> frozenset[str]:
        """There are none."""
        return frozenset()


def defined(wanted: Definitions, name: str, facts: Facts, *, light: bool = False) -> Definition:
    """One definition, with all that it needs, hidden dependencies included.

    A light one is little work, or raises :class:`stoker.template.definition.TooMuchWorkError`.
    """
    definition, dependencies = (
        wanted.definition(name, facts, light=light),
        wanted.dependencies[name],
    )
    return (
        definition
        if definition.dependencies == dependencies
        else replace(definition, dependencies=dependencies)
    )

"""The desired state of an operation, and its plan: a graph of actions, as data.

:class:`Definitions` is the engine's view of an evaluated template. :class:`Plan` is a list of
phases, each with a graph of nodes; the planner makes it, the store keeps it, execution walks it.
Its stored form must stay readable: another engine, perhaps of the next release, continues it.

Tested by tests/ordering and tests/operations/test_plans_come_true.py.
"""

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
    CONTINUE = "continue"  # an earlier operation has started the same change
    UPDATE = "update"
    REPLACE = "replace"
    REINSTATE = "take up"  # a replaced object that still exists is reinstated
    KEEP = "keep"
    LATER = "later"  # depends on a value that does not exist yet
    REMOVE = "remove"
    VISIT = "visit"  # do the action of a walk: suspend, resume, check, snapshot
    PAUSE = "pause"  # wait between two batches


class Reason(StrEnum):
    """The reason of a change: kept with every decision, for plans, previews and reports."""

    NEW = "new"  # does not exist yet
    PROPERTY = "property"  # properties differ
    TYPE_DECIDES = "type decides"  # the type requires a new object, or an update without a change
    SETTINGS = "settings"  # metadata, policies or dependencies differ
    TYPE = "type"  # another type now manages the object
    UNHEALTHY = "unhealthy"  # marked by a user
    FAILED = "failed"  # the last action failed, and left no healthy object
    GONE = "gone"  # deleted outside the stack
    DRIFT = "drift"  # changed outside the stack
    DELETED = "deleted"  # the delete of the object has started
    UNFINISHED = "unfinished"  # an action was interrupted
    UNKNOWN = "unknown"  # refers to a value that does not exist yet
    NESTED = "nested"  # something may change inside the nested stack
    RESTORED = "restored"  # an earlier object still exists, and fits better
    SNAPSHOT = "snapshot"  # restored from a snapshot
    EXTERNAL = "external"  # refers to an object outside the stack
    DEPENDENCY = "dependency"  # a dependency may be replaced
    HOOK = "hook"  # a hook stops the resource
    BATCH = "batch"  # a pause between batches
    NOT_WANTED = "not wanted"  # no longer in the template
    RELEASED = "released"  # leaves the stack, and its object stays
    REPLACED = "replaced"  # another object has replaced it, or may do so
    SAME = "same"  # nothing differs
    ASKED = "asked"  # requested for the whole stack


PAUSE = "/pause/"  # key prefix; no resource can have such a name


class Step(StrEnum):
    """The action of a phase on each of its nodes."""

    APPLY = "apply"  # bring the resource of a name to its definition
    REMOVE = "remove"  # remove a row and its object
    VISIT = "visit"  # do the action of a walk on a row


class Direction(StrEnum):
    """The order of a phase by the dependencies of its nodes."""

    DEPENDENCIES_FIRST = "dependencies first"
    DEPENDENTS_FIRST = "dependents first"


class OnFailure(StrEnum):
    """The reaction of a phase to a failed node. Later phases do not start."""

    STOP = "stop"  # start nothing more
    GO_ON = "go on"  # start only nodes that do not depend on the failed one
    GATHER = "gather"  # as GO_ON; the operation fails when all nodes have ended


class Node(Struct, frozen=True):
    """One action: on a name, on a row; or a pause."""

    key: str  # the name of a resource to apply, else the id of a row, or a pause
    name: str
    change: Change
    dependencies: frozenset[str]  # keys of nodes of the same phase
    reason: Reason
    changed: tuple[str, ...] = ()  # properties that differ
    forcing: tuple[str, ...] = ()  # changed properties that cannot be changed in place
    row_id: str | None = None  # when the plan was made
    # A LATER change that is in place. Not stored: execution decides.
    keeps_object: bool = False


class Phase(Struct, frozen=True):
    """Actions of one sort. The next phase starts when all of them are done."""

    step: Step
    direction: Direction
    on_failure: OnFailure
    nodes: tuple[Node, ...]

    def sorter(self) -> TopologicalSorter[str]:
        """Return a sorter of the keys. The order is the same in any process."""
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
    pause: float = 0.0  # seconds between two batches

    def nodes(self, step: Step) -> Iterator[Node]:
        """Yield all nodes with this action."""
        return (node for phase in self.phases if phase.step is step for node in phase.nodes)

    def as_data(self) -> dict[str, Any]:
        """Return the stored form of the plan."""
        phases = [
            [p.step, p.direction, p.on_failure, [_node_data(node) for node in p.nodes]]
            for p in self.phases
        ]
        return {"phases": phases, "pause": self.pause}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Plan:
        """Return a plan from its stored form."""
        return cls(
            tuple(
                Phase(Step(step), Direction(direction), OnFailure(policy), tuple(map(_node, nodes)))
                for step, direction, policy, nodes in data["phases"]
            ),
            data["pause"],
        )


def _node_data(node: Node) -> list[Any]:
    # Lists, as they are read back: the fast writer of JSON compares texts with null.
    return [
        node.key,
        node.name,
        node.change,
        sorted(node.dependencies),
        node.reason,
        list(node.changed),
        list(node.forcing),
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


Drift = Mapping[str, Difference]  # external changes of an object, by property


class Observed(Struct, frozen=True):
    """Facts about live objects, by row id."""

    healthy: frozenset[str] = frozenset()  # failed or replaced rows with healthy objects
    gone: frozenset[str] = frozenset()  # rows whose objects were deleted outside the stack
    # External changes that an update can set back.
    drifted: Mapping[str, Drift] = field(default_factory=dict)


UNOBSERVED = Observed()  # no object was read


class Releases(Struct, frozen=True):
    """Resources that leave a stack without their objects.

    ``paths`` has names of resources, from the stack down, separated by slashes.
    """

    paths: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether a resource of the stack itself is released."""
        return name in self.paths

    def below(self, name: str) -> Releases:
        """Return the releases in the nested stack of a resource."""
        start = f"{name}/"
        inside = (path.removeprefix(start) for path in self.paths if path.startswith(start))
        return Releases(tuple(inside))


NO_RELEASES = Releases()


class Definitions(Protocol):
    """The engine's view of an evaluation."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the template's resources."""

    @property
    def dependencies(self) -> Mapping[str, frozenset[str]]:
        """Return the dependencies of each resource."""

    @property
    def type_names(self) -> Mapping[str, str]:
        """Return the type name of each resource."""

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Return one definition with the present facts.

        A light one is little work, or raises TooMuchWorkError.
        """

    @property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """Return the attributes of each resource that the template refers to."""

    @property
    def moves(self) -> Mapping[str, str]:
        """Return the earlier names of resources, by name, as the template declares them."""

    @property
    def imports(self) -> Mapping[str, str]:
        """Return the ids of objects to import, by name, as the template declares them."""

    @property
    def has_hooks(self) -> bool:
        """Return whether some resource may have hooks."""

    def hooks_of(self, name: str) -> frozenset[str]:
        """Return the hooks of one resource."""


class NoDefinitions:
    """The empty template: the desired state of a delete."""

    names: tuple[str, ...] = ()
    dependencies: Mapping[str, frozenset[str]] = {}
    type_names: Mapping[str, str] = {}
    attributes_used: Mapping[str, frozenset[str]] = {}
    moves: Mapping[str, str] = {}
    imports: Mapping[str, str] = {}
    has_hooks = False

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Raise KeyError."""
        raise KeyError(name)

    def hooks_of(self, name: str) -> frozenset[str]:
        """Return no hooks."""
        return frozenset()


def defined(desired: Definitions, name: str, facts: Facts, *, light: bool = False) -> Definition:
    """Return one definition, with its hidden dependencies.

    A light one is little work, or raises :class:`stoker.template.definition.TooMuchWorkError`.
    """
    definition, dependencies = (
        desired.definition(name, facts, light=light),
        desired.dependencies[name],
    )
    return (
        definition
        if definition.dependencies == dependencies
        else replace(definition, dependencies=dependencies)
    )

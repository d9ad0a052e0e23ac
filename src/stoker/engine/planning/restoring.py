"""The desired state of a restore: definitions of the snapshot's input, with its data for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.engine.model.plans import Definitions
from stoker.engine.model.snapshots import SnapshotPart
from stoker.engine.planning.decision import manages
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType, Snapshots, can
from stoker.template.definition import Definition, Facts


class Restored(Definitions):
    """Definitions of one stack, with a snapshot's data about the resources.

    ``way`` leads to the stack from the one that was snapshotted. A resource that another type
    manages by now gets nothing back.
    """

    def __init__(
        self, wanted: Definitions, parts: Iterable[SnapshotPart], way: tuple[str, ...]
    ) -> None:
        self._wanted = wanted
        self._parts = {part.path[-1]: part for part in parts if part.path[:-1] == way}

    @property
    def names(self) -> tuple[str, ...]:
        """The resources of the input."""
        return self._wanted.names

    @property
    def dependencies(self) -> Mapping[str, frozenset[str]]:
        """The dependencies of each of them."""
        return self._wanted.dependencies

    @property
    def type_names(self) -> Mapping[str, str]:
        """The type name of each in the template."""
        return self._wanted.type_names

    @property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """The attributes of each resource that somebody refers to."""
        return self._wanted.attributes_used

    def hooks_of(self, name: str) -> frozenset[str]:
        """The hooks at which one of them stops."""
        return self._wanted.hooks_of(name)

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Return one definition, with the snapshot's data about the resource."""
        definition, part = self._wanted.definition(name, facts, light=light), self._parts.get(name)
        type_ = definition.type
        kept = isinstance(type_, NestingType) or can(type_, Snapshots)
        if part is None or not kept or not manages(definition, part.implementation):
            return definition
        return replace(definition, snapshot=part.data)

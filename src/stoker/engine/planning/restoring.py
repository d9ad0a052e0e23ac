"""The desired state of a restore: definitions of the snapshot's input, with snapshot data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.engine.model.plans import Definitions
from stoker.engine.model.stack_records.snapshots import SnapshotPart
from stoker.engine.planning.decision import manages
from stoker.kernel.values import replace
from stoker.schema.resource_type import NestingType, Snapshots, can
from stoker.template.definition import Definition, Facts


class Restored(Definitions):
    """Definitions of one stack, with a snapshot's data about its resources.

    ``path`` names the resources from the snapshotted stack down to this nested one.
    """

    def __init__(
        self, desired: Definitions, parts: Iterable[SnapshotPart], path: tuple[str, ...]
    ) -> None:
        self._desired = desired
        self._parts = {part.path[-1]: part for part in parts if part.path[:-1] == path}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the input's resources."""
        return self._desired.names

    @property
    def dependencies(self) -> Mapping[str, frozenset[str]]:
        """Return the dependencies of each resource."""
        return self._desired.dependencies

    @property
    def type_names(self) -> Mapping[str, str]:
        """Return the type name of each resource."""
        return self._desired.type_names

    @property
    def attributes_used(self) -> Mapping[str, frozenset[str]]:
        """Return the attributes of each resource that the template refers to."""
        return self._desired.attributes_used

    @property
    def moves(self) -> Mapping[str, str]:
        """Return the earlier names of resources, as the input declares them."""
        return self._desired.moves

    @property
    def imports(self) -> Mapping[str, str]:
        """Return no imports: a restore brings back resources of the snapshot."""
        return {}

    @property
    def has_hooks(self) -> bool:
        """Return whether some resource may have hooks."""
        return self._desired.has_hooks

    def hooks_of(self, name: str) -> frozenset[str]:
        """Return the hooks of one resource."""
        return self._desired.hooks_of(name)

    def definition(self, name: str, facts: Facts, *, light: bool = False) -> Definition:
        """Return one definition, with the snapshot's data about the resource."""
        definition, part = self._desired.definition(name, facts, light=light), self._parts.get(name)
        type_ = definition.type
        is_restorable = isinstance(type_, NestingType) or can(type_, Snapshots)
        # Data of another type is of no use. The resource is then applied as in an update.
        if part is None or not is_restorable or not manages(definition, part.implementation):
            return definition
        return replace(definition, snapshot=part.data)

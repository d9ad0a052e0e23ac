"""Resource definitions: frozen results of evaluation for the planner, possibly partly unknown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.kernel.graph import CycleError, dependencies_first
from stoker.kernel.lazy import lazy
from stoker.schema.constraints import CustomCheck as CustomCheck
from stoker.schema.properties import NameLookup as NameLookup
from stoker.schema.resource_type import ResourceType


class DeletionPolicy(StrEnum):
    """Treatment of the object when its resource leaves the stack."""

    DELETE = "Delete"
    RETAIN = "Retain"
    SNAPSHOT = "Snapshot"


class TooMuchWorkError(Exception):
    """A light definition would take longer than a millisecond."""


# The collector of garbage need not visit definitions: their parts never refer to them.
class Definition(Struct, frozen=True, gc=False):
    """One evaluated resource of a template."""

    name: str
    type_name: str  # as written in the template
    type: ResourceType  # as the environment resolves it
    # Checked and converted, with defaults; may contain :class:`stoker.schema.unknown.Unknown`.
    properties: Mapping[str, Any]
    # Names of the enabled resources that must be complete before: references and ``depends_on``.
    dependencies: frozenset[str]
    explicit_dependencies: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    deletion_policy: DeletionPolicy = DeletionPolicy.DELETE
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    creation_policy: Mapping[str, Any] = field(default_factory=dict)
    # For an object that is replaced; None for the same policy as when it is removed.
    update_replace_policy: DeletionPolicy | None = None
    description: str = ""
    external_id: str | None = None  # id of an existing object that is only referred to
    import_id: str | None = None  # id of an existing object that becomes part of the stack
    # Whether dependants start before its object is settled; None to leave it to the operation.
    express: bool | None = None
    # Actions that the environment forbids: ``update``, ``replace``.
    restricted: frozenset[str] = frozenset()
    # Data of the snapshot from which the object is to be restored.
    snapshot: Mapping[str, Any] | None = None


class Dependencies(dict[str, frozenset[str]]):
    """The dependencies of each name. They never change, so that their order is computed once."""

    @lazy
    def order(self) -> list[str]:
        """The names, each after its dependencies. Raises ``graphlib.CycleError``."""
        return dependencies_first(self)

    @lazy
    def cycle(self) -> list[str] | None:
        """A cycle, or None. Each name needs the next; the first is repeated at the end."""
        try:
            _ = self.order
        except CycleError as error:
            cycle: list[str] = error.args[1]
            return list(reversed(cycle))
        return None


class Facts(Protocol):
    """Facts about live resources while a template is evaluated."""

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""

    def attribute(self, name: str, attribute: str) -> Any:
        """Return a whole attribute, or Unknown; functions follow paths into it.

        The value is None if the live object has no value for it.
        """


class Output(Struct, frozen=True):
    """An output of the template, evaluated."""

    name: str
    value: Any
    description: str = ""
    error: str | None = None  # why the value could not be computed
    note: str | None = None  # why the value may be outdated
    export: str | None = None  # name under which other stacks import it
    known: bool = True  # whether its references are known; otherwise the value is None


class TypeRegistry(Protocol):
    """The resource types that this service knows."""

    def find(self, type_name: str) -> ResourceType | None:
        """Return the type of that exact name, or None."""

    def names(self) -> list[str]:
        """Return all names, sorted."""

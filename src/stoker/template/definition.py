"""Resource definitions: frozen results of evaluation for the planner, possibly partly unknown."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct, field

from stoker.schema.constraints import CustomCheck as CustomCheck
from stoker.schema.properties import NameLookup as NameLookup
from stoker.schema.resource_type import ResourceType


class DeletionPolicy(StrEnum):
    """Treatment of the object when its resource leaves the stack."""

    DELETE = "Delete"
    RETAIN = "Retain"
    SNAPSHOT = "Snapshot"


class TooMuchWorkError(Exception):
    """This is not the little work that it was asked for."""


class Definition(Struct, frozen=True):
    """One resource as the template wants it."""

    name: str
    type_name: str
    """As the template spells it."""
    type: ResourceType
    """As the environment resolves it."""
    properties: Mapping[str, Any]
    """Checked and coerced, defaults filled in; may hold :class:`stoker.schema.unknown.Unknown`."""
    dependencies: frozenset[str]
    """Names of the enabled resources that must come first: references and ``depends_on``."""
    explicit_dependencies: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    deletion_policy: DeletionPolicy = DeletionPolicy.DELETE
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    creation_policy: Mapping[str, Any] = field(default_factory=dict)
    update_replace_policy: DeletionPolicy | None = None
    """What happens to an object that another takes the place of; None: as when it is removed."""
    description: str = ""
    external_id: str | None = None
    """The object exists already and is only referred to."""
    restricted: frozenset[str] = frozenset()
    """What the environment forbids to do to the object: ``update``, ``replace``."""
    snapshot: Mapping[str, Any] | None = None
    """What a snapshot holds of the object, which is to get that back."""


class Facts(Protocol):
    """Facts about live resources while a template is evaluated."""

    def reference(self, name: str) -> Any:
        """Return the value of ``get_resource`` for the resource, or Unknown."""

    def attribute(self, name: str, attribute: str) -> Any:
        """The attribute as a whole (paths into it are the functions' business), or Unknown.

        ``attribute`` is None-valued when the live object has it empty.
        """


class Output(Struct, frozen=True):
    """An output of the template, evaluated."""

    name: str
    value: Any
    description: str = ""
    error: str | None = None
    """Why the value could not be computed."""
    note: str | None = None
    """Why the value may be old."""
    export: str | None = None
    """The name under which other stacks find it."""
    known: bool = True
    """Whether what it refers to is known; its value is None otherwise."""


class TypeRegistry(Protocol):
    """The resource types that this service knows."""

    def find(self, type_name: str) -> ResourceType | None:
        """The type of that exact name, or None."""

    def names(self) -> list[str]:
        """All names, sorted."""

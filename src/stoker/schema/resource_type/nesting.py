"""Types that stand for a stack."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct, field

from stoker.kernel.diagnostics import Path
from stoker.schema.resource_type.capabilities import Updates, can
from stoker.schema.resource_type.types import ResourceType


class Referred(Struct, frozen=True):
    """A resource of the stack that a definition refers to, as it is on record."""

    type_name: str
    data: Mapping[str, Any]  # stored data of its type
    metadata: Mapping[str, Any]


class NestingCall(Struct, frozen=True):
    """The facts from which a nesting type builds its nested stack.

    Before resources exist, these are those of the template only.
    """

    name: str
    resource_id: str
    properties: Mapping[str, Any]
    # Attributes that the rest of the template refers to.
    attributes_used: frozenset[str] = frozenset()
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    previous: Mapping[str, Any] = field(default_factory=dict)  # properties before an update
    data: Mapping[str, Any] = field(default_factory=dict)
    # Current references of the nested stack's resources, by name.
    members: Mapping[str, Any] = field(default_factory=dict)
    failed_members: frozenset[str] = frozenset()  # members that have failed or are marked unhealthy
    reference: str = ""  # the value of ``get_resource`` for the resource itself
    # By reference: the resources that the definition refers to.
    referred: Mapping[str, Referred] = field(default_factory=dict)
    now: float = 0.0


class Nested(Struct, frozen=True):
    """A nested stack to be."""

    # None for the file ``url``, which arrives with the request or is fetched.
    template: Mapping[str, Any] | str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None  # URL of the template, which relative names in it refer to
    # Stored with the resource and passed to later calls. None keeps the current data.
    data: Mapping[str, Any] | None = None
    # Resource names, applied batch after batch; resources in none need not wait.
    batches: Sequence[Sequence[str]] = ()
    pause: float = 0.0  # seconds between a batch and the next
    # Time limit of the nested stack's operations; that of the parent applies as well.
    timeout_mins: int | None = None


class NestingType(ResourceType):
    """A type that stands for a nested stack, which the engine creates, updates and deletes."""

    @abstractmethod
    def nested(self, call: NestingCall) -> Nested:
        """The nested stack as it should be for ``call.properties``."""

    def foresees(self, properties: Mapping[str, Any]) -> bool:
        """Return whether :meth:`nested` can be called with these partly unknown properties."""
        return False

    def has_attribute(self, name: str) -> bool:
        """Return whether there is an attribute of that name, besides those that are declared."""
        return True

    def attribute_of(self, output: str) -> str:
        """The attribute that shows an output of the nested stack."""
        return output

    def written_at(self, path: Path) -> Path | None:
        """Return the path in the properties of a path in the nested template; None elsewhere."""
        return None


@runtime_checkable
class MakesStack(Protocol):
    """The type creates a separate stack through a service; that stack is not nested."""

    def made_from(self, properties: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
        """The template and the values of its parameters; None as long as it is not known."""


@runtime_checkable
class GathersAttributes(Protocol):
    """The type has attributes that hold one value for each member."""

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that ``[first, *rest]`` reads, and the path into each member's value.

        None when it is no such attribute.
        """


def has_attribute(type_: ResourceType, name: str) -> bool:
    """Return whether a type has an attribute; every type has ``show``."""
    if name in type_.attributes or name == "show":
        return True
    return isinstance(type_, NestingType) and type_.has_attribute(name)


def changes_in_place(type_: ResourceType) -> bool:
    """Return whether some properties of a type can change without a new object."""
    return isinstance(type_, NestingType) or can(type_, Updates)

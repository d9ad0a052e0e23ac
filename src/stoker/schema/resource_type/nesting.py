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
    data: Mapping[str, Any]
    """What its type keeps with it."""
    metadata: Mapping[str, Any]


class NestingCall(Struct, frozen=True):
    """What a type that nests makes its nested stack from.

    Before anything exists it holds no more than what the template says.
    """

    name: str
    """Logical name."""
    resource_id: str
    properties: Mapping[str, Any]
    attributes_used: frozenset[str] = frozenset()
    """The attributes that the rest of the template refers to."""
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    previous: Mapping[str, Any] = field(default_factory=dict)
    """The properties before an update."""
    data: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, Any] = field(default_factory=dict)
    """References of the nested stack's resources as they are, by name."""
    failed_members: frozenset[str] = frozenset()
    """Those of the members that have failed or were marked unhealthy."""
    reference: str = ""
    """What ``get_resource`` gives for the resource itself."""
    referred: Mapping[str, Referred] = field(default_factory=dict)
    """By reference: the resources that the definition refers to."""
    now: float = 0.0


class Nested(Struct, frozen=True):
    """A nested stack to be."""

    template: Mapping[str, Any] | str | None
    """None for the file ``url``, which comes with the request or is fetched."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    url: str | None = None
    """The file that the template came from, which anchors relative names inside it."""
    data: Mapping[str, Any] | None = None
    """Stored with the resource and passed to later calls. None leaves it."""
    batches: Sequence[Sequence[str]] = ()
    """Names of resources that are applied batch after batch; those in none need not wait."""
    pause: float = 0.0
    """Seconds between a batch and the next."""
    timeout_mins: int | None = None
    """Time limit of the nested stack's operations; that of the stack around holds in any case."""


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
        """Where the properties say what is at a path of the nested template; None elsewhere."""
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

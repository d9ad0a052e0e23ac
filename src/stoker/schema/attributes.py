"""Which attributes a resource type has."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from stoker.schema.resource_type import NestingType, ResourceType, can

COMMON = frozenset({"show"})
"""Attributes that every type has."""


@runtime_checkable
class OpenAttributes(Protocol):
    """The type has attributes that it cannot list, as those of the members of a group."""

    def has_attribute(self, name: str) -> bool:
        """Whether there is an attribute of that name."""


@runtime_checkable
class GathersAttributes(Protocol):
    """Attributes of the type hold a list or map with one value for each member."""

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that ``[first, *rest]`` reads, and the path into each member's value.

        None when it is no such attribute.
        """


def has_attribute(type_: ResourceType, name: str) -> bool:
    """Whether a type has an attribute. Types that nest and do not say have any."""
    if name in type_.attributes or name in COMMON:
        return True
    if can(type_, OpenAttributes):
        return type_.has_attribute(name)
    return isinstance(type_, NestingType)

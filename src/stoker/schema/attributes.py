"""Which attributes a resource type has."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from stoker.schema.resource_type import NestingType, ResourceType

COMMON = frozenset({"show"})
"""Attributes that every type has."""


@runtime_checkable
class GathersAttributes(Protocol):
    """The type has attributes that hold one value for each member."""

    def gathered(self, first: str, rest: list[Any]) -> tuple[str, list[Any]] | None:
        """The attribute that ``[first, *rest]`` reads, and the path into each member's value.

        None when it is no such attribute.
        """


def has_attribute(type_: ResourceType, name: str) -> bool:
    """Whether a type has an attribute."""
    if name in type_.attributes or name in COMMON:
        return True
    return isinstance(type_, NestingType) and type_.has_attribute(name)

"""Which attributes a resource type has."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from stoker.schema.resource_type import Nests, ResourceType

COMMON = frozenset({"show"})
"""Attributes that every type has."""


@runtime_checkable
class OpenAttributes(Protocol):
    """The type has attributes that it cannot list, as those of the members of a group."""

    def has_attribute(self, name: str) -> bool:
        """Whether there is an attribute of that name."""


def has_attribute(type_: ResourceType, name: str) -> bool:
    """Whether a type has an attribute. Types that nest and do not say have any."""
    if name in type_.attributes or name in COMMON:
        return True
    if isinstance(type_, OpenAttributes):
        return type_.has_attribute(name)
    return isinstance(type_, Nests)

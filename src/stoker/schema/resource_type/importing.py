"""Restrictions on the import of existing objects, by type."""

from __future__ import annotations

from stoker.schema.resource_type.capabilities import Observes, can
from stoker.schema.resource_type.nesting import NestingType
from stoker.schema.resource_type.types import ManagedType, ResourceType


def why_not_importable(type_: ResourceType) -> str | None:
    """Return why objects of a type cannot be imported; None if they can.

    An import compares the object with the properties first, so the type must be able to read it.
    """
    if isinstance(type_, NestingType):
        return "is a stack of its own; import the resources inside"
    if type_.not_importable:
        return f"cannot be imported: {type_.not_importable}"
    if type_.not_importable:
        return f"cannot be imported: {type_.not_importable}"
    if isinstance(type_, ManagedType) and type_.service is not None and can(type_, Observes):
        return None
    return "has no object in the cloud that can be imported; leave the import out"

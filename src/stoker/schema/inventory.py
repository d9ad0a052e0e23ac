"""Existing objects of a cloud, in terms of templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct


class NamedObject(Struct, frozen=True):
    """An existing object, as the value of a parameter names it."""

    id: str
    name: str


class ExistingObject(Struct, frozen=True):
    """An object that was made outside of any stack, or by one.

    ``properties`` describe it as a template would, with ids of other objects, and without values
    that the service would choose itself.
    """

    type_name: str
    id: str  # as a resource records it
    name: str
    properties: Mapping[str, Any]
    # Properties that name the objects which it belongs to: it is described with these.
    part_of: tuple[str, ...] = ()

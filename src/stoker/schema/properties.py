"""Declarations of properties and attributes.

One declaration serves validation, coercion, comparison on update, the API's description of the
type, template generation and documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct

from stoker.kernel.diagnostics import Path
from stoker.schema.constraints import Constraint
from stoker.schema.support import SUPPORTED, SupportStatus


class Type(StrEnum):
    """The types of properties and attributes, in the API's spelling."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    MAP = "map"
    ANY = "any"


class Finder(Struct, frozen=True):
    """Turns a name into an id: the value of a property may be either, the type sees the id.

    ``service`` and ``kind`` name a lookup of :mod:`stoker.clouds`, as ``("network", "subnet")``.
    """

    service: str
    kind: str


class NameLookup(Struct, frozen=True):
    """A property value that may be a name and must become an id before the type sees it."""

    finder: Finder
    value: str
    path: Path  # path inside the resource's properties


class Interruption(Struct, frozen=True):
    """The effect of an in-place change of a property on an object in use."""

    effect: str  # in words, with the object as "it": "it restarts"
    # Another property, and its value that avoids the interruption.
    unless: tuple[str, Any] | None = None
    overwrites_data: bool = False  # data of users in the object is lost


class Property(Struct, frozen=True):
    """A property of a resource type, or an entry of a map or list property."""

    type: Type
    description: str = ""
    default: Any = None
    required: bool = False
    update_allowed: bool = False
    immutable: bool = False
    constraints: tuple[Constraint, ...] = ()
    entries: Mapping[str, Property] | None = None  # keys of a map
    items: Property | None = None  # entries of a list
    finder: Finder | None = None
    # As for parameters: a map may be a list or JSON text, a list may be comma-separated text.
    convert: bool = False
    implemented: bool = True
    support: SupportStatus = SUPPORTED
    # A deprecated alias: its value moves to the sibling property of that name.
    renamed_to: str | None = None
    sensitive: bool = False  # masked in every view, log and event
    # For plans: the effect of a change on users of the object.
    interruption: Interruption | None = None
    # The service refuses a smaller number for an existing object; plans refuse it first.
    only_grows: bool = False


class Attribute(Struct, frozen=True):
    """An attribute of a resource type."""

    description: str = ""
    type: Type | None = None
    cached: bool = True  # False: read again whenever it is used
    of_members: bool = False  # it is followed by the name of an attribute of the members of a group
    support: SupportStatus = SUPPORTED


Value = TypeVar("Value")


class _Every(Mapping[str, Value]):
    """Every name is in it, with one value; none is listed."""

    value: Value

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Value:
        return self.value

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class AnyName(_Every[Property]):
    """The properties of a type that accepts and ignores any."""

    value = Property(Type.ANY)


class OpenAttributes(dict[str, Attribute]):
    """The attributes of a type that also has attributes with unlisted names."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Attribute:
        return Attribute()


class AnyAttribute(_Every[Attribute]):
    """The attributes of a type for which any attribute exists and is empty."""

    value = Attribute()

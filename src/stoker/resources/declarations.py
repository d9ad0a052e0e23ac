"""Declarations that many types share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.schema.constraints import AllowedValues, Custom, Range
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import SUPPORTED, SupportStatus, since

NAME = Property(
    Type.STRING, "Name of the object; without one the stack gives it a name.", update_allowed=True
)
TENANT_ID = Property(
    Type.STRING, "Id of the project that is to own the object; an administrator's privilege."
)
VALUE_SPECS = Property(
    Type.MAP, "Further fields, passed to the service as they are.", default={}, update_allowed=True
)
ADMIN_STATE_UP = Property(
    Type.BOOLEAN, "Whether the object is switched on.", default=True, update_allowed=True
)
SHARED = Property(
    Type.BOOLEAN, "Whether all projects may use it.", default=False, update_allowed=True
)
SHOW = Attribute("The object as the service describes it.", type=Type.MAP, cached=False)
"""An attribute that every object of a service has."""

_SERVICES = {
    "glance": "image",
    "keystone": "identity",
    "neutron": "network",
    "nova": "compute",
}


def checked(constraint: str, description: str, **more: Any) -> Property:
    """A text with a custom constraint, as ``ip_addr``; ``more`` as :class:`Property` takes it."""
    return Property(Type.STRING, description, constraints=(Custom(constraint),), **more)


def choice(values: Sequence[Any], description: str, **more: Any) -> Property:
    """A text that is one of these values."""
    return Property(Type.STRING, description, constraints=(AllowedValues(values),), **more)


def at_least(smallest: int, description: str, **more: Any) -> Property:
    """A whole number with a lower bound."""
    return Property(Type.INTEGER, description, constraints=(Range(min=smallest),), **more)


def tags(version: str) -> Property:
    """The tags of an object, supported since a release."""
    return Property(
        Type.LIST,
        "Tags of the object.",
        update_allowed=True,
        support=since(version),
        items=Property(Type.STRING),
    )


def by_name(
    constraint: str,
    words: str,
    *,
    required: bool = False,
    update_allowed: bool = False,
    support: SupportStatus = SUPPORTED,
) -> Property:
    """An object that a service must know, as ``neutron.network``: its name, or its id."""
    return Property(
        Type.STRING,
        f"{words}, by name or id.",
        required=required,
        update_allowed=update_allowed,
        constraints=(Custom(constraint),),
        finder=_finder(constraint),
        support=support,
    )


def old_name(new: str, constraint: str, support: SupportStatus) -> Property:
    """The name that such a property had before it was called ``new``."""
    return Property(
        Type.STRING,
        f"Old name of {new}.",
        constraints=(Custom(constraint),),
        finder=_finder(constraint),
        support=support,
        renamed_to=new,
    )


def _finder(constraint: str) -> Finder:
    client, _, kind = constraint.partition(".")
    return Finder(_SERVICES[client], kind)

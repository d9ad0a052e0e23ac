"""Declarations that many types share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.schema.constraints import AllowedValues, Custom, Range
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import SUPPORTED, SupportStatus, since

NAME = Property(
    Type.STRING, "Name of the object. If not given, a name is generated.", update_allowed=True
)
TENANT_ID = Property(
    Type.STRING, "Id of the project that owns the object. For administrators only."
)
VALUE_SPECS = Property(
    Type.MAP, "Extra fields, passed to the service unchanged.", default={}, update_allowed=True
)
ADMIN_STATE_UP = Property(
    Type.BOOLEAN, "Administrative state of the object.", default=True, update_allowed=True
)
SHARED = Property(
    Type.BOOLEAN, "Whether other projects can use the object.", default=False, update_allowed=True
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
    """A string with a custom constraint such as ``ip_addr``; ``more`` goes to :class:`Property`."""
    return Property(Type.STRING, description, constraints=(Custom(constraint),), **more)


def choice(values: Sequence[Any], description: str, **more: Any) -> Property:
    """A string that is one of these values."""
    return Property(Type.STRING, description, constraints=(AllowedValues(values),), **more)


def at_least(smallest: int, description: str, **more: Any) -> Property:
    """An integer with a lower bound."""
    return Property(Type.INTEGER, description, constraints=(Range(min=smallest),), **more)


def tags(version: str) -> Property:
    """The tags of an object, supported since ``version``."""
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
    """The name or id of an object that must exist, such as a ``neutron.network``."""
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
    """The deprecated alias of the property ``new``, which takes the same values."""
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

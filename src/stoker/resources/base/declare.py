"""Declares properties: a function for each kind, and properties that many types share.

Types call these through the module, as in ``declare.boolean("Whether ...", default=True)``.
Arguments after the description are those of :class:`stoker.schema.properties.Property`.

The descriptions are shown to users: in the reference of types, in ``resource-type-show`` and in
dashboards.

Tested by tests/resource_types_heat/test_registry.py and, with the declarations of Heat's types,
tests/resource_types_heat/test_recorded_schemas.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from stoker.clouds.objects.kinds import finder_of
from stoker.schema.constraints import AllowedValues, Custom, Range, own_pattern
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.support import SupportStatus, since

string = partial(Property, Type.STRING)
integer = partial(Property, Type.INTEGER)
number = partial(Property, Type.NUMBER)
boolean = partial(Property, Type.BOOLEAN)
sequence = partial(Property, Type.LIST)
mapping = partial(Property, Type.MAP)

pattern = own_pattern

NAME = string("Name of the object. If not given, a name is generated.", update_allowed=True)
DESCRIPTION = string("Description of the object.", update_allowed=True)
TENANT_ID = string("Id of the project that owns the object. For administrators only.")
VALUE_SPECS = mapping(
    "Extra fields, passed to the service unchanged.", default={}, update_allowed=True
)
ADMIN_STATE_UP = boolean("Administrative state of the object.", default=True, update_allowed=True)
SHARED = boolean("Whether other projects can use the object.", default=False, update_allowed=True)
SHOW = Attribute("The object as the service describes it.", type=Type.MAP, cached=False)


def checked(constraint: str, description: str, **more: Any) -> Property:
    """Declare a string with a custom constraint such as ``ip_addr``."""
    return string(description, constraints=(Custom(constraint),), **more)


def choice(values: Sequence[Any], description: str, **more: Any) -> Property:
    """Declare a string that is one of these values."""
    return string(description, constraints=(AllowedValues(values),), **more)


def at_least(smallest: int, description: str, **more: Any) -> Property:
    """Declare an integer with a lower bound."""
    return integer(description, constraints=(Range(min=smallest),), **more)


def records(description: str, *, entries: Mapping[str, Property], **more: Any) -> Property:
    """Declare a list of maps that have these entries."""
    return sequence(description, items=mapping(entries=entries), **more)


def records_in(value: Any) -> list[tuple[int, Mapping[str, Any]]]:
    """Return index and entry of the maps in a list; values that are not known yet are skipped."""
    entries = value if isinstance(value, list | tuple) else ()
    return [(index, entry) for index, entry in enumerate(entries) if isinstance(entry, Mapping)]


def tags(version: str) -> Property:
    """Declare the tags of an object, supported since this version of Heat."""
    return sequence(
        "Tags of the object.", update_allowed=True, support=since(version), items=string()
    )


def by_name(constraint: str, words: str, **more: Any) -> Property:
    """Declare the name or id of an existing object, such as a ``neutron.network``."""
    return checked(constraint, f"{words}, by name or id.", finder=finder_of(constraint), **more)


def old_name(new: str, constraint: str, support: SupportStatus) -> Property:
    """Declare a deprecated alias of the property ``new``, with the same values."""
    return checked(
        constraint,
        f"Old name of {new}.",
        finder=finder_of(constraint),
        support=support,
        renamed_to=new,
    )

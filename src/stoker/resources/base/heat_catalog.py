"""Heat's types as Heat 27 describes them, for the validation of templates.

Validation must know every type that a template may name. ``heat_catalog.json`` has the properties,
constraints and attributes of all of Heat's types. Types that can be deployed use their own
declarations instead; tests compare these with the catalog.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from stoker.resources.base.builtin_types import WITHDRAWN
from stoker.resources.base.registry import Registry
from stoker.schema.constraints import (
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Range,
    own_pattern,
)
from stoker.schema.properties import AnyAttribute, AnyName, Attribute, Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import SUPPORTED, Support, SupportStatus

_CONSTRAINTS: Mapping[str, Callable[[Any], Constraint]] = {
    "range": lambda bounds: Range(**bounds),
    "length": lambda bounds: Length(**bounds),
    "allowed_values": lambda values: AllowedValues(tuple(values)),
    "allowed_pattern": own_pattern,
    "custom_constraint": Custom,
}


class DeclaredType(ResourceType):
    """A type that can be validated, but not deployed."""

    undeployable = "it cannot be deployed by this release yet"


class WithDeclared:
    """The types of a registry, then the declarations of all other types that Heat has or had."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def find(self, type_name: str) -> ResourceType | None:
        """Return the type of that exact name, or None."""
        return self._registry.find(type_name) or declared(type_name)

    def names(self) -> list[str]:
        """Return all names that templates should use, sorted."""
        return sorted({*self._registry.names(), *declarations()})


@cache
def declarations() -> Mapping[str, Any]:
    """Return the content of the catalog file, by type."""
    text = Path(__file__).with_name("heat_catalog.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=256)
def declared(type_name: str) -> ResourceType | None:
    """Return the type as the catalog declares it, or None."""
    if type_name in WITHDRAWN:
        return _withdrawn(type_name)
    written = declarations().get(type_name)
    if written is None:
        return None
    return _made(
        type_name,
        support=_support(written.get("support")),
        properties=_properties(written["properties"]),
        attributes=_attributes(written["attributes"]),
    )


def _made(type_name: str, **declarations: Any) -> ResourceType:
    type_: type[DeclaredType] = type(
        "DeclaredType", (DeclaredType,), {"type_name": type_name, **declarations}
    )
    return type_()


def _attributes(written: Mapping[str, str | None]) -> dict[str, Attribute]:
    return {
        name: Attribute(type=None if kind is None else Type(kind)) for name, kind in written.items()
    }


def _withdrawn(type_name: str) -> ResourceType:
    """Return a withdrawn type; its properties in a template are ignored."""
    successor = WITHDRAWN[type_name]
    advice = f"use {successor} instead" if successor else "its service does not exist any more"
    return _made(
        type_name,
        support=SupportStatus(Support.HIDDEN),
        properties=AnyName(),
        attributes=AnyAttribute(),
        undeployable=f"it was withdrawn: {advice}",
    )


def _properties(written: Mapping[str, Any]) -> dict[str, Property]:
    return {name: _property(each) for name, each in written.items()}


def _property(written: Mapping[str, Any]) -> Property:
    entries, items = written.get("entries"), written.get("items")
    return Property(
        Type(written["type"]),
        default=written.get("default"),
        required=written.get("required", False),
        update_allowed=written.get("updatable", False),
        immutable=written.get("immutable", False),
        constraints=tuple(_constraint(each) for each in written.get("constraints", ())),
        entries=None if entries is None else _properties(entries),
        items=None if items is None else _property(items),
        convert=written.get("convert", False),
        implemented=written.get("implemented", True),
        support=_support(written.get("support")),
    )


def _constraint(written: Mapping[str, Any]) -> Constraint:
    ((kind, value),) = written.items()
    return _CONSTRAINTS[kind](value)


def _support(written: Mapping[str, Any] | None) -> SupportStatus:
    if written is None:
        return SUPPORTED
    before = written.get("previous")
    return SupportStatus(
        Support(written["status"]),
        written.get("since"),
        previous=None if before is None else _support(before),
    )

"""Heat's types that this release cannot deploy yet, declared so that templates can be validated.

Offline validation must know every type that a template may name. ``declared.json`` has their
properties, constraints and attributes as Heat 27 describes them. Entries of types that can be
deployed by now are not used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Severity
from stoker.resources.registry import Registry
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Range,
)
from stoker.schema.properties import AnyAttribute, Attribute, Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import SUPPORTED, Support, SupportStatus

_ANSWERS_FOR_CONFIGS = frozenset(
    {
        "OS::Heat::SoftwareDeployment",
        "OS::Heat::SoftwareDeploymentGroup",
        "OS::Heat::StructuredDeployment",
        "OS::Heat::StructuredDeploymentGroup",
    }
)
"""Their attributes are the outputs of their software config, whatever it names them."""
_CONSTRAINTS: Mapping[str, Callable[[Any], Constraint]] = {
    "range": lambda bounds: Range(**bounds),
    "length": lambda bounds: Length(**bounds),
    "allowed_values": lambda values: AllowedValues(tuple(values)),
    "allowed_pattern": AllowedPattern,
    "custom_constraint": Custom,
}


class DeclaredType(ResourceType):
    """A type that can be validated, but not deployed."""

    def validate(self, properties: Mapping[str, Any]) -> list[Diagnostic]:
        """Warn that a deployment would be refused."""
        message = undeployable(self.type_name)
        return [Diagnostic("undeployable-type", message, severity=Severity.WARNING)]


class WithDeclared:
    """The types of a registry, and the declarations of all other types of Heat."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def find(self, type_name: str) -> ResourceType | None:
        """The type of that exact name, or None."""
        return self._registry.find(type_name) or declared(type_name)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self._registry.names(), *declarations()})


def undeployable(type_name: str) -> str:
    """Why a type cannot be deployed."""
    return f"{type_name} is checked, but cannot be deployed by this release yet"


@cache
def declarations() -> Mapping[str, Any]:
    """The content of the file, by type."""
    text = files(__package__).joinpath("declared.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=256)
def declared(type_name: str) -> ResourceType | None:
    """The declared type of that name, or None."""
    written = declarations().get(type_name)
    if written is None:
        return None
    made: type[DeclaredType] = type(
        "DeclaredType",
        (DeclaredType,),
        {
            "type_name": type_name,
            "support": _support(written.get("support")),
            "properties": _properties(written["properties"]),
            "attributes": AnyAttribute()
            if type_name in _ANSWERS_FOR_CONFIGS
            else {name: Attribute(type=Type(kind)) for name, kind in written["attributes"].items()},
        },
    )
    return made()


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

"""Descriptions of types, properties, parameters and functions in Markdown, for people."""

from __future__ import annotations

import inspect
import json
from typing import Any

from stoker.kernel.diagnostics import shortened
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
    is_own,
)
from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support, SupportStatus
from stoker.template.describe.resource_types import visible_properties
from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.parameters.parameters import Parameter
from stoker.template.versions import Version

_LONGEST_VALUE = 300
_MOST_CHOICES = 20


def describe_type(type_: ResourceType) -> str:
    """Return name, description and required properties of a type."""
    parts = [f"**{type_.type_name}**", type_.description, _support(type_.support)]
    if type_.undeployable:
        parts.append(f"This type {type_.undeployable}.")
    required = [
        f"`{name}`" for name, each in visible_properties(type_.properties).items() if each.required
    ]
    if required:
        parts.append(f"Required: {', '.join(required)}")
    return _paragraphs(parts)


def short_property(declared: Property) -> str:
    """Return the type of a property, and whether it is required."""
    return f"{declared.type}, required" if declared.required else str(declared.type)


def describe_property(name: str, declared: Property) -> str:
    """Return the declaration of a property."""
    facts = [f"Type: {declared.type}"]
    if declared.required:
        facts.append("required")
    if declared.default is not None:
        facts.append(f"default: `{shown_value(declared.default)}`")
    update = "An update changes it in place." if declared.update_allowed else (
        "It cannot change." if declared.immutable else "An update replaces the resource."
    )  # fmt: skip
    if declared.interruption is not None:
        update = f"{update} On an update, {declared.interruption.effect}."
    return _paragraphs(
        [
            f"**{name}**: {declared.description}" if declared.description else f"**{name}**",
            ", ".join(facts),
            *_constraints(declared.constraints),
            update,
            _support(declared.support),
        ]
    )


def describe_attribute(name: str, declared: Attribute) -> str:
    """Return the declaration of an attribute."""
    kind = f"Type: {declared.type}" if declared.type is not None else ""
    return _paragraphs([f"**{name}** (attribute)", declared.description, kind])


def describe_parameter(declared: Parameter) -> str:
    """Return the declaration of a parameter."""
    facts = [f"Type: {declared.type}"]
    if declared.default is not None:
        default = "******" if declared.hidden else shown_value(declared.default)
        facts.append(f"default: `{default}`")
    if declared.hidden:
        facts.append("hidden")
    title = str(declared.label or declared.name)
    return _paragraphs(
        [
            f"**{title}** (parameter)",
            str(declared.description),
            ", ".join(facts),
            *_constraints(declared.constraints),
        ]
    )


def describe_function(name: str, version: Version) -> str:
    """Return the description of a function, from its implementation."""
    table = {**condition_functions_of(version), **functions_of(version)}
    function = table.get(name)
    text = inspect.cleandoc(getattr(function, "__doc__", None) or "")
    return _paragraphs([f"**{name}** (function)", text])


def shown_value(value: Any) -> str:
    """Return a value on one line, cut to a readable length."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return shortened(" ".join(text.split()), _LONGEST_VALUE)


def _constraints(constraints: tuple[Constraint, ...]) -> list[str]:
    return [_constraint(each) for each in constraints if not is_own(each)]


def _constraint(constraint: Constraint) -> str:
    text = ""
    match constraint:
        case AllowedValues():
            choices = [f"`{shown_value(each)}`" for each in constraint.allowed[:_MOST_CHOICES]]
            more = ", …" if len(constraint.allowed) > _MOST_CHOICES else ""
            text = f"Allowed: {', '.join(choices)}{more}"
        case Length():
            text = f"Length: {_bounds(constraint)}"
        case Range():
            text = f"Range: {_bounds(constraint)}"
        case Modulo():
            text = f"Divided by {constraint.step}, it leaves {constraint.offset}"
        case AllowedPattern():
            text = f"Pattern: `{constraint.pattern}`"
        case Custom():
            text = f"Must be: {constraint.name}"
    return f"{text} ({constraint.description})" if constraint.description else text


def _bounds(bounds: Length | Range) -> str:
    if bounds.max is None:
        return f"at least {bounds.min}"
    return f"at most {bounds.max}" if bounds.min is None else f"{bounds.min} to {bounds.max}"


def _support(support: SupportStatus) -> str:
    if support.status is Support.SUPPORTED:
        return ""
    words = f"{support.status.value.capitalize()} since {support.version}" if support.version else (
        support.status.value.capitalize()
    )  # fmt: skip
    use = f"Use {support.substitute}." if support.substitute else ""
    return " ".join(part for part in (f"{words}.", support.message or "", use) if part)


def _paragraphs(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part)

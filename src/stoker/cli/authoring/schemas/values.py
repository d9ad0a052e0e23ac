"""JSON Schemas of values: properties of resources, and calls of functions in their place.

A schema never rejects a value that the service accepts. Texts may be numbers, numbers may be texts,
null means that a property is not set, and a function may be called anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
)
from stoker.schema.properties import AnyName, Property, Type
from stoker.schema.support import Support

Schema = dict[str, Any]

_SHOWN = ("description", "deprecated")
FUNCTION = "function"  # name of the definition of function calls
_NUMBER_TEXT = r"^\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+)\s*$"
_KINDS: Mapping[Type, Schema] = {
    Type.STRING: {"type": ["string", "number", "boolean"]},
    Type.INTEGER: {"type": ["integer", "number", "string", "boolean"]},
    Type.NUMBER: {"type": ["number", "string", "boolean"]},
    Type.BOOLEAN: {"type": ["boolean", "string", "number"]},
    Type.ANY: {},
}


def function_call(functions: Collection[str]) -> Schema:
    """Return the schema of a map that calls one of the functions."""
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "properties": {name: {} for name in sorted(functions)},
        "additionalProperties": False,
    }


def or_function(schema: Schema) -> Schema:
    """Return a schema that also accepts a function call, and null."""
    call = {"$ref": f"#/definitions/{FUNCTION}"}
    shown: Schema = {key: schema.pop(key) for key in _SHOWN if key in schema}
    if not schema:
        return shown
    return {**shown, "anyOf": [schema, call, {"type": "null"}]}


def map_of(properties: Mapping[str, Property]) -> Schema:
    """Return the schema of a map with these entries."""
    if isinstance(properties, AnyName):
        return {"type": "object"}
    entries = {name: property_schema(each) for name, each in properties.items()}
    return {"type": "object", "properties": entries, "additionalProperties": False}


def property_schema(declared: Property) -> Schema:
    """Return the schema of a property."""
    schema = _value(declared)
    described = _description(declared)
    if described:
        schema["description"] = described
    if declared.support.status is not Support.SUPPORTED:
        schema["deprecated"] = True
    return or_function(schema)


def _value(declared: Property) -> Schema:
    if declared.type is Type.MAP:
        if declared.convert:
            return {"type": ["object", "array", "string"]}
        if declared.entries is None:
            return {"type": ["object", "string"]}  # a map may be JSON text
        return {"anyOf": [map_of(declared.entries), {"type": "string"}]}
    if declared.type is Type.LIST:
        item = {} if declared.items is None else property_schema(declared.items)
        items: Schema = {"type": "array", "items": item}
        # a text is a list of one, or separated by commas, or JSON
        return {"anyOf": [items, {"type": ["string", "object", "number", "boolean"]}]}
    return {**_KINDS[declared.type], **_constraints(declared)}


def _constraints(declared: Property) -> Schema:
    """Return the choices or the range of a value."""
    is_number = declared.type in (Type.INTEGER, Type.NUMBER)
    for constraint in declared.constraints:
        if isinstance(constraint, AllowedValues) and is_number:
            return {"enum": [*constraint.allowed, *map(str, constraint.allowed)]}
        if isinstance(constraint, AllowedValues) and declared.type is Type.STRING:
            choices = [each for each in constraint.allowed if isinstance(each, str)]
            if len(choices) == len(constraint.allowed):
                return {"anyOf": [{"enum": choices}, {"type": ["number", "boolean"]}]}
        if isinstance(constraint, Range) and is_number:
            bounds = {"minimum": constraint.min, "maximum": constraint.max}
            return {key: value for key, value in bounds.items() if value is not None}
    return {}


def _description(declared: Property) -> str:
    """Return the description with the constraints and the effect of a change."""
    parts = [declared.description.strip()]
    parts += [words for words in map(in_words, declared.constraints) if words]
    if declared.required:
        parts.append("Required.")
    if declared.default is not None and not isinstance(declared.default, dict | list):
        parts.append(f"Default: {declared.default}.")
    if declared.support.message:
        parts.append(declared.support.message)
    return "\n".join(part for part in parts if part)


def in_words(constraint: Constraint) -> str:
    """Return a constraint in words."""
    if isinstance(constraint, Range | Length):
        word = "Range" if isinstance(constraint, Range) else "Length"
        low = "" if constraint.min is None else f"{constraint.min:g}"
        high = "" if constraint.max is None else f"{constraint.max:g}"
        return f"{word}: {low}..{high}."
    if isinstance(constraint, AllowedValues):
        return f"One of: {', '.join(map(str, constraint.allowed))}."
    if isinstance(constraint, AllowedPattern):
        return f"Pattern: {constraint.pattern}"
    if isinstance(constraint, Modulo):
        return f"A multiple of {constraint.step}, plus {constraint.offset}."
    if isinstance(constraint, Custom):
        return f"An existing {constraint.name.rpartition('.')[2].replace('_', ' ')}."
    return ""

"""Types of the code as JSON schemas, for the document of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import (
    Any,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_REFERENCE = "#/components/schemas/"
_SIMPLE: Mapping[Any, Mapping[str, Any]] = {
    Any: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    NoneType: {"type": "null"},
}

Components = dict[str, dict[str, Any]]  # schemas by name


def schema_of(kind: Any, components: Components) -> dict[str, Any]:
    """The schema of a type; those of TypedDicts go to ``components``, by their names.

    Knows simple types, unions, lists, tuples of any length, mappings with string keys, and
    TypedDicts. Raises TypeError for others.
    """
    if kind in _SIMPLE:
        return dict(_SIMPLE[kind])
    if is_typeddict(kind):
        name = kind.__name__
        if name not in components:
            components[name] = {}  # it may contain itself
            components[name].update(_object(kind, components))
        return {"$ref": _REFERENCE + name}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(each, components) for each in arguments]}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": schema_of(arguments[0], components)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(arguments[1], components)}
    raise TypeError(f"{kind} has no JSON schema")


def _object(kind: Any, components: Components) -> dict[str, Any]:
    properties, required = {}, []
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        origin = get_origin(annotation)
        marked = origin in (Required, NotRequired)
        properties[name] = schema_of(get_args(annotation)[0] if marked else annotation, components)
        if origin is Required or (not marked and kind.__total__):
            required.append(name)
    found = {
        "type": "object",
        "description": " ".join(kind.__doc__.split()),
        "properties": properties,
    }
    return {**found, "required": required} if required else found

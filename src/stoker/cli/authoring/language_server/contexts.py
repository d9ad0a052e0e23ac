"""The meaning of a place in a template: its section, part, property and function.

Takes a path in the data, with the functions of tags. Completion, hover and definitions start here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stoker.cli.authoring.language_server.model import Model
from stoker.kernel.diagnostics import Path
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.template.versions import Dialect

# The parts of templates that are spelt differently in both dialects.
_SECTIONS = ("parameters", "resources", "outputs", "conditions", "mappings")
_PARTS = (
    "type", "properties", "metadata", "depends_on", "deletion_policy", "update_policy",
    "creation_policy", "update_replace_policy", "condition", "external_id", "value", "default",
    "description", "export",
)  # fmt: skip
# Functions whose value is one of their arguments, by the first of these.
_CHOICES = {"if": 1, "Fn::If": 1}


@dataclass(slots=True)
class Context:
    """The meaning of a path.

    ``function`` is the innermost call that contains the place, ``arguments`` the path in it.
    ``declared`` is the property whose value, or whose entry, is at the path.
    """

    section: str = ""  # as in HOT; empty at the top
    name: str = ""  # of the parameter, resource or output
    part: str = ""  # as in HOT: type, properties
    rest: Path = ()  # below the part
    type: ResourceType | None = None
    declared: Property | None = None
    properties: Mapping[str, Property] | None = None  # the keys of the map at the path
    function: str = ""
    arguments: Path = ()

    @property
    def is_condition(self) -> bool:
        """Return whether functions at the place are those of conditions."""
        return self.section == "conditions" or self.part == "condition"


def context_of(model: Model, path: Path) -> Context:
    """Return the meaning of a path."""
    found = Context()
    if not path:
        return found
    dialect = model.dialect
    found.section = _in_hot(dialect, str(path[0]), _SECTIONS)
    if len(path) > 1:
        found.name = str(path[1])
    if found.section in ("conditions", "mappings") and len(path) > 1:
        found.rest = path[2:]
        _call(found, model, found.rest, None)
        return found
    if len(path) > 2:
        found.part = _in_hot(dialect, str(path[2]), _PARTS)
        found.rest = path[3:]
    if found.section == "resources":
        found.type = model.type_of(found.name) if found.name else None
        _in_resource(found, model)
    elif found.section == "outputs":
        _call(found, model, found.rest, None)
    return found


def _in_hot(dialect: Dialect, key: str, parts: tuple[str, ...]) -> str:
    return next((part for part in parts if getattr(dialect, part, "") == key), key)


def _in_resource(found: Context, model: Model) -> None:
    if found.part == "properties" and _in_member(found, model):
        return
    declared = {}
    if found.type is not None:
        declared = {
            "properties": found.type.properties,
            "update_policy": found.type.update_policies,
        }
    entries = declared.get(found.part)
    whole = None if entries is None else Property(Type.MAP, entries=entries)
    _call(found, model, found.rest, whole)


def _in_member(found: Context, model: Model) -> bool:
    """Find the meaning of a place in the properties of a group's member; False for another."""
    path = (model.dialect.resources, found.name, model.dialect.properties, *found.rest)
    for index in range(len(path) - 1, 3, -1):
        if path[index] != "properties":
            continue
        body = model.data_at(path[:index])
        name = body.get("type") if isinstance(body, Mapping) else None
        if isinstance(name, str):
            found.type, found.rest = model.type_named(name), path[index + 1 :]
            entries = {} if found.type is None else found.type.properties
            _call(found, model, found.rest, Property(Type.MAP, entries=entries))
            return True
    return False


def _call(found: Context, model: Model, path: Path, declared: Property | None) -> None:
    """Follow a path into a value, through properties and functions."""
    version = model.version
    functions = version.functions | version.extensions | version.condition_functions
    for index, part in enumerate(path):
        if isinstance(part, str) and part in functions and not _is_key(declared, part):
            found.function, found.arguments = part, path[index + 1 :]
            inner = path[index + 1 :]
            first = _CHOICES.get(part)
            if first is not None and inner and isinstance(inner[0], int) and inner[0] >= first:
                found.function, found.arguments = "", ()
                _call(found, model, inner[1:], declared)
                return
            _nested_call(found, model, inner, functions)
            found.declared = None
            found.properties = None
            return
        declared = _below(declared, part)
    found.declared = declared
    found.properties = None if declared is None else declared.entries


def _nested_call(found: Context, model: Model, path: Path, functions: frozenset[str]) -> None:
    """Find the innermost call in the arguments of another."""
    for index in range(len(path) - 1, -1, -1):
        if isinstance(path[index], str) and path[index] in functions:
            found.function, found.arguments = str(path[index]), path[index + 1 :]
            return


def _is_key(declared: Property | None, name: str) -> bool:
    return declared is not None and declared.entries is not None and name in declared.entries


def _below(declared: Property | None, part: Any) -> Property | None:
    if declared is None:
        return None
    if isinstance(part, int):
        return declared.items
    if declared.entries is not None and part in declared.entries:
        return declared.entries[part]
    return None

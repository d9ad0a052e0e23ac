"""JSON Schemas (draft 7) of templates, environments and test files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.cli.authoring.schemas.values import FUNCTION, Schema, function_call, map_of, or_function
from stoker.schema.properties import AnyName
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support
from stoker.template.definition import TypeRegistry
from stoker.template.environment.environment import MERGE_STRATEGIES, SECTIONS
from stoker.template.parameters.declarations import CFN_TYPES, HOT_TYPES
from stoker.template.versions import HOT, VERSIONS, Dialect, Version

DRAFT = "http://json-schema.org/draft-07/schema#"
_TEXT: Schema = {"type": "string"}
_SCALAR: Schema = {"type": ["string", "number", "boolean", "null"]}
_CONDITION: Schema = {"type": ["string", "boolean", "object", "number"]}


def versions_named(dialect: str, name: str | None = None) -> list[Version]:
    """Return the versions of a dialect, or the one with this name or alias."""
    return [
        version
        for version in VERSIONS
        if version.dialect.name == dialect
        and (name is None or name in (version.name, *version.aliases))
    ]


def template_schema(versions: list[Version], types: TypeRegistry, names: Iterable[str]) -> Schema:
    """Return the schema of templates in versions of one dialect, with these resource types."""
    dialect = versions[-1].dialect
    functions = {name for version in versions for name in version.functions | version.extensions}
    found = {name: type_ for name in names if (type_ := types.find(name)) is not None}
    definitions = {
        FUNCTION: function_call(functions),
        "parameter": _hot_parameter() if dialect is HOT else _cfn_parameter(),
        "resource": _resource(versions, found),
        "output": _output(dialect),
        **{name: _properties(type_) for name, type_ in found.items()},
    }
    sections: dict[str, Schema] = {
        dialect.description: {},
        dialect.parameters: _named("parameter"),
        dialect.resources: _named("resource"),
        dialect.outputs: _named("output"),
        dialect.conditions: {"type": ["object", "null"], "additionalProperties": _CONDITION},
    }
    if dialect.mappings:
        sections[dialect.mappings] = {}
    for version in versions:
        names_ = [version.name, *version.aliases]
        key = sections.setdefault(version.key, {"enum": []})
        key["enum"] += names_
    known = {name for version in versions for name in version.sections}
    properties = {
        name: sections.get(name, {}) for name in sorted(known | {v.key for v in versions})
    }
    schema: Schema = {
        "$schema": DRAFT,
        "title": "HOT template" if dialect is HOT else "CloudFormation template for OpenStack",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "definitions": definitions,
    }
    if dialect is HOT:
        schema["required"] = [versions[0].key]
    return schema


def _named(definition: str) -> Schema:
    reference = {"$ref": f"#/definitions/{definition}"}
    # an empty list is read as an empty section
    kinds = ["object", "null", "array"]
    return {"type": kinds, "additionalProperties": reference, "maxItems": 0}


def _hot_parameter() -> Schema:
    bounds = {"type": "object", "properties": {"min": _SCALAR, "max": _SCALAR}}
    constraint = {
        "type": "object",
        "properties": {
            "length": bounds,
            "range": bounds,
            "modulo": {"type": "object", "properties": {"step": _SCALAR, "offset": _SCALAR}},
            "allowed_values": {"type": "array"},
            "allowed_pattern": _TEXT,
            "custom_constraint": _TEXT,
            "description": _TEXT,
        },
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {"enum": sorted(HOT_TYPES)},
            "default": {},
            "label": _SCALAR,
            "description": _SCALAR,
            "hidden": {"type": ["boolean", "string"]},
            "immutable": {"type": ["boolean", "string"]},
            "constraints": {"type": ["array", "null"], "items": constraint},
            "schema": {},
            "tags": {"type": ["array", "string"]},
        },
        "additionalProperties": False,
    }


def _cfn_parameter() -> Schema:
    return {
        "type": "object",
        "required": ["Type"],
        "properties": {
            "Type": {"anyOf": [{"enum": sorted(CFN_TYPES)}, _TEXT]},
            "Default": {},
            "NoEcho": {"type": ["boolean", "string"]},
            "Label": _SCALAR,
            "Description": _SCALAR,
            "AllowedValues": {"type": "array"},
            "AllowedPattern": _TEXT,
            "MinLength": _SCALAR,
            "MaxLength": _SCALAR,
            "MinValue": _SCALAR,
            "MaxValue": _SCALAR,
            "ConstraintDescription": _SCALAR,
            "CustomConstraint": _TEXT,
        },
        "additionalProperties": False,
    }


def _resource(versions: list[Version], types: Mapping[str, ResourceType]) -> Schema:
    dialect = versions[-1].dialect
    keys = {key for version in versions for key in version.resource_keys}
    policies = {name for version in versions for name in version.deletion_policies}
    known: dict[str, Schema] = {
        dialect.type: {
            "anyOf": [{"enum": sorted(types)}, _TEXT],
            "description": "The type of the resource, or the file of a nested template.",
        },
        dialect.properties: {"type": ["object", "null"]},
        dialect.metadata: {"type": ["object", "null"]},
        dialect.depends_on: {"anyOf": [_TEXT, {"type": ["array", "null"]}]},
        dialect.deletion_policy: or_function({"enum": sorted(policies)}),
        dialect.update_policy: {"type": ["object", "null"]},
        dialect.condition: _CONDITION,
        dialect.description: {"type": ["string", "null"]},
    }
    return {
        "type": "object",
        "required": [dialect.type],
        "properties": {key: known.get(key, {}) for key in sorted(keys)},
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {dialect.type: {"const": name}}},
                "then": {"properties": {dialect.properties: {"$ref": f"#/definitions/{name}"}}},
            }
            for name in types
        ],
    }


def _properties(type_: ResourceType) -> Schema:
    schema: Schema = {"anyOf": [map_of(type_.properties), {"type": "null"}]}
    if isinstance(type_.properties, AnyName):
        schema = {"type": ["object", "null"]}
    if type_.description:
        schema["description"] = type_.description
    if type_.support.status is not Support.SUPPORTED:
        schema["deprecated"] = True
    return schema


def _output(dialect: Dialect) -> Schema:
    properties: dict[str, Schema] = {
        dialect.value: {},
        dialect.description: _SCALAR,
        dialect.condition: _CONDITION,
    }
    if dialect.export:
        properties[dialect.export] = {"type": "object"}
    return {"type": "object", "required": [dialect.value], "properties": properties}


def environment_schema(types: Iterable[str]) -> Schema:
    """Return the schema of environments; the registry suggests these types."""
    mapping = {"type": ["string", "object", "array", "null", "boolean", "number"]}
    sections: Mapping[str, Any] = {
        "parameters": {"type": ["object", "null"]},
        "parameter_defaults": {"type": ["object", "null"]},
        "parameter_merge_strategies": {
            "type": ["object", "null"],
            "additionalProperties": {
                "anyOf": [{"enum": list(MERGE_STRATEGIES)}, {"type": "object"}]
            },
        },
        "resource_registry": {
            "type": ["object", "null"],
            "properties": dict.fromkeys(types, mapping),
            "additionalProperties": mapping,
        },
        "encrypted_param_names": {"type": ["array", "null"], "items": _TEXT},
        "event_sinks": {"type": ["array", "null"], "items": {"type": "object"}},
    }
    return {
        "$schema": DRAFT,
        "title": "Environment",
        "type": ["object", "null"],
        "properties": {name: sections[name] for name in SECTIONS},
        "additionalProperties": False,
    }

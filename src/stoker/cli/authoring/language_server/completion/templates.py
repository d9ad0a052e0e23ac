"""Candidates in a template: keys and values of its sections."""

from __future__ import annotations

from collections.abc import Iterator

from stoker.cli.authoring.language_server.completion import names
from stoker.cli.authoring.language_server.completion.arguments import (
    argument_candidates,
    whole_calls,
)
from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind
from stoker.cli.authoring.language_server.completion.files import files_for
from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.completion.values import (
    choices_of_parameter,
    choices_of_property,
    words,
)
from stoker.cli.authoring.language_server.contexts import Context, context_of
from stoker.cli.authoring.language_server.model import Model
from stoker.schema.checks import CLOUD, PURE
from stoker.schema.properties import Type
from stoker.template.environment.registry import TEMPLATE_SUFFIXES
from stoker.template.parameters.constraints import KEYS
from stoker.template.parameters.declarations import CFN_KEYS, CFN_TYPES, HOT_KEYS, HOT_TYPES
from stoker.template.versions import HOT, VERSION_KEYS, VERSIONS

_LISTS = frozenset(("constraints", "parameter_groups", "AllowedValues", "depends_on", "tags"))
_MAPS = frozenset(
    (
        "parameters", "resources", "outputs", "conditions", "properties", "metadata",
        "Parameters", "Resources", "Outputs", "Conditions", "Mappings", "Properties", "Metadata",
        "UpdatePolicy", "CreationPolicy", "update_policy", "Rules",
    )
)  # fmt: skip


def template_candidates(model: Model, place: Place) -> Iterator[Candidate]:
    """Yield the candidates at a place."""
    context = context_of(model, place.path)
    if place.is_key:
        yield from _keys(model, context, place)
        return
    yield from _values(model, context, place)
    if place.may_be_key:
        yield from _keys(model, context, place)


def version_candidates(place: Place) -> Iterator[Candidate]:
    """Yield the first line of a new template."""
    for key in VERSION_KEYS:
        newest = [version.name for version in VERSIONS if version.key == key][-1]
        snippet = f'{key}: "{newest}"' if key != VERSION_KEYS[0] else f"{key}: {newest}"
        yield Candidate(key, Kind.Keyword, newest, snippet=snippet, is_key=True, order="0")


def _key(name: str, kind: Kind = Kind.Keyword) -> Candidate:
    opens = "list" if name in _LISTS else "map" if name in _MAPS else ""
    return Candidate(name, kind, is_key=True, opens=opens, order="3")


def _keys(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    """Yield the keys of the map at a place, without those that it has."""
    present = set(place.siblings)
    for candidate in _all_keys(model, context, place):
        if candidate.label not in present:
            yield candidate


def _all_keys(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    path, version, dialect = place.path, model.version, model.dialect
    if not path:
        yield from map(_key, sorted(version.sections))
    elif context.function:
        if not context.arguments:
            yield from map(_key, names.ARGUMENT_KEYS.get(context.function, ()))
        elif not place.siblings:
            yield from _function_keys(model, context, place)
    elif context.section == "parameters":
        yield from _declaration_keys(model, path)
    elif context.section == "resources" and len(path) == 2:
        yield from _resource_keys(model, context, place)
    elif context.section == "outputs" and len(path) == 2:
        keys = (dialect.value, dialect.description, dialect.condition, dialect.export)
        yield from (_key(key) for key in keys if key and (key != dialect.condition or _has(model)))
    elif context.section == "parameter_groups":
        yield from map(_key, ("label", "description", "parameters"))
    elif context.section in ("resources", "outputs", "conditions") and len(path) > 1:
        if context.properties:
            yield from names.properties(context.properties, place.siblings)
        if not place.siblings and not (context.part == "properties" and not context.rest):
            yield from _function_keys(model, context, place)


def _has(model: Model) -> bool:
    return model.version.has_conditions


def _function_keys(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    return names.functions(model, is_condition=context.is_condition, as_key=True)


def _resource_keys(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    dialect = model.dialect
    for key in sorted(model.version.resource_keys):
        candidate = _key(key)
        candidate.order = {dialect.type: "0", dialect.properties: "1"}.get(key, "3")
        declared = None if context.type is None else context.type.properties
        if key == dialect.properties and declared and not place.has_colon and not place.is_json:
            required = [name for name, each in declared.items() if each.required]
            if required:
                inner = names.required_snippet(declared, required, "  ")
                candidate.snippet = f"{key}:\n  {inner}"
        yield candidate


def _declaration_keys(model: Model, path: tuple[str | int, ...]) -> Iterator[Candidate]:
    if len(path) == 2:
        keys = HOT_KEYS if model.dialect is HOT else CFN_KEYS
        for key in sorted(keys):
            candidate = _key(key)
            candidate.order = "1" if key.lower() == "type" else "3"
            yield candidate
    elif len(path) == 4 and path[2] == "constraints":
        yield from (_key(key) for key, _ in KEYS.values())
        yield _key("description")
    elif len(path) == 5 and path[2] == "constraints":
        parts = next((parts for key, parts in KEYS.values() if key == path[4]), {})
        yield from map(_key, parts if len(parts) > 1 else ())


def _values(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    """Yield the values at a place."""
    path, _dialect = place.path, model.dialect
    if len(path) == 1 and path[0] in VERSION_KEYS:
        own = [version for version in VERSIONS if version.key == path[0]]
        yield from words((name for each in own for name in (each.name, *each.aliases)), Kind.Value)
    elif context.function:
        yield from argument_candidates(model, context, place)
    elif context.section == "parameters" and len(path) > 2:
        yield from _declaration_values(model, context, path)
    elif context.section == "parameter_groups" and len(path) == 4:
        yield from names.parameters(model, with_pseudo=False)
    elif context.section == "resources" and len(path) > 2:
        yield from _resource_values(model, context, place)
    elif context.section == "outputs" and context.part == "condition":
        yield from names.conditions(model)
    elif context.section == "outputs" and len(path) > 2 and context.part == "value":
        yield from whole_calls(model, context, place)
    elif context.section == "conditions" and len(path) > 1:
        yield from names.conditions(model, str(path[1]) if len(path) > 1 else "")
        yield from whole_calls(model, context, place)


def _resource_values(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    match context.part:
        case "type" if not context.rest:
            yield from type_candidates(model)
            yield from files_for(model, place, TEMPLATE_SUFFIXES)
        case "depends_on":
            yield from names.resources(model, context.name)
        case "condition":
            yield from names.conditions(model)
            yield from whole_calls(model, context, place)
        case "deletion_policy" | "update_replace_policy":
            yield from words(model.version.deletion_policies, Kind.EnumMember)
        case "properties" if context.rest:
            yield from _property_values(model, context, place)
        case _ if context.rest or context.part in ("metadata", "external_id"):
            yield from whole_calls(model, context, place)


def _is_group(context: Context) -> bool:
    """Return whether the type has a property with the definition of its members."""
    names_of_members = ("resource_def", "resource")
    return context.type is not None and any(n in context.type.properties for n in names_of_members)


def _property_values(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    if place.path[-1] == "type" and context.declared is not None and _is_group(context):
        yield from type_candidates(model)
        yield from files_for(model, place, TEMPLATE_SUFFIXES)
    declared = context.declared
    if declared is not None:
        yield from choices_of_property(declared)
        if declared.type is not Type.MAP or not declared.entries:
            yield from _referring(model, context, place)
    yield from whole_calls(model, context, place)


def _referring(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    """Yield whole calls that refer to a parameter, or to a resource if the property takes ids."""
    if place.quote or place.is_block or place.is_json or place.tag:
        return
    get_param, get_resource = "get_param", "get_resource"
    if model.dialect is not HOT:
        get_param = get_resource = "Ref"
    for name in names.parameters(model, with_pseudo=False):
        yield _called(get_param, name)
    declared = context.declared
    if declared is not None and (declared.finder is not None or declared.constraints):
        for name in names.resources(model, context.name):
            yield _called(get_resource, name)


def _called(function: str, name: Candidate) -> Candidate:
    label = f"{{{function}: {name.label}}}"
    return Candidate(label, Kind.Reference, name.detail, name.documentation, order="4", raw=True)


def type_candidates(model: Model) -> Iterator[Candidate]:
    """Yield the types of the service, and those that environments define."""
    preferred = "OS::" if model.dialect is HOT else "AWS::"
    for name in model.registered:
        if "*" not in name and name not in ("resources", "base_url"):
            yield Candidate(name, Kind.Class, "type of an environment", order="1")
    for name in model.known_types.names():
        order = "2" if name.startswith(preferred) else "4"
        yield Candidate(name, Kind.Class, order=order, data={"type": name})


def _declaration_values(
    model: Model, context: Context, path: tuple[str | int, ...]
) -> Iterator[Candidate]:
    key, is_hot = path[2], model.dialect is HOT
    if key == model.dialect.type:
        yield from words(HOT_TYPES if is_hot else CFN_TYPES, Kind.EnumMember)
    elif key in ("hidden", "immutable", "NoEcho"):
        yield from words(("true", "false"), Kind.EnumMember)
    elif key == model.dialect.default and context.name in model.parameters:
        yield from choices_of_parameter(model.parameters[context.name])
    elif "custom_constraint" in path or key == "CustomConstraint":
        yield from words(sorted(PURE.keys() | CLOUD), Kind.EnumMember)

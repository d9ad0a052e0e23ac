"""Candidates that name things of a template: parameters, resources, attributes, functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind, escaped
from stoker.cli.authoring.language_server.descriptions import (
    describe_attribute,
    describe_function,
    describe_parameter,
    describe_property,
    short_property,
)
from stoker.cli.authoring.language_server.model import Model
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support
from stoker.template.describe.resource_types import visible_attributes, visible_properties
from stoker.template.evaluate.inputs import Identity, pseudo_parameters
from stoker.template.evaluate.type_resolver import TemplateType
from stoker.template.functions.references import MEMBER
from stoker.template.versions import HOT

# What follows a function, as a snippet in flow style.
_ARGUMENTS: Mapping[str, str] = {
    "get_attr": "[$1, $2]",
    "Fn::GetAtt": "[$1, $2]",
    "str_replace": "{template: $1, params: {$2}}",
    "str_replace_strict": "{template: $1, params: {$2}}",
    "str_replace_vstrict": "{template: $1, params: {$2}}",
    "repeat": "{for_each: {$1}, template: $2}",
    "list_join": "['${1:,}', [$2]]",
    "str_split": "['${1:,}', $2]",
    "if": "[$1, $2, $3]",
    "Fn::If": "[$1, $2, $3]",
    "Fn::Join": "['${1:,}', [$2]]",
    "Fn::Split": "['${1:,}', $2]",
    "Fn::Select": "[$1, $2]",
    "Fn::FindInMap": "[$1, $2, $3]",
    "equals": "[$1, $2]",
    "Fn::Equals": "[$1, $2]",
    "contains": "[$1, $2]",
    "digest": "[${1:sha256}, $2]",
    "yaql": "{expression: $1, data: {$2}}",
    "map_merge": "[$1]",
    "list_concat": "[$1]",
    "list_concat_unique": "[$1]",
    "and": "[$1]",
    "or": "[$1]",
    "Fn::And": "[$1]",
    "Fn::Or": "[$1]",
    "Fn::Not": "[$1]",
    "Fn::Sub": "'$1'",
    "make_url": "{scheme: $1, host: $2}",
}
# The keys of the arguments of functions.
ARGUMENT_KEYS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("str_replace", "str_replace_strict", "str_replace_vstrict"), ("template", "params")
    ),
    "repeat": ("for_each", "template", "permutations"),
    "yaql": ("expression", "data"),
    "make_url": (
        "scheme", "username", "password", "host", "port", "path", "query", "fragment",
    ),
}  # fmt: skip


def parameters(model: Model, *, with_pseudo: bool = True) -> Iterator[Candidate]:
    """Yield the parameters of a template."""
    for name in model.section(model.dialect.parameters):
        declared = model.parameters.get(name)
        detail = "parameter" if declared is None else f"parameter: {declared.type}"
        text = "" if declared is None else describe_parameter(declared)
        yield Candidate(str(name), Kind.Variable, detail, text, order="1")
    if with_pseudo:
        for name in pseudo_parameters(model.version, Identity()):
            yield Candidate(name, Kind.Constant, "pseudo parameter", order="8")


def resources(model: Model, besides: str = "") -> Iterator[Candidate]:
    """Yield the resources of a template, without the one that is edited."""
    for name in model.section(model.dialect.resources):
        if name != besides:
            detail = model.type_name(name) or "resource"
            yield Candidate(str(name), Kind.Module, detail, order="2")


def conditions(model: Model, besides: str = "") -> Iterator[Candidate]:
    """Yield the conditions of a template."""
    for name in model.section(model.dialect.conditions):
        if name != besides:
            yield Candidate(str(name), Kind.Event, "condition", order="1")


def attributes(type_: ResourceType | None) -> Iterator[Candidate]:
    """Yield the attributes of a type, and the resources of a nested template."""
    if type_ is None:
        return
    for name, declared in visible_attributes(type_).items():
        kind = "" if declared.type is None else f": {declared.type}"
        order, text = "8" if name == "show" else "1", describe_attribute(name, declared)
        yield Candidate(name, Kind.Field, f"attribute{kind}", text, order=order)
    if isinstance(type_, TemplateType):
        for name in type_.template.resources:
            yield Candidate(f"{MEMBER}{name}", Kind.Module, "nested resource", order="6")


def attributes_of_all(model: Model) -> Iterator[Candidate]:
    """Yield RESOURCE.ATTRIBUTE of all resources."""
    for name in model.section(model.dialect.resources):
        for attribute in attributes(model.type_of(name)):
            attribute.label = f"{name}.{attribute.label}"
            yield attribute


def functions(model: Model, *, is_condition: bool, as_key: bool) -> Iterator[Candidate]:
    """Yield the functions of the version: as keys, or as whole values in flow style."""
    version = model.version
    names = version.functions | version.extensions
    if is_condition:
        names = version.condition_functions | version.condition_extensions
    for name in sorted(names):
        text = describe_function(name, version)
        detail, order = (
            "function",
            "6" if name.startswith("Fn::") and version.dialect is HOT else "4",
        )
        if as_key:
            yield Candidate(name, Kind.Function, detail, text, is_key=True, order=order)
            continue
        arguments = _ARGUMENTS.get(name, "$1")
        snippet = f"{{{name}: {arguments}\\}}"
        yield Candidate(name, Kind.Function, detail, text, snippet=snippet, order=order)


def properties(declared: Mapping[str, Property], siblings: Iterable[str]) -> Iterator[Candidate]:
    """Yield the keys of a map with declared entries: the required ones first."""
    present = set(siblings)
    missing = [
        name
        for name, each in visible_properties(declared).items()
        if each.required and name not in present
    ]
    if len(missing) > 1:
        yield Candidate(
            "required properties",
            Kind.Snippet,
            ", ".join(missing),
            snippet=required_snippet(declared, missing),
            is_key=True,
            order="0",
        )
    for name, each in visible_properties(declared).items():
        if name in present:
            continue
        yield Candidate(
            name,
            Kind.Property,
            short_property(each),
            describe_property(name, each),
            is_key=True,
            opens=_opens(each),
            is_deprecated=each.support.status is Support.DEPRECATED,
            order="1" if each.required else "3",
        )


def required_snippet(
    declared: Mapping[str, Property], names: Iterable[str], margin: str = ""
) -> str:
    """Return the snippet with some keys, each on a line with a place for its value."""
    lines = []
    for number, name in enumerate(names, 1):
        opening = {"map": f"\n{margin}  ", "list": f"\n{margin}  - "}.get(
            _opens(declared[name]), " "
        )
        lines.append(f"{escaped(name)}:{opening}${number}")
    return f"\n{margin}".join(lines)


def _opens(declared: Property) -> str:
    if declared.type is Type.LIST:
        return "list"
    return "map" if declared.type is Type.MAP and declared.entries else ""

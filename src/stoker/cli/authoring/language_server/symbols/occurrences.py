"""The occurrences of names in one document, as ranges in its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from stoker.cli.authoring.language_server.documents import Kind as DocumentKind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.syntax.nodes import (
    Entry,
    Node,
    Scalar,
    Sequence,
    node_at,
)
from stoker.cli.authoring.language_server.syntax.nodes import Mapping as MappingNode
from stoker.kernel.diagnostics import Path as DataPath
from stoker.template.describe.references import Reference, ReferenceKind
from stoker.template.environment.registry import RESOURCES
from stoker.template.functions.references import MEMBER


class Kind(StrEnum):
    """Kinds of named things."""

    PARAMETER = "parameter"
    RESOURCE = "resource"
    CONDITION = "condition"
    OUTPUT = "output"
    MAPPING = "mapping"


class Occurrence(Struct, frozen=True):
    """One place of a name. ``owner`` is the template that declares the thing."""

    kind: Kind
    name: str
    owner: Path
    start: int
    end: int
    is_declaration: bool = False
    is_bare: bool = False  # a plain scalar of its own, which may need quotes under another name


_REFERRED: Mapping[ReferenceKind, Kind] = {
    ReferenceKind.PARAMETER: Kind.PARAMETER,
    ReferenceKind.RESOURCE: Kind.RESOURCE,
    ReferenceKind.ATTRIBUTE: Kind.RESOURCE,
    ReferenceKind.CONDITION: Kind.CONDITION,
    ReferenceKind.MAPPING: Kind.MAPPING,
}


def span_in(scalar: Scalar, text: str, offset: int, name: str) -> tuple[int, int] | None:
    """Return the range of a name at an offset of a value.

    In text with line breaks or escapes, names are counted, because offsets differ.
    """
    start = scalar.inner + offset
    if text[start : start + len(name)] == name and text.startswith(
        scalar.value[:offset], scalar.inner
    ):
        return start, start + len(name)
    before = scalar.value.count(name, 0, offset)
    found = scalar.inner - 1
    for _ in range(before + 1):
        found = text.find(name, found + 1, scalar.end)
        if found < 0:
            return None
    return found, found + len(name)


def occurrences_in(model: Model) -> Iterator[Occurrence]:
    """Yield the names in a template, with those of things that nested templates declare."""
    if model.document.kind is not DocumentKind.TEMPLATE:
        return
    yield from _declarations(model)
    for reference in model.references:
        yield from _referred(model, reference)
    yield from _of_nested(model)


def _declarations(model: Model) -> Iterator[Occurrence]:
    dialect, root = model.dialect, model.document.tree
    sections = {
        dialect.parameters: Kind.PARAMETER,
        dialect.resources: Kind.RESOURCE,
        dialect.conditions: Kind.CONDITION,
        dialect.outputs: Kind.OUTPUT,
        dialect.mappings: Kind.MAPPING,
    }
    for section, kind in sections.items():
        content = node_at(root, (section,)) if section else None
        for entry in content.entries if isinstance(content, MappingNode) else ():
            yield _of_key(entry, kind, model.document.path, is_declaration=True)


def _of_key(entry: Entry, kind: Kind, owner: Path, *, is_declaration: bool = False) -> Occurrence:
    key = entry.key
    return Occurrence(
        kind, key.value, owner, key.inner, key.inner_end, is_declaration, is_bare=not key.style
    )


def _referred(model: Model, reference: Reference) -> Iterator[Occurrence]:
    kind = _REFERRED.get(reference.kind)
    node = node_at(model.document.tree, reference.path)
    if kind is None or not reference.name or not isinstance(node, Scalar):
        return
    content, owner = model.document.text.content, model.document.path
    span = span_in(node, content, reference.offset or 0, reference.name)
    if span is not None:
        is_bare = reference.offset is None and not node.style
        yield Occurrence(kind, reference.name, owner, *span, is_bare=is_bare)
    if reference.kind is ReferenceKind.ATTRIBUTE:
        yield from _attribute(model, reference, node)


def _attribute(model: Model, reference: Reference, node: Scalar) -> Iterator[Occurrence]:
    """Yield the attribute of a nested stack: an output of its template, or a resource in it."""
    nested = model.nested(reference.name)
    name = reference.rest[0] if reference.rest else None
    if nested is None or not isinstance(name, str):
        return
    offset = 0
    if reference.offset is not None:
        offset = reference.offset + len(reference.name) + 1
    else:
        item = node_at(model.document.tree, (*reference.path[:-1], 1))
        if not isinstance(item, Scalar):
            return
        node = item
    kind = Kind.OUTPUT
    if name.startswith(MEMBER):
        offset += len(MEMBER)
        kind, name = Kind.RESOURCE, name.removeprefix(MEMBER).partition(".")[0]
    elif reference.offset is not None:
        name = name.partition(".")[0]
    span = span_in(node, model.document.text.content, offset, name)
    if span is not None:
        is_bare = reference.offset is None and kind is Kind.OUTPUT and not node.style
        yield Occurrence(kind, name, nested, *span, is_bare=is_bare)


def _of_nested(model: Model) -> Iterator[Occurrence]:
    """Yield the properties of resources that are parameters of nested templates."""
    dialect, root = model.dialect, model.document.tree
    for resource, body in model.section(dialect.resources).items():
        path: DataPath = (dialect.resources, resource)
        nested = model.nested(resource)
        if nested is not None:
            yield from _parameters(node_at(root, (*path, dialect.properties)), nested)
        inner = body.get(dialect.properties) if isinstance(body, Mapping) else None
        for member, type_name in _members(inner, (*path, dialect.properties)):
            nested = model.nested_type(type_name)
            if nested is not None:
                yield from _parameters(node_at(root, (*member, "properties")), nested)


def _parameters(content: Node | None, nested: Path) -> Iterator[Occurrence]:
    for entry in content.entries if isinstance(content, MappingNode) else ():
        yield _of_key(entry, Kind.PARAMETER, nested)


def _members(value: object, path: DataPath) -> Iterator[tuple[DataPath, str]]:
    """Yield the definitions of members in the properties of groups, with their types."""
    if isinstance(value, Mapping):
        type_name = value.get("type")
        if isinstance(type_name, str) and isinstance(value.get("properties"), Mapping):
            yield path, type_name
        for key, inner in value.items():
            yield from _members(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _members(inner, (*path, index))


def occurrences_in_environment(root: Node | None, template: Path) -> Iterator[Occurrence]:
    """Yield the parameters and resources of a template that an environment names."""
    for section in ("parameters", "parameter_defaults", "parameter_merge_strategies"):
        content = node_at(root, (section,))
        for entry in content.entries if isinstance(content, MappingNode) else ():
            yield _of_key(entry, Kind.PARAMETER, template)
    names = node_at(root, ("encrypted_param_names",))
    for item in names.items if isinstance(names, Sequence) else ():
        if isinstance(item, Scalar):
            span = item.inner, item.inner_end
            yield Occurrence(Kind.PARAMETER, item.value, template, *span, is_bare=not item.style)
    resources = node_at(root, _SINGLE)
    for entry in resources.entries if isinstance(resources, MappingNode) else ():
        yield _of_key(entry, Kind.RESOURCE, template)


_SINGLE: DataPath = ("resource_registry", RESOURCES)

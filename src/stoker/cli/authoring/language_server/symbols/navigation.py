"""Definitions, references and highlights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types

from stoker.cli.authoring.language_server.documents import Document, uri_of
from stoker.cli.authoring.language_server.documents import Kind as DocumentKind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.models import Models
from stoker.cli.authoring.language_server.symbols.index import Found, Index
from stoker.cli.authoring.language_server.syntax.nodes import Scalar, steps_to
from stoker.kernel.diagnostics import Path as DataPath
from stoker.template.environment.registry import TEMPLATE_SUFFIXES

_START = types.Range(types.Position(0, 0), types.Position(0, 0))


def definition(
    document: Document, offset: int, index: Index, models: Models
) -> types.Location | None:
    """Return the declaration of the name at an offset, or the file that it names."""
    wanted = index.at(document, offset)
    if wanted is not None:
        found = index.declaration(wanted)
        if found is not None:
            return location(found)
    file = file_at(models.of(document), offset)
    return None if file is None else types.Location(uri_of(file), _START)


def references(
    document: Document, offset: int, index: Index, *, with_declaration: bool
) -> list[types.Location]:
    """Return all places of the name at an offset."""
    wanted = index.at(document, offset)
    found = [] if wanted is None else index.all(wanted)
    return [location(each) for each in found if with_declaration or not each[1].is_declaration]


def highlights(document: Document, offset: int, index: Index) -> list[types.DocumentHighlight]:
    """Return the places of the name at an offset in its document."""
    wanted = index.at(document, offset)
    if wanted is None:
        return []
    return [
        types.DocumentHighlight(
            document.text.range(each.start, each.end),
            types.DocumentHighlightKind.Write
            if each.is_declaration
            else types.DocumentHighlightKind.Read,
        )
        for each in index.of(document)
        if (each.kind, each.name, each.owner) == (wanted.kind, wanted.name, wanted.owner)
    ]


def location(found: Found) -> types.Location:
    """Return the place of an occurrence."""
    document, occurrence = found
    return types.Location(document.uri, document.text.range(occurrence.start, occurrence.end))


def links(model: Model) -> list[types.DocumentLink]:
    """Return the files that a document names."""
    found = []
    for scalar, file in _files(model):
        where = model.document.text.range(scalar.inner, scalar.inner_end)
        found.append(types.DocumentLink(where, uri_of(file)))
    return found


def file_at(model: Model, offset: int) -> Path | None:
    """Return the file that the value at an offset names; or that implements the type there."""
    for scalar, file in _files(model):
        if scalar.holds(offset):
            return file
    steps = steps_to(model.document.tree, offset)
    path: DataPath = steps[-1].path if steps else ()
    dialect = model.dialect
    is_type = len(path) == 3 and path[0] == dialect.resources and path[2] == dialect.type
    return model.nested(str(path[1])) if is_type and model.document.is_template else None


def _files(model: Model) -> list[tuple[Scalar, Path]]:
    named: dict[DataPath, str] = {each.path: each.name for each in model.file_references}
    if model.document.kind is DocumentKind.ENVIRONMENT:
        named = _registered(model.section("resource_registry"), ("resource_registry",))
    found = []
    for path, name in named.items():
        node = model.node(path)
        file = model.file(name)
        if isinstance(node, Scalar) and file.is_file():
            found.append((node, file))
    return found


def _registered(registry: Mapping[str, object], path: DataPath) -> dict[DataPath, str]:
    found: dict[DataPath, str] = {}
    for key, value in registry.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            found |= _registered(value, here)
        elif isinstance(value, str) and value.endswith(TEMPLATE_SUFFIXES):
            found[here] = value
    return found

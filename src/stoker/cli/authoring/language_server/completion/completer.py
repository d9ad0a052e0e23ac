"""Answers a request for completion."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from stoker.cli.authoring.language_server.completion.candidates import Candidate, items_of
from stoker.cli.authoring.language_server.completion.environments import environment_candidates
from stoker.cli.authoring.language_server.completion.objects import ObjectCandidates
from stoker.cli.authoring.language_server.completion.places import Place, place_at
from stoker.cli.authoring.language_server.completion.templates import (
    template_candidates,
    version_candidates,
)
from stoker.cli.authoring.language_server.descriptions import describe_type
from stoker.cli.authoring.language_server.documents import Document, Kind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.models import Models
from stoker.cli.authoring.language_server.syntax.nodes import Mapping
from stoker.template.definition import TypeRegistry


def complete(
    document: Document,
    offset: int,
    models: Models,
    objects: ObjectCandidates | None = None,
    *,
    has_snippets: bool,
) -> list[types.CompletionItem]:
    """Return the completions at an offset, with ``objects`` of the cloud that fit there."""
    place = place_at(document, offset)
    if place is None:
        return []
    templates: list[Model] = []
    model = models.of(document)
    candidates: Iterable[Candidate] = ()
    if document.kind is Kind.TEMPLATE:
        candidates = template_candidates(model, place)
    elif document.kind is Kind.ENVIRONMENT:
        templates = models.templates_of(document)
        candidates = environment_candidates(model, place, templates)
    elif _is_new(document, place):
        candidates = version_candidates(place)
    found = list(candidates)
    if objects is not None and document.kind is not Kind.OTHER:
        objects.add(model, place, templates)
        found += objects
    return items_of(found, place, document, has_snippets=has_snippets)


def _is_new(document: Document, place: Place) -> bool:
    """Return whether the first key of a document is written."""
    tree = document.tree
    keys = tree.keys if isinstance(tree, Mapping) else []
    return not place.path and len(keys) <= 1


def resolve(item: types.CompletionItem, known: TypeRegistry) -> types.CompletionItem:
    """Add the documentation that is too expensive for a list."""
    data = item.data if isinstance(item.data, dict) else {}
    name = data.get("type")
    type_ = known.find(name) if isinstance(name, str) else None
    if type_ is not None:
        text = describe_type(type_)
        item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
    return item

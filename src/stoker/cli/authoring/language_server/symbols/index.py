"""Finds occurrences of a name in all documents that may have it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stoker.cli.authoring.language_server.documents import Document, Documents
from stoker.cli.authoring.language_server.documents import Kind as DocumentKind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.models import Models
from stoker.cli.authoring.language_server.symbols.occurrences import (
    Kind,
    Occurrence,
    occurrences_in,
    occurrences_in_environment,
)

Found = tuple[Document, Occurrence]
_MOST_TEMPLATES = 100  # of one environment


class Index:
    """The names of documents that are near each other: in one directory, or beside it."""

    def __init__(self, documents: Documents, models: Models) -> None:
        self._documents = documents
        self._models = models

    def at(self, document: Document, offset: int) -> Occurrence | None:
        """Return the name at an offset."""
        return next((each for each in self.of(document) if each.start <= offset <= each.end), None)

    def of(self, document: Document) -> list[Occurrence]:
        """Return the names in a document."""
        if document.kind is DocumentKind.TEMPLATE:
            return list(occurrences_in(self._models.of(document)))
        if document.kind is not DocumentKind.ENVIRONMENT:
            return []
        found: dict[tuple[int, int], Occurrence] = {}
        for template in self._with_nested(self._models.templates_of(document)):
            names = _names(template)
            for each in occurrences_in_environment(document.tree, template.document.path):
                if (each.kind, each.name) in names:
                    found.setdefault((each.start, each.end), each)
        return list(found.values())

    def _with_nested(self, templates: list[Model]) -> list[Model]:
        """Return templates and those nested in them, to which default values apply, too."""
        found = {each.document.path: each for each in templates}
        pending = list(templates)
        while pending and len(found) < _MOST_TEMPLATES:
            template = pending.pop(0)
            for resource in template.section(template.dialect.resources):
                path = template.nested(resource)
                inner = None if path is None or path in found else self._models.at(path)
                if inner is not None:
                    found[inner.document.path] = inner
                    pending.append(inner)
        return list(found.values())

    def declaration(self, wanted: Occurrence) -> Found | None:
        """Return the declaration of a name."""
        document = self._documents.at(wanted.owner)
        for each in () if document is None else self.of(document):
            if each.is_declaration and (each.kind, each.name) == (wanted.kind, wanted.name):
                assert document is not None
                return document, each
        return None

    def all(self, wanted: Occurrence) -> list[Found]:
        """Return all occurrences of a name, the declaration first."""
        found: list[Found] = []
        for document in self._concerned(wanted):
            found += [
                (document, each)
                for each in self.of(document)
                if (each.kind, each.name, each.owner) == (wanted.kind, wanted.name, wanted.owner)
            ]
        return sorted(found, key=lambda each: not each[1].is_declaration)

    def _concerned(self, wanted: Occurrence) -> Iterator[Document]:
        """Yield the template that declares a name, its environments, and the templates above it."""
        owner = self._documents.at(wanted.owner)
        if owner is None:
            return
        yield owner
        if wanted.kind in (Kind.CONDITION, Kind.MAPPING):
            return
        seen = {owner.path}
        folder = wanted.owner.parent
        for document in (
            *self._models.environments_of(wanted.owner),
            *self._documents.near(folder),
            *self._documents.near(folder.parent),
        ):
            if document.path in seen:
                continue
            seen.add(document.path)
            if document.kind is DocumentKind.ENVIRONMENT or self._may_nest(document, owner.path):
                yield document

    def _may_nest(self, document: Document, template: Path) -> bool:
        """Return whether a template, or one of its environments, names the file of another."""
        texts = [document, *self._models.environments_of(document.path)]
        return any(template.name in each.text.content for each in texts)


def _names(template: Model) -> set[tuple[Kind, str]]:
    dialect = template.dialect
    return {
        *((Kind.PARAMETER, str(name)) for name in template.section(dialect.parameters)),
        *((Kind.RESOURCE, str(name)) for name in template.section(dialect.resources)),
    }

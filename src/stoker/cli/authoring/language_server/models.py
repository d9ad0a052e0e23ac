"""The models of documents, which belong to one state of all documents."""

from __future__ import annotations

import json
from pathlib import Path

from cachetools import LRUCache

from stoker.cli.arguments.files import bundle
from stoker.cli.arguments.locations import Location
from stoker.cli.authoring.language_server.checking import Checker, template_of
from stoker.cli.authoring.language_server.documents import Document, Documents, Kind
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.console.failures import CommandError
from stoker.cli.offline_template import OfflineTemplate, known_types
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import LimitExceededError
from stoker.kernel.time_limit import limited
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.evaluation import Evaluation

_MOST_SECONDS = 5.0  # of an evaluation for one request
_MOST_MODELS = 32


class Models:
    """The models of documents, until one of the documents changes."""

    def __init__(self, documents: Documents, checker: Checker) -> None:
        self._documents = documents
        self._checker = checker
        self.types = known_types()
        self._helpers = Sandbox(size=1)
        self._known: LRUCache[Path, Model] = LRUCache(_MOST_MODELS)

    def close(self) -> None:
        """End the helpers of expressions."""
        self._helpers.close()

    def forget(self) -> None:
        """Forget all models, since a document has changed."""
        self._known.clear()

    def of(self, document: Document) -> Model:
        """Return the model of a document."""
        known = self._known.get(document.path)
        if known is None or known.document is not document:
            known = Model(document, self.types, lambda: self._evaluated(document))
            self._known[document.path] = known
        return known

    def at(self, path: Path) -> Model | None:
        """Return the model of the document of a file, or None."""
        document = self._documents.at(path)
        return None if document is None else self.of(document)

    def templates_of(self, environment: Document) -> list[Model]:
        """Return the templates that an environment belongs to: by its name, or those near it."""
        template = template_of(environment.path)
        named = None if template is None else self.at(template)
        if named is not None:
            return [named]
        folder = environment.path.parent
        near = [*self._documents.near(folder), *self._documents.near(folder.parent)]
        found = {each.path: each for each in near if each.kind is Kind.TEMPLATE}
        return [self.of(each) for each in found.values()]

    def environments_of(self, template: Path) -> list[Document]:
        """Return the environments that a template is checked with."""
        found = map(self._documents.at, self._checker.environments_of(template))
        return [each for each in found if each is not None]

    def _evaluated(self, document: Document) -> Evaluation | None:
        if document.kind is not Kind.TEMPLATE:
            return None
        environments = self._checker.environments_of(document.path)
        for used in (environments, []) if environments else ([],):
            try:
                with limited(_MOST_SECONDS):
                    sent = bundle(document.path, used, self._read_text)
                    offline = OfflineTemplate.of(sent, {}, self._helpers, self.types)
                    return offline.evaluation(True)
            except (DiagnosticError, CommandError, LimitExceededError):
                continue
        return None

    def _read_text(self, location: Location) -> str:
        """Return the text of a document; of an invalid one, its data as JSON."""
        document = self._documents.at(location) if isinstance(location, Path) else None
        if document is not None and document.source is None and document.kind is not Kind.OTHER:
            return json.dumps(document.data)
        return self._documents.read_text(location)

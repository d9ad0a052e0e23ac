"""A document with its meaning: version, types, parameters, references and evaluation.

A model works with text that is not valid, too: then the data is that of the tree, and there is an
evaluation as far as the document has valid parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import Node, node_at
from stoker.kernel.diagnostics import DiagnosticError, Diagnostics
from stoker.kernel.diagnostics import Path as DataPath
from stoker.kernel.lazy import lazy
from stoker.schema.resource_type import ResourceType
from stoker.template.definition import TypeRegistry
from stoker.template.describe.references import (
    Reference,
    ReferenceKind,
    find_references,
    version_in,
)
from stoker.template.document import ResourceBody
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.type_resolver import TemplateType
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import Parameter
from stoker.template.versions import Dialect, Version


class Model:
    """One template or environment."""

    def __init__(
        self, document: Document, types: TypeRegistry, evaluate: Callable[[], Evaluation | None]
    ) -> None:
        self.document = document
        self.known_types = types
        self._evaluate = evaluate

    @property
    def data(self) -> Mapping[str, Any]:
        """Return the data; empty if the document is no map."""
        data = self.document.data
        return data if isinstance(data, Mapping) else {}

    @lazy
    def version(self) -> Version:
        """The version of the language."""
        return version_in(self.data)

    @property
    def dialect(self) -> Dialect:
        """Return the spelling of sections and keys."""
        return self.version.dialect

    def section(self, key: str) -> Mapping[str, Any]:
        """Return a section; empty if it is not a map."""
        found = self.data.get(key) if key else None
        return found if isinstance(found, Mapping) else {}

    @lazy
    def parameters(self) -> Mapping[str, Parameter]:
        """The valid declarations of parameters."""
        return declare(self.section(self.dialect.parameters), self.version, Diagnostics())

    @lazy
    def references(self) -> list[Reference]:
        """All references in the template."""
        return find_references(self.data)

    @lazy
    def evaluation(self) -> Evaluation | None:
        """The evaluation with the values of environments; None without a valid structure."""
        return self._evaluate()

    def type_name(self, resource: str) -> str | None:
        """Return the name of the type of a resource."""
        body = self.section(self.dialect.resources).get(resource)
        name = body.get(self.dialect.type) if isinstance(body, Mapping) else None
        return name if isinstance(name, str) else None

    def type_of(self, resource: str) -> ResourceType | None:
        """Return the type of a resource, as the environment resolves it."""
        name = self.type_name(resource)
        return None if name is None else self.type_named(name, resource)

    def type_named(self, name: str, resource: str = "") -> ResourceType | None:
        """Return a type by its name, which may mean another one for a single resource."""
        if self.evaluation is not None:
            try:
                return self.evaluation.resolver.type_of(ResourceBody(resource, name, ()))
            except DiagnosticError:
                pass
        return self.known_types.find(name)

    @lazy
    def file_references(self) -> list[Reference]:
        """The files that the template names."""
        return [each for each in self.references if each.kind is ReferenceKind.FILE and each.name]

    def node(self, path: DataPath) -> Node | None:
        """Return the node at a path in the data."""
        return node_at(self.document.tree, path)

    def data_at(self, path: DataPath) -> Any:
        """Return the data at a path; None if there is none."""
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def nested(self, resource: str) -> Path | None:
        """Return the template that implements a resource."""
        name = self.type_name(resource)
        return None if name is None else self.nested_type(name, resource)

    def nested_type(self, name: str, resource: str = "") -> Path | None:
        """Return the template that a type stands for."""
        type_ = self.type_named(name, resource)
        return self.file(type_.url) if isinstance(type_, TemplateType) else None

    def file(self, name: str) -> Path:
        """Return the path of a file that is named relative to the document."""
        return Path(self.document.path.parent, name).resolve()

    @lazy
    def registered(self) -> Mapping[str, Any]:
        """The entries of the resource registry of the environments."""
        evaluation = self.evaluation
        return {} if evaluation is None else evaluation.inputs.environment.resource_registry

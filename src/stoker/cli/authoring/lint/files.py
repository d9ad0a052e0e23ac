"""Lints files: with the findings of ``stoker validate``, and with the environments beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import environment_beside
from stoker.cli.arguments.locations import STDIN, Location, origin_of
from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.authoring.lint.comments import ignores_in
from stoker.cli.authoring.lint.correction import corrected
from stoker.cli.authoring.lint.linter import lint
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.findings import Finding, finding_of
from stoker.cli.offline import OfflineChecks
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.lazy import lazy
from stoker.template.environment.environment import parse_environment
from stoker.template.source.source import Source, read

_UNKNOWN_TYPE = "unknown-type"
_NOT_NESTED = "it is not nested"


@dataclass(slots=True)
class Outcome:
    """Findings about documents, and the texts of these by file."""

    found: list[Finding] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    documents: int = 0
    corrected: list[Path] = field(default_factory=list)

    def add(self, found: Iterable[Finding]) -> None:
        """Add findings; those about nested templates may be known already."""
        known = set(self.found)
        self.found += [each for each in found if each not in known]


def lint_files(
    paths: Iterable[Path],
    environments: Sequence[Location],
    files: SettingsFiles,
    *,
    auto_environment: bool = True,
    is_correcting: bool = False,
) -> Outcome:
    """Return the findings about templates and environments, and about ``environments`` with them.

    Raise :class:`InputError` for documents that cannot be read.
    """
    documents = list(paths)
    run = _Run(files, documents)
    with closing(run.checks):
        for path in documents if is_correcting else ():
            run.correct(path)
        for path in documents:
            beside = environment_beside(path) if auto_environment else None
            used = environments if beside is None else [beside, *environments]
            template = run.lint_document(path, used)
            for environment in environments if template is not None else ():
                if isinstance(environment, Path):
                    run.lint_environment(environment, template)
    return run.outcome


class _Run:
    """Lints one document after the other; each is read once, also standard input."""

    def __init__(self, files: SettingsFiles, documents: Sequence[Path]) -> None:
        self.outcome = Outcome()
        self.checks = OfflineChecks(self._read)
        self._files = files
        self._documents = documents
        self._texts: dict[Location, str] = {}
        self._linted: set[Path] = set()

    def correct(self, path: Path) -> None:
        """Write the certain corrections of a document to its file."""
        settings = self._files.settings_of(path)
        if path == STDIN or settings.is_excluded:
            return
        try:
            text = corrected(read(self._read(path), origin_of(path)), settings)
        except DiagnosticError:
            return
        if text is not None:
            path.write_bytes(text.encode())
            self._texts[path] = text
            self.outcome.corrected.append(path)

    def lint_document(self, path: Path, environments: Sequence[Location]) -> Source | None:
        """Lint one document. Return its source if it is a template that can be read."""
        settings = self._files.settings_of(None if path == STDIN else path)
        if settings.is_excluded:
            return None
        name = origin_of(path)
        try:
            source = read(self._read(path), name)
        except DiagnosticError as error:
            self._add(path, [finding_of(each, name) for each in error.diagnostics])
            return None
        if kind_of_document(source.data) is DocumentKind.ENVIRONMENT:
            self.lint_environment(path, _template_beside(path))
            return None
        checked = self.checks.check(path, environments, {})
        self.outcome.texts = {**checked.texts, **self.outcome.texts}
        validated = [each for each in checked.findings if self._is_relevant(each, name)]
        self._add(path, lint(source, settings, validated=validated))
        return source

    def _is_relevant(self, finding: Finding, document: str) -> bool:
        """Return whether a finding of validation holds for a template among others.

        A comment in a nested template ignores it, or an environment among the documents has the
        type.
        """
        if finding.code == _UNKNOWN_TYPE:
            named = re.search(r"\(([^()]+)\)", finding.message)
            name = "" if named is None else named[1]
            if any(fnmatchcase(name, pattern) for pattern in self._mapped_types):
                return False
        if _NOT_NESTED in finding.message:
            return False  # Templates with resource_facade are only deployed in others.
        if finding.file == document:
            return True
        ignores = ignores_in(self.outcome.texts.get(finding.file, "").splitlines())
        return not any(each.covers(finding.code, finding.line) for each in ignores)

    @lazy
    def _mapped_types(self) -> frozenset[str]:
        """Return the types that environments among the documents map, also with wildcards."""
        found: set[str] = set()
        for path in self._documents:
            try:
                data = read(self._read(path)).data
            except DiagnosticError:
                continue
            if kind_of_document(data) is DocumentKind.ENVIRONMENT:
                found.update(_names_in(data.get("resource_registry")))
        return frozenset(found)

    def lint_environment(self, path: Path, template: Source | None) -> None:
        """Lint an environment with its template, unless that was done before."""
        if path in self._linted:
            return
        name, settings = origin_of(path), self._files.settings_of(None if path == STDIN else path)
        try:
            parse_environment(self._read(path), name)
            source = read(self._read(path), name)
        except DiagnosticError as error:
            self._add(path, [finding_of(each, name) for each in error.diagnostics])
        else:
            self._add(path, lint(source, settings, template=template, validated=()))

    def _read(self, location: Location) -> str:
        if location not in self._texts:
            self._texts[location] = read_document(location)
        return self._texts[location]

    def _add(self, path: Path, found: Iterable[Finding]) -> None:
        self._linted.add(path)
        self.outcome.documents += 1
        self.outcome.texts[origin_of(path)] = self._read(path)
        self.outcome.add(found)


def _names_in(registry: Any) -> Iterator[str]:
    """Yield the names of types in a registry, also of those for single resources."""
    for name, value in registry.items() if isinstance(registry, Mapping) else ():
        if isinstance(value, Mapping):
            yield from _names_in(value)
        else:
            yield str(name)


def _template_beside(environment: Path) -> Source | None:
    """Return the template ``NAME.yaml`` beside an environment ``NAME.env.yaml``, if it exists."""
    name = environment.name
    if not name.endswith(".env.yaml"):
        return None
    path = environment.with_name(f"{name.removesuffix('.env.yaml')}.yaml")
    try:
        return read(path.read_text("utf-8"), str(path)) if path.is_file() else None
    except (DiagnosticError, UnicodeDecodeError):
        return None

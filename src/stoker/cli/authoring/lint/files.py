"""Lints files: with the findings of ``stoker validate``, and with the environments beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct, field

from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import environment_beside
from stoker.cli.arguments.locations import STDIN, Location, origin_of
from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.authoring.lint.linter import lint
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.findings import Finding, finding_of
from stoker.cli.offline import OfflineChecks
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.environment.environment import parse_environment
from stoker.template.source.source import Source, read


class Outcome(Struct):
    """Findings about documents, and the texts of these by file."""

    found: list[Finding] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    documents: int = 0

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
) -> Outcome:
    """Return the findings about templates and environments, and about ``environments`` with them.

    Raise :class:`InputError` for documents that cannot be read.
    """
    run = _Run(files)
    with closing(run.checks):
        for path in paths:
            beside = environment_beside(path) if auto_environment else None
            used = environments if beside is None else [beside, *environments]
            template = run.lint_document(path, used)
            for environment in environments if template is not None else ():
                if isinstance(environment, Path):
                    run.lint_environment(environment, template)
    return run.outcome


class _Run:
    """Lints one document after the other; each is read once, also standard input."""

    def __init__(self, files: SettingsFiles) -> None:
        self.outcome = Outcome()
        self.checks = OfflineChecks(self._read)
        self._files = files
        self._texts: dict[Location, str] = {}
        self._linted: set[Path] = set()

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
        self._add(path, lint(source, settings, validated=checked.findings))
        return source

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

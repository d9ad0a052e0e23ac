"""Checks documents of the editor: the findings of ``stoker validate``, by document.

An open template is checked with everything that it refers to, as the editor has it. An environment
is checked through the template that it belongs to. The findings of a document are those of all
checks that reached it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from msgspec import Struct

from stoker.cli.arguments.files import environment_beside
from stoker.cli.authoring.language_server.documents import Document, Documents, Kind
from stoker.cli.authoring.language_server.findings import carried_over, in_protocol
from stoker.cli.authoring.language_server.settings import Settings
from stoker.cli.authoring.language_server.text import Text
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import Finding, finding_of
from stoker.cli.offline import Checked, OfflineChecks
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import LimitExceededError
from stoker.kernel.time_limit import limited
from stoker.template.environment.environment import parse_environment

_MOST_SECONDS = 20.0  # of one check
# Findings of a nested template on its own, for which its parents may have what is missing.
_OF_PARENTS = frozenset(("unknown-type", "unknown-file"))

ByPath = Mapping[Path, Sequence[types.Diagnostic]]


class Result(Struct, frozen=True):
    """The findings of a check, by document, and the documents that it read."""

    found: ByPath
    read: frozenset[Path]
    findings: Sequence[Finding] = ()  # as the command has them


class _Good(Struct, frozen=True):
    """The last findings about a document while its text was valid."""

    text: Text
    found: ByPath
    read: frozenset[Path]


class Checker:
    """Checks one document at a time, on a worker thread."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._checks = OfflineChecks(documents.read_text)
        self._good: dict[Path, _Good] = {}
        self.settings = Settings()
        self.folder = Path.cwd()

    def close(self) -> None:
        """End the helpers of checks."""
        self._checks.close()

    def forget(self, path: Path) -> None:
        """Forget a document that was closed."""
        self._good.pop(path, None)

    def environments_of(self, template: Path) -> list[Path]:
        """Return the environments of a template: the one beside it, and those of the settings."""
        beside = environment_beside(template)
        others = [each for each in self.settings.environments(self.folder) if each.is_file()]
        return [*([] if beside is None or beside in others else [beside]), *others]

    def check(self, document: Document) -> Result:
        """Return the findings of a document of the editor."""
        if document.kind is Kind.TEMPLATE:
            return self._checked_template(document, document.path)
        if document.kind is Kind.ENVIRONMENT:
            template = template_of(document.path)
            if template is not None and self._documents.at(template) is not None:
                return self._checked_template(document, template)
            return self._checked_environment(document)
        return Result({document.path: ()}, frozenset((document.path,)))

    def _checked_template(self, document: Document, template: Path) -> Result:
        try:
            with limited(_MOST_SECONDS):
                checked = self._checks.check(template, self.environments_of(template), {})
        except InputError as error:
            failed = Finding(str(document.path), None, None, "error", "unreadable", error.message)
            checked = Checked([failed], {})
        except LimitExceededError as error:
            failed = Finding(str(document.path), None, None, "error", "too-large", str(error))
            checked = Checked([failed], {})
        read = frozenset(map(Path, checked.texts)) | {document.path, template}
        found = self._by_document(checked.findings, document.path)
        if document.source is None:
            return self._with_earlier(document, Result(found, read))
        self._good[document.path] = _Good(document.text, found, read)
        return Result(found, read, checked.findings)

    def _checked_environment(self, document: Document) -> Result:
        name = str(document.path)
        try:
            parsed = parse_environment(document.text.content, name)
            findings = [finding_of(each, name) for each in parsed.warnings]
        except DiagnosticError as error:
            findings = [finding_of(each, name) for each in error.diagnostics]
        read = frozenset((document.path,))
        return Result(self._by_document(findings, document.path), read, findings)

    def _by_document(self, findings: Iterable[Finding], own: Path) -> ByPath:
        found: dict[Path, list[types.Diagnostic]] = {own: []}
        for finding in findings:
            path = Path(finding.file)
            document = self._documents.at(path)
            if document is not None:
                found.setdefault(path, []).append(in_protocol(finding, document))
        return found

    def _with_earlier(self, document: Document, result: Result) -> Result:
        """Return the findings of invalid text, with earlier ones on unchanged lines."""
        good = self._good.get(document.path)
        if good is None:
            return result
        found = {path: list(each) for path, each in good.found.items()}
        found[document.path] = carried_over(
            good.found.get(document.path, ()), good.text, document.text
        )
        for path, each in result.found.items():
            found[path] = [*each, *found.get(path, ())]
        return Result(found, result.read | good.read)


def template_of(environment: Path) -> Path | None:
    """Return the path of the template ``NAME.yaml`` of the environment ``NAME.env.yaml``."""
    if not environment.stem.endswith(".env"):
        return None
    return environment.with_name(environment.stem.removesuffix(".env") + environment.suffix)


def united(results: Mapping[Path, Result], path: Path) -> list[types.Diagnostic]:
    """Return the findings about a document of all checks, each once."""
    others = [each for root, each in results.items() if root != path and path in each.found]
    nested = [each for root, each in results.items() if root != path and path in each.read]
    found = list(results[path].found.get(path, ())) if path in results else []
    if nested:
        found = [each for each in found if each.code not in _OF_PARENTS]
    for result in others:
        found += [each for each in result.found[path] if each not in found]
    return found

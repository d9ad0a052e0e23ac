"""Checks templates without a service, with the same findings as the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from stoker.cli.arguments.files import Bundle, bundle
from stoker.cli.arguments.value_sources import diagnostic_at_source
from stoker.cli.console.findings import DocumentError, Finding, finding_of
from stoker.cli.offline_template import OfflineTemplate
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Severity
from stoker.kernel.values import replace
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.validation import REFERENCES
from stoker.template.source.source import read

_NOT_SENT = frozenset(("unknown-file", "unfetched-file"))


def check(
    template: Path | str, environments: Iterable[Path | str], parameters: Mapping[str, str]
) -> tuple[list[Finding], dict[str, str]]:
    """Return all findings about a template and its files, and the texts of these files.

    Raise :class:`stoker.cli.console.failures.InputError` for files that cannot be read.
    """
    try:
        sent = bundle(template, environments)
    except DocumentError as error:
        return list(error.findings), error.texts
    helpers = Sandbox(size=1)
    try:
        diagnostics: Iterable[Diagnostic] = _evaluated(sent, parameters, helpers)
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    finally:
        helpers.close()
    found = [finding_in(diagnostic, sent) for diagnostic in diagnostics]
    if sent.missing:
        found = [*sent.missing, *(finding for finding in found if finding.code not in _NOT_SENT)]
    return sorted(found, key=_place(found)), sent.texts()


def _place(found: Iterable[Finding]) -> Callable[[Finding], tuple[int, int, int]]:
    """Return a sort key for findings: by document, then by line."""
    documents = {file: number for number, file in enumerate(dict.fromkeys(f.file for f in found))}
    return lambda finding: (documents[finding.file], finding.line or 0, finding.column or 0)


def _evaluated(
    sent: Bundle, parameters: Mapping[str, str], helpers: Sandbox
) -> Iterable[Diagnostic]:
    """Return everything that a create would refuse, and all warnings."""
    offline = OfflineTemplate.of(sent, parameters, helpers)
    template, structure = offline.template, offline.structure

    def validated(assumed: bool | None) -> list[Diagnostic]:
        return list(offline.evaluation(assumed).validate())

    if parameters or sent.environment_files:
        found: Iterable[Diagnostic] = validated(None)
    else:
        both = _certain(validated(True), validated(False))
        found = (each for each in both if each.code != "missing-parameter")
    found = (_as_known_here(each) for each in found if each.code != "no-export")
    found = (diagnostic_at_source(each, sent, parameters) for each in found)
    if any(each.path[:1] != (template.version.dialect.outputs,) for each in structure.errors):
        # References to unreadable parts would only repeat their findings.
        found = (each for each in found if each.code not in REFERENCES)
    return [*structure, *found]


def _certain(one: list[Diagnostic], other: list[Diagnostic]) -> list[Diagnostic]:
    """Return all findings. Those that depend on conditions with unknown values become warnings."""
    return [
        *(each if each in other else _as_warning(each) for each in one),
        *(_as_warning(each) for each in other if each not in one),
    ]


def _as_known_here(found: Diagnostic) -> Diagnostic:
    """Return findings about templates that were not fetched as warnings."""
    return _as_warning(found) if found.code == "unfetched-file" else found


def _as_warning(found: Diagnostic) -> Diagnostic:
    return replace(found, severity=Severity.WARNING)


def finding_in(diagnostic: Diagnostic, sent: Bundle) -> Finding:
    """Return the finding for a diagnostic, at its place in the user's files."""
    file = diagnostic.file
    if diagnostic.position is None and file is not None and file in sent.files:
        diagnostic = read(sent.files[file], file).located(diagnostic)
    if diagnostic.position is not None and diagnostic.position.file is not None:
        file = diagnostic.position.file  # the nested template that cannot be read
    return finding_of(diagnostic, sent.place(file))

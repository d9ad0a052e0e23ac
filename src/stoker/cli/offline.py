"""Checks templates without a service, with the same findings as the service."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing

from cachetools import LRUCache
from msgspec import Struct

from stoker.cli.arguments.documents import read_document
from stoker.cli.arguments.files import Bundle, ReadText, bundle
from stoker.cli.arguments.locations import Location
from stoker.cli.arguments.value_sources import diagnostic_at_source
from stoker.cli.console.findings import DocumentError, Finding, finding_of
from stoker.cli.offline_template import OfflineTemplate, known_types
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Severity
from stoker.kernel.values import replace
from stoker.sandbox.sandbox import Sandbox
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.validation import REFERENCES
from stoker.template.source.source import read

_NOT_SENT = frozenset(("unknown-file", "unfetched-file"))
_MOST_EARLIER = 16  # evaluations that later ones can reuse


def check(
    template: Location, environments: Iterable[Location], parameters: Mapping[str, str]
) -> tuple[list[Finding], dict[str, str]]:
    """Return all findings about a template and its files, and the texts of these files.

    Raise :class:`stoker.cli.console.failures.InputError` for files that cannot be read.
    """
    with closing(OfflineChecks()) as checks:
        checked = checks.check(template, environments, parameters)
    return list(checked.findings), dict(checked.texts)


class Checked(Struct, frozen=True):
    """The findings about a template, with its evaluation."""

    findings: Sequence[Finding]
    texts: Mapping[str, str]  # by the names of files in the findings
    sent: Bundle | None = None  # None for documents that are not YAML
    evaluation: Evaluation | None = None  # None if the template has no valid structure


class OfflineChecks:
    """Checks templates, again and again in an editor: unchanged parts are not analysed again.

    ``read_text`` returns the text of a document. One check at a time.
    """

    def __init__(self, read_text: ReadText = read_document) -> None:
        self._read_text = read_text
        self._types = known_types()
        self._helpers = Sandbox(size=1)
        self._earlier: LRUCache[tuple[str, bool | None], Evaluation] = LRUCache(_MOST_EARLIER)

    def close(self) -> None:
        """End the helpers of expressions."""
        self._helpers.close()

    def check(
        self, template: Location, environments: Iterable[Location], parameters: Mapping[str, str]
    ) -> Checked:
        """Return all findings about a template and its files. Raises ``InputError``."""
        try:
            sent = bundle(template, environments, self._read_text)
        except DocumentError as error:
            return Checked(error.findings, error.texts)
        evaluation: Evaluation | None = None
        try:
            offline = OfflineTemplate.of(sent, parameters, self._helpers, self._types)
            evaluations = self._evaluations(offline, sent, parameters)
            evaluation = evaluations[0]
            diagnostics = _diagnostics(offline, evaluations, sent, parameters)
        except DiagnosticError as error:
            diagnostics = list(error.diagnostics)
        found = [finding_in(diagnostic, sent) for diagnostic in diagnostics]
        if sent.missing:
            found = [*sent.missing, *(each for each in found if each.code not in _NOT_SENT)]
        elif sent.has_unfetched:
            found = [each for each in found if each.code != "unknown-file"]
        return Checked(sorted(found, key=_place(found)), sent.texts(), sent, evaluation)

    def _evaluations(
        self, offline: OfflineTemplate, sent: Bundle, parameters: Mapping[str, str]
    ) -> list[Evaluation]:
        """Return the evaluation, or one for each value of conditions that have none."""
        has_values = bool(parameters or sent.environment_files)
        assumptions: tuple[bool | None, ...] = (None,) if has_values else (True, False)
        found = []
        for assumed in assumptions:
            key = (sent.origin, assumed)
            evaluation = offline.evaluation(assumed, self._earlier.get(key))
            self._earlier[key] = evaluation
            found.append(evaluation)
        return found


def _place(found: Iterable[Finding]) -> Callable[[Finding], tuple[int, int, int]]:
    """Return a sort key for findings: by document, then by line."""
    documents = {file: number for number, file in enumerate(dict.fromkeys(f.file for f in found))}
    return lambda finding: (documents[finding.file], finding.line or 0, finding.column or 0)


def _diagnostics(
    offline: OfflineTemplate,
    evaluations: Sequence[Evaluation],
    sent: Bundle,
    parameters: Mapping[str, str],
) -> list[Diagnostic]:
    """Return everything that a create would refuse, and all warnings."""
    template, structure = offline.template, offline.structure
    found: Iterable[Diagnostic] = list(evaluations[0].validate())
    if len(evaluations) > 1:
        both = _certain(list(found), list(evaluations[1].validate()))
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

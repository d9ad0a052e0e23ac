"""Corrects findings of lint whose correction is certain.

Takes a document and returns its text with the corrections, or None without any. The result is read
again: its data may only differ in the corrected values. Ignored findings are not corrected.
"""

from __future__ import annotations

from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.comments import ignores_in
from stoker.cli.authoring.lint.rule import Problem, Subject
from stoker.cli.authoring.lint.settings import Settings
from stoker.cli.authoring.lint.views import DocumentView, EnvironmentView, TemplateView, texts_in
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import Source, read


def corrected(source: Source, settings: Settings) -> str | None:
    """Return the text of a document with all certain corrections; None if there are none."""
    is_environment = kind_of_document(source.data) is DocumentKind.ENVIRONMENT
    view = EnvironmentView(source) if is_environment else TemplateView(source)
    problems = _corrections(view, settings)
    lines = list(view.lines)
    # Start at the end, so that earlier columns stay valid.
    for problem in sorted(problems, key=lambda each: each.place or (0, 0), reverse=True):
        assert problem.place is not None
        assert problem.correction is not None
        (line, column), (old, new) = problem.place, problem.correction
        before, rest = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
        if rest.startswith(old):
            lines[line - 1] = f"{before}{new}{rest.removeprefix(old)}"
    text = "".join(lines)
    return text if text != view.text and _is_safe(view, text, len(problems)) else None


def _corrections(view: DocumentView, settings: Settings) -> list[Problem]:
    ignores = ignores_in(view.lines)
    is_template = isinstance(view, TemplateView)
    fitting = (Subject.BOTH, Subject.TEMPLATE if is_template else Subject.ENVIRONMENT)
    return [
        problem
        for rule in all_rules().values()
        if settings.severity_of(rule) is not None and rule.subject in fitting and rule.check
        for problem in rule.check(view, **settings.options_of(rule))
        if problem.correction is not None and problem.place is not None
        if not any(each.covers(rule.name, problem.place[0]) for each in ignores)
    ]


def _is_safe(view: DocumentView, text: str, corrections: int) -> bool:
    """Return whether the text has all texts of the document, and only as many new ones."""
    try:
        data = read(text).data
    except DiagnosticError:
        return False
    before = [(each.path, each.value) for each in texts_in(view.source.data, ())]
    after = [(each.path, each.value) for each in texts_in(data, ())]
    kept = set(before) <= set(after)
    return kept and len(after) - len(before) <= corrections

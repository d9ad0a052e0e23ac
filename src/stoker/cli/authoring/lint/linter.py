"""Runs the rules of lint on one document.

A source and settings go in, findings come out, sorted by place. Findings of ``stoker validate`` may
be added: they get the severities of the settings, and comments ignore them as any other finding. No
rule reads files or talks to a service, so an editor can run this while its user types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from stoker.cli.authoring.discovery import DocumentKind, kind_of_document
from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.comments import Ignore, ignores_in
from stoker.cli.authoring.lint.rule import Group, Problem, Rule, Subject
from stoker.cli.authoring.lint.settings import Settings
from stoker.cli.authoring.lint.views import DocumentView, EnvironmentView, TemplateView
from stoker.cli.console.findings import Finding, finding_of
from stoker.kernel.diagnostics import Diagnostic, Position
from stoker.kernel.values import replace
from stoker.template.evaluate.validation import REFERENCES
from stoker.template.source.source import Source

UNUSED_IGNORE = "unused-ignore"
UNGUARDED = "unguarded-reference"  # validation reports it, too, if the condition does not hold


def lint(
    source: Source,
    settings: Settings,
    *,
    template: Source | None = None,
    validated: Sequence[Finding] | None = None,
) -> list[Finding]:
    """Return the findings about a template or an environment.

    ``template`` is that of an environment, if it is known. ``validated`` has the findings of
    ``stoker validate``, or is None if it did not run.
    """
    if settings.is_excluded:
        return []
    view = _view(source, template)
    file = source.file or ""
    found = list(_with_settings(validated or (), settings))
    reported = {each.line for each in validated or () if each.code in REFERENCES}
    own = _findings(view, settings, file)
    found += (each for each in own if each.code != UNGUARDED or each.line not in reported)
    ignores = ignores_in(view.lines)
    kept = [each for each in found if not _is_ignored(each, ignores, file)]
    rule = all_rules()[UNUSED_IGNORE]
    if settings.severity_of(rule) is not None:
        ran = _names_that_ran(settings, with_validation=validated is not None)
        view.unused_ignores = [
            each
            for each in ignores
            if each.name in ran and not any(_is_ignored(one, [each], file) for one in found)
        ]
        more = _findings(view, settings, file, [rule])
        kept += (each for each in more if not _is_ignored(each, ignores, file))
    return sorted(dict.fromkeys(kept), key=_place(file))


def _view(source: Source, template: Source | None) -> DocumentView:
    if kind_of_document(source.data) is not DocumentKind.ENVIRONMENT:
        return TemplateView(source)
    return EnvironmentView(source, None if template is None else TemplateView(template))


def _findings(
    view: DocumentView, settings: Settings, file: str, rules: Iterable[Rule] | None = None
) -> Iterator[Finding]:
    """Yield the findings of rules that run; the text is searched once for all their places."""
    is_template = isinstance(view, TemplateView)
    fitting = (Subject.BOTH, Subject.TEMPLATE if is_template else Subject.ENVIRONMENT)
    found: list[Diagnostic] = []
    for rule in all_rules().values() if rules is None else rules:
        severity = settings.severity_of(rule)
        if severity is None or rule.subject not in fitting or rule.check is None:
            continue
        for problem in rule.check(view, **settings.options_of(rule)):
            diagnostic = _diagnostic(problem, rule, file)
            found.append(replace(diagnostic, severity=severity))
    for diagnostic in view.source.all_located(found):
        yield finding_of(diagnostic, file)


def _diagnostic(problem: Problem, rule: Rule, file: str) -> Diagnostic:
    position = None if problem.place is None else Position(file, *problem.place)
    return Diagnostic(
        rule.name,
        problem.message,
        problem.path,
        position=position,
        suggestion=problem.suggestion,
    )


def _with_settings(validated: Iterable[Finding], settings: Settings) -> Iterator[Finding]:
    """Yield findings of validation that are not switched off, with their severities."""
    rules = all_rules()
    for finding in validated:
        known = rules.get(finding.code)
        rule = known or Rule(finding.code, Group.CORRECTNESS, "", "", "", "", "")
        chosen = settings.severity_of(rule)
        if chosen is None:
            continue
        # Validation decides the severity, unless the settings do: some codes have either.
        is_chosen = chosen is not rule.severity
        yield replace(finding, severity=str(chosen)) if is_chosen else finding


def _is_ignored(finding: Finding, ignores: Iterable[Ignore], file: str) -> bool:
    return finding.file == file and any(each.covers(finding.code, finding.line) for each in ignores)


def _names_that_ran(settings: Settings, *, with_validation: bool) -> frozenset[str]:
    return frozenset(
        rule.name
        for rule in all_rules().values()
        if settings.severity_of(rule) is not None and (with_validation or not rule.is_of_validation)
    )


def _place(file: str) -> Callable[[Finding], tuple[Any, ...]]:
    """Return a sort key: the document itself first, then by line."""

    def key(finding: Finding) -> tuple[Any, ...]:
        return (
            finding.file != file,
            finding.file,
            finding.line or 0,
            finding.column or 0,
            finding.code,
        )

    return key

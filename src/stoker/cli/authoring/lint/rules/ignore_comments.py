"""Rules about comments that ignore findings."""

from __future__ import annotations

from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.comments import ignores_in
from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Subject, rule
from stoker.cli.authoring.lint.validation_codes import VALIDATION_CODES
from stoker.cli.authoring.lint.views import DocumentView
from stoker.kernel.diagnostics import nearest


@rule(
    Group.MAINTAINABILITY,
    "A comment ignores a rule that does not exist.",
    why="""The comment has no effect, so the finding that it was written for is still reported, or
        is reported under another name.""",
    remedy="Correct the name, or remove the comment. stoker lint --list-rules lists the names.",
    subject=Subject.BOTH,
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString  # stoker: ignore=no-such-rule  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
        """,
)
def unknown_rule(view: DocumentView) -> Problems:
    """Yield names in comments that are no rules."""
    known = all_rules()
    for ignore in ignores_in(view.lines):
        if ignore.name not in known and ignore.name not in VALIDATION_CODES:
            near = nearest(ignore.name, known)
            advice = None if near is None else f'did you mean "{near}"?'
            message = f'there is no rule "{ignore.name}"'
            yield Problem(message, place=(ignore.line, ignore.column), suggestion=advice)


@rule(
    Group.MAINTAINABILITY,
    "A comment ignores a finding that there is not.",
    level=Level.STRICT,
    why="""The cause was removed and the comment stayed. It would hide the next finding of the rule
        in this place.""",
    remedy="Remove the comment, or the name of the rule from it.",
    subject=Subject.BOTH,
    bad="""
        resources:
          text:
            type: OS::Heat::RandomString  # stoker: ignore=unused-condition  # here
        """,
    good="""
        resources:
          text:
            type: OS::Heat::RandomString
        """,
)
def unused_ignore(view: DocumentView) -> Problems:
    """Yield comments without effect. The linter computes them when all other rules have run."""
    for ignore in view.unused_ignores:
        message = f'there is no finding of "{ignore.name}" to ignore'
        yield Problem(message, place=(ignore.line, ignore.column))


@rule(
    Group.MAINTAINABILITY,
    "A comment ignores a finding without a reason.",
    level=Level.ALL,
    why="Later readers cannot decide whether the finding may still be ignored.",
    remedy="Write the reason behind the names of the rules.",
    subject=Subject.BOTH,
    bad="""
        parameters:
          later:
            type: string
            default: ""
        # stoker: ignore-file=unused-parameter  # here
        """,
    good="""
        parameters:
          later:
            type: string
            default: ""
        # stoker: ignore-file=unused-parameter  the next release uses it
        """,
)
def ignore_without_reason(view: DocumentView) -> Problems:
    """Yield comments without a reason."""
    seen: set[int] = set()
    for ignore in ignores_in(view.lines):
        if not ignore.has_reason and ignore.line not in seen:
            seen.add(ignore.line)
            message = f'the reason to ignore "{ignore.name}" is missing'
            yield Problem(message, place=(ignore.line, ignore.column))

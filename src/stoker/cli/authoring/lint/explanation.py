"""Documentation of rules: for a terminal, and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import groupby

from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.rule import Rule, Subject

_WIDTH = 92
_INTRODUCTION = """\
Written by `python -m tools.reference`. `stoker lint` checks templates and environments with {}
rules; [how to lint](../guide/howto/lint.md) explains levels, settings and comments. In the
examples, `# here` marks the line of the finding, and the template version is left out where the
newest one is meant."""


def list_of_rules() -> str:
    """Return all rules by group, each with its level and summary."""
    lines: list[str] = []
    rules = all_rules().values()
    width = max(len(rule.name) for rule in rules)
    for group, members in groupby(rules, lambda rule: rule.group):
        lines += ["", str(group)]
        lines += [f"  {rule.name:{width}}  {rule.level:7}  {rule.summary}" for rule in members]
    return "\n".join(lines[1:])


def explanation(rule: Rule) -> str:
    """Return the documentation of one rule for a terminal."""
    paragraphs = [
        f"{rule.name} ({rule.group}, {rule.severity}, level {rule.level})",
        rule.summary,
        textwrap.fill(rule.why, _WIDTH),
        textwrap.fill(f"Remedy: {rule.remedy}", _WIDTH),
    ]
    if rule.options:
        named = ", ".join(f"{name} ({_written(value)})" for name, value in rule.options.items())
        paragraphs.append(textwrap.fill(f"Options: {named}", _WIDTH))
    paragraphs += [
        f"Found:\n\n{textwrap.indent(rule.bad, '    ')}",
        f"Not found:\n\n{textwrap.indent(rule.good, '    ')}",
    ]
    return "\n\n".join(paragraphs)


def page() -> str:
    """Return the page of the documentation with all rules."""
    rules = all_rules().values()
    lines = ["# Rules of lint", "", _INTRODUCTION.format(len(rules)), ""]
    lines += ["| Rule | Group | Level | Severity | Finds |", "|---|---|---|---|---|"]
    lines += map(_row, rules)
    for rule in rules:
        lines += _section(rule)
    return "\n".join([*lines, ""])


def _row(rule: Rule) -> str:
    link = f"[{rule.name}](#{rule.name})"
    return f"| {link} | {rule.group} | {rule.level} | {rule.severity} | {rule.summary} |"


def _section(rule: Rule) -> Iterator[str]:
    source = "; found by `stoker validate`, too" if rule.is_of_validation else ""
    yield from ("", f"## {rule.name}", "", rule.summary, "")
    yield f"Group {rule.group}, level {rule.level}, {rule.severity}{source}."
    yield from ("", rule.why, "", f"**Remedy:** {rule.remedy}")
    if rule.options:
        named = (f"`{name}` ({_written(value)})" for name, value in rule.options.items())
        yield from ("", f"**Options:** {', '.join(named)}")
    of = "environment" if rule.subject is Subject.ENVIRONMENT else "template"
    others = f" ({', '.join(sorted(rule.also))} finds it, too)" if rule.also else ""
    yield from (
        "",
        f"A finding, in this {of}{others}:",
        "",
        "```yaml",
        *rule.bad.split("\n"),
        "```",
    )
    yield from ("", "No finding:", "", "```yaml", *rule.good.split("\n"), "```")


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return str(value)

"""Rules of lint: their documentation, and the functions that check them.

A rule is a function with the decorator :func:`rule`. It takes a view of a document and yields
problems. Its name is that of the function, with hyphens. The documentation, the examples and the
defaults are arguments of the decorator, so that a rule is in one place. Rules without a function
document findings of ``stoker validate``.

:mod:`stoker.cli.authoring.lint.catalogue` imports all modules with rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from textwrap import dedent
from typing import Any, NotRequired, TypedDict, Unpack

from msgspec import Struct, field

from stoker.kernel.diagnostics import Path
from stoker.kernel.diagnostics import Severity as Severity
from stoker.kernel.values import replace


class Level(StrEnum):
    """Levels of lint; each includes those before it."""

    DEFAULT = "default"  # nearly certainly a mistake or a risk
    STRICT = "strict"  # good practice that templates may have reasons to leave
    ALL = "all"  # habits and style

    def includes(self, other: Level) -> bool:
        """Return whether rules of the other level run at this one."""
        order = list(Level)
        return order.index(other) <= order.index(self)


class Group(StrEnum):
    """Subjects of rules. Settings switch all rules of a group."""

    SECURITY = "security"
    CORRECTNESS = "correctness"
    DEPRECATION = "deprecation"
    RELIABILITY = "reliability"
    COST = "cost"
    PORTABILITY = "portability"
    MAINTAINABILITY = "maintainability"
    STYLE = "style"


class Subject(StrEnum):
    """Kind of document that a rule checks."""

    TEMPLATE = "template"
    ENVIRONMENT = "environment"
    BOTH = "both"


class Problem(Struct, frozen=True):
    """One place that breaks a rule: a path in the data, or a line and column that count from 1."""

    message: str
    path: Path = ()
    place: tuple[int, int] | None = None
    suggestion: str | None = None
    # Text at ``place`` and its certain correction, which --fix writes.
    correction: tuple[str, str] | None = None


Problems = Iterable[Problem]
Check = Callable[..., Problems]


class Rule(Struct, frozen=True):
    """One rule, with its documentation."""

    name: str
    group: Group
    summary: str
    why: str
    remedy: str
    bad: str  # the comment "# here" marks each line with a finding
    good: str
    level: Level = Level.DEFAULT
    severity: Severity = Severity.WARNING
    subject: Subject = Subject.TEMPLATE
    check: Check | None = None  # None for a finding of stoker validate
    options: Mapping[str, Any] = field(default_factory=dict)
    also: frozenset[str] = frozenset()  # other rules that the bad example breaks

    @property
    def is_of_validation(self) -> bool:
        """Return whether ``stoker validate`` finds it, and not a function of lint."""
        return self.check is None


RULES: dict[str, Rule] = {}


class Details(TypedDict):
    """Documentation and defaults of a rule, as keyword arguments."""

    why: str
    remedy: str
    bad: str
    good: str
    level: NotRequired[Level]
    severity: NotRequired[Severity]
    subject: NotRequired[Subject]
    also: NotRequired[Iterable[str]]


def rule(group: Group, summary: str, **details: Unpack[Details]) -> Callable[[Check], Check]:
    """Register a function as a rule. Its keyword-only parameters are options of the rule."""

    def register(check: Check) -> Check:
        parameters = inspect.signature(check).parameters.values()
        options = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
        documented = _rule(check.__name__.replace("_", "-"), group, summary, details)
        _add(replace(documented, check=check, options=options))
        return check

    return register


def validation_rule(name: str, group: Group, summary: str, **details: Unpack[Details]) -> None:
    """Register the documentation of a finding of ``stoker validate``."""
    details.setdefault("severity", Severity.ERROR)
    _add(_rule(name, group, summary, details))


def _rule(name: str, group: Group, summary: str, details: Details) -> Rule:
    return Rule(
        name=name,
        group=group,
        summary=summary,
        why=" ".join(details["why"].split()),
        remedy=" ".join(details["remedy"].split()),
        bad=dedent(details["bad"]).strip("\n"),
        good=dedent(details["good"]).strip("\n"),
        level=details.get("level", Level.DEFAULT),
        severity=details.get("severity", Severity.WARNING),
        subject=details.get("subject", Subject.TEMPLATE),
        also=frozenset(details.get("also", ())),
    )


def _add(added: Rule) -> None:
    if added.name in RULES:
        message = f'there are two rules "{added.name}": rename one of them'
        raise ValueError(message)
    RULES[added.name] = added

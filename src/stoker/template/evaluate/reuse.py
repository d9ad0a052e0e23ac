"""What an evaluation was made from, so that the next one makes only what must be made anew.

A scope that notes its questions tells afterwards what a result hangs on. Where every question has
the same answer, the result would be the same. Values count as the same only if they are so down
to the kinds of their parts, as functions tell 1 from true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from stoker.template.definition import Definition, Facts
from stoker.template.functions.failure import Failure
from stoker.template.functions.scope import Conditions, Scope


class Kind(Enum):
    """What a question is about."""

    PARAMETER = auto()
    RESOURCE = auto()
    FILE = auto()
    CONDITION = auto()
    REFERENCE = auto()
    ATTRIBUTE = auto()


Question = tuple[Kind, Any, Any]
"""What was asked about, the name or path of it, and the answer."""

NOTHING = object()
"""The answer where there is none."""
_ALL = object()
"""The name that stands for all names at once; such a question never has the same answer."""


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, with equal kinds of parts in the same order."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return repr(one) == repr(other)
    return bool(one == other)


class _Noted(Mapping[str, Any]):
    """Values of which every look is noted."""

    def __init__(self, kind: Kind, values: Mapping[str, Any], questions: list[Question]) -> None:
        self._kind = kind
        self._values = values
        self._questions = questions
        self._asked: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        value = self._values.get(key, NOTHING)
        if key not in self._asked:
            self._asked.add(key)
            self._questions.append((self._kind, key, value))
        if value is NOTHING:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[str]:
        self._questions.append((self._kind, _ALL, _ALL))
        return iter(self._values)

    def __len__(self) -> int:
        self._questions.append((self._kind, _ALL, _ALL))
        return len(self._values)


@dataclass(frozen=True, slots=True)
class _NotedConditions:
    conditions: Conditions
    questions: list[Question]

    def holds(self, condition: Any) -> bool:
        """Whether a condition holds. Raises :class:`Failure`."""
        answer = self.conditions.holds(condition)
        self.questions.append((Kind.CONDITION, condition, answer))
        return answer


@dataclass(frozen=True, slots=True)
class _NotedFacts:
    facts: Facts
    questions: list[Question]

    def reference(self, name: str) -> Any:
        """What the facts say."""
        answer = self.facts.reference(name)
        self.questions.append((Kind.REFERENCE, name, answer))
        return answer

    def attribute(self, name: str, attribute: str) -> Any:
        """What the facts say."""
        answer = self.facts.attribute(name, attribute)
        self.questions.append((Kind.ATTRIBUTE, (name, attribute), answer))
        return answer


def noting(scope: Scope, facts: Facts, questions: list[Question]) -> Scope:
    """The scope with these facts, noting what is asked of it."""
    return replace(
        scope,
        parameters=_Noted(Kind.PARAMETER, scope.parameters, questions),
        resources=_Noted(Kind.RESOURCE, scope.resources, questions),
        files=_Noted(Kind.FILE, scope.files, questions),
        conditions=_NotedConditions(scope.conditions, questions),
        facts=facts,
    )


def noting_all(scope: Scope, facts: Facts, questions: list[Question]) -> Scope:
    """The scope with these facts, noting what is asked of it and of them."""
    return noting(scope.with_facts(facts), _NotedFacts(facts, questions), questions)


def answered(questions: Sequence[Question], scope: Scope, facts: Facts) -> bool:
    """Whether all questions have the same answers in this scope, with these facts."""
    return all(same(_answer(kind, key, scope, facts), value) for kind, key, value in questions)


def _answer(kind: Kind, key: Any, scope: Scope, facts: Facts) -> Any:
    try:
        return _asked(kind, key, scope, facts)
    except Failure:
        return NOTHING


def _asked(kind: Kind, key: Any, scope: Scope, facts: Facts) -> Any:
    match kind:
        case Kind.ATTRIBUTE:
            return facts.attribute(*key)
        case Kind.REFERENCE:
            return facts.reference(key)
        case Kind.RESOURCE:
            return scope.resources.get(key, NOTHING)
        case Kind.PARAMETER:
            return scope.parameters.get(key, NOTHING)
        case Kind.FILE:
            return scope.files.get(key, NOTHING)
        case Kind.CONDITION:
            return scope.conditions.holds(key)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A definition, and what it was made from."""

    definition: Definition
    questions: Sequence[Question]

"""Functions that decide: conditions, and values that depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoker.template.functions.failure import (
    bad_arguments,
    check_form,
    check_kind,
    exactly,
    known,
)
from stoker.template.functions.scope import ABSENT, Scope


def if_(arguments: Any, scope: Scope) -> Any:
    """Return one of two values; the other one is not evaluated."""
    exactly(3, arguments, "[condition, value if true, value if false]")
    condition = scope.condition(arguments, 0)
    return scope.choice(arguments, 1 if condition else 2)


def if_or_absent(arguments: Any, scope: Scope) -> Any:
    """One of two values; without a value for the other case, the entry is left out."""
    if not isinstance(arguments, list) or len(arguments) != 2:
        return if_(arguments, scope)
    return scope.entry(arguments, 1) if scope.condition(arguments, 0) else ABSENT


def equals(arguments: Any, scope: Scope) -> Any:
    """Return whether two values are equal."""
    left, right = known(scope.exactly(2, arguments, "[value, value]"))
    return left == right


def not_(arguments: Any, scope: Scope) -> Any:
    """Return whether a condition does not hold."""
    if arguments is None:
        bad_arguments("a condition is missing")
    return not scope.holds(arguments)


def fn_not(arguments: Any, scope: Scope) -> Any:
    """Return whether the condition in a list of one does not hold."""
    return not scope.condition(exactly(1, arguments, "[condition]"), 0)


def and_(arguments: Any, scope: Scope) -> Any:
    """Return whether all conditions hold."""
    return all(_each(arguments, scope))


def or_(arguments: Any, scope: Scope) -> Any:
    """Return whether one of the conditions holds."""
    return any(_each(arguments, scope))


def _each(arguments: Any, scope: Scope) -> Iterator[bool]:
    """Yield whether each condition holds, lazily: and, or stop once the result is certain."""
    check_form(list, arguments, "the arguments are a list of conditions")
    if len(arguments) < 2:
        bad_arguments("there must be two conditions or more")
    conditions = scope.resolve(arguments)
    return (scope.condition(conditions, index) for index in range(len(conditions)))


def contains(arguments: Any, scope: Scope) -> Any:
    """Return whether a value is in a list, or a text in a text."""
    value, entries = known(scope.exactly(2, arguments, "[value, list]"))
    if isinstance(entries, str):
        check_kind(str, value, "only text can be in a text", (0,))
        return value in entries
    check_kind(list, entries, "only a list or a text can contain values", (1,))
    return value in entries

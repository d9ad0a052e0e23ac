"""Functions that decide: conditions, and values that depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoker.schema.unknown import unknown_in
from stoker.schema.words import kind_of
from stoker.template.functions.failure import bad_arguments, bad_value
from stoker.template.functions.scope import ABSENT, Scope


def if_(arguments: Any, scope: Scope) -> Any:
    """One of two values; the other one is not evaluated."""
    if not isinstance(arguments, list) or len(arguments) != 3:
        bad_arguments("the arguments are [condition, value if true, value if false]")
    condition = scope.condition(arguments, 0)
    return scope.entry(arguments, 1 if condition else 2)


def if_or_absent(arguments: Any, scope: Scope) -> Any:
    """One of two values; without a value for the other case, nothing stands there."""
    if not isinstance(arguments, list) or len(arguments) != 2:
        return if_(arguments, scope)
    return scope.entry(arguments, 1) if scope.condition(arguments, 0) else ABSENT


def equals(arguments: Any, scope: Scope) -> Any:
    """Whether two values are equal."""
    if not isinstance(arguments, list) or len(arguments) != 2:
        bad_arguments("the arguments are [value, value]")
    left, right = scope.resolve(arguments)
    unknown = unknown_in([left, right])
    return left == right if unknown is None else unknown


def not_(arguments: Any, scope: Scope) -> Any:
    """Whether a condition does not hold."""
    return not scope.conditions.holds(arguments)


def fn_not(arguments: Any, scope: Scope) -> Any:
    """Whether the condition in a list of one does not hold."""
    if not isinstance(arguments, list) or len(arguments) != 1:
        bad_arguments("the arguments are [condition]")
    return not scope.condition(arguments, 0)


def and_(arguments: Any, scope: Scope) -> Any:
    """Whether all conditions hold."""
    return all(_each(arguments, scope))


def or_(arguments: Any, scope: Scope) -> Any:
    """Whether one of the conditions holds."""
    return any(_each(arguments, scope))


def _each(arguments: Any, scope: Scope) -> Iterator[bool]:
    """Whether each condition holds, one after the other: and, or stop where the result is sure."""
    if not isinstance(arguments, list):
        bad_arguments(f"the arguments are a list of conditions, not {kind_of(arguments)}")
    if len(arguments) < 2:
        bad_arguments("there must be two conditions or more")
    conditions = scope.resolve(arguments)
    return (scope.condition(conditions, index) for index in range(len(conditions)))


def contains(arguments: Any, scope: Scope) -> Any:
    """Whether a value is in a list, or a text in a text."""
    if not isinstance(arguments, list) or len(arguments) != 2:
        bad_arguments("the arguments are [value, list]")
    value, entries = scope.resolve(arguments)
    unknown = unknown_in([value, entries])
    if unknown is not None:
        return unknown
    if isinstance(entries, str):
        if not isinstance(value, str):
            bad_value(f"only text can be in a text, not {kind_of(value)}", (0,))
        return value in entries
    if not isinstance(entries, list):
        bad_value(f"only a list or a text can contain values, not {kind_of(entries)}", (1,))
    return value in entries

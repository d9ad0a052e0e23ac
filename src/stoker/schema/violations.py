"""How a value violates a constraint, in words. Shared by properties and parameters."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from stoker.schema.checks import PURE
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
)
from stoker.schema.equality import frozen
from stoker.schema.helpers import NotComputed
from stoker.schema.unknown import Unknown

SHOWN_LENGTH = 80
SHOWN_CHOICES = 100


def shown(value: Any) -> str:
    """A value as JSON text for a message, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 1]}…"


def violation(constraint: Constraint, value: Any) -> str | None:
    """What is wrong with a value of the right type, or None.

    Constraints that only a cloud can answer are never violated here. A constraint with a
    description of its own is reported in those words.
    """
    fault = _fault(constraint, value)
    if fault is None or not constraint.description:
        return fault
    return f"{constraint.description} ({fault})"


def _fault(constraint: Constraint, value: Any) -> str | None:
    match constraint:
        case Length():
            return _length(constraint, value)
        case Range():
            return _range(constraint, value)
        case Modulo():
            return _modulo(constraint, value)
        case AllowedValues():
            return _allowed_values(constraint, value)
        case AllowedPattern():
            return _allowed_pattern(constraint, value)
        case Custom():
            return _custom(constraint, value)


def _between(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high}"
    if high is None:
        return f"at least {low}"
    return f"between {low} and {high}"


def _outside(low: float | None, high: float | None, number: float) -> bool:
    return (low is not None and number < low) or (high is not None and number > high)


def _length(constraint: Length, value: Any) -> str | None:
    if not isinstance(value, str | list | dict):
        return None
    if not _outside(constraint.min, constraint.max, len(value)):
        return None
    unit = "characters" if isinstance(value, str) else "entries"
    return (
        f"{shown(value)} has {len(value)} {unit}; "
        f"there must be {_between(constraint.min, constraint.max)}"
    )


def _range(constraint: Range, value: Any) -> str | None:
    if not isinstance(value, int | float) or not _outside(constraint.min, constraint.max, value):
        return None
    return f"{value} is out of range (min: {constraint.min}, max: {constraint.max})"


def _modulo(constraint: Modulo, value: Any) -> str | None:
    if not isinstance(value, int | float) or value % constraint.step == constraint.offset:
        return None
    return f"{value} divided by {constraint.step} must leave {constraint.offset}"


def _allowed_values(constraint: AllowedValues, value: Any) -> str | None:
    allowed = constraint.allowed
    given = value if isinstance(value, list) else [value]
    known = set(map(frozen, allowed)) if len(given) > 1 else ()
    for item in given:
        if isinstance(item, Unknown) or (frozen(item) in known if known else item in allowed):
            continue
        if isinstance(item, str) and item in _as_texts(allowed):
            continue
        if not allowed:
            return f"{shown(item)} is not allowed: the list of allowed values is empty"
        choices = ", ".join(shown(choice) for choice in allowed[:SHOWN_CHOICES])
        more = ", …" if len(allowed) > SHOWN_CHOICES else ""
        return f"{shown(item)} is not an allowed value [{choices}{more}]"
    return None


def _as_texts(allowed: Sequence[Any]) -> list[str]:
    """The numbers among the choices as a property of texts has them."""
    return [
        str(choice)
        for choice in allowed
        if isinstance(choice, int | float) and not isinstance(choice, bool)
    ]


def _allowed_pattern(constraint: AllowedPattern, value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        if constraint.budget.fits(constraint.pattern, value):
            return None
    except NotComputed as error:
        pattern = shown(constraint.pattern)
        return f"{shown(value)} cannot be compared with the pattern {pattern}: {error.message}"
    return f"{shown(value)} does not match the pattern {constraint.pattern}"


def _custom(constraint: Custom, value: Any) -> str | None:
    check = PURE.get(constraint.name)
    if check is None or value is None:
        return None
    for item in value if isinstance(value, list) else [value]:
        fault = None if isinstance(item, Unknown) else check(item)
        if fault is not None:
            return fault
    return None

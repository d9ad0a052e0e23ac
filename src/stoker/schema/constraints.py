"""Constraints on values of properties and parameters.

Each returns the fault of a value of the right type, in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import Path
from stoker.kernel.json.tree import frozen
from stoker.schema.checks import PURE
from stoker.schema.helpers import ComputationError, OwnPatterns, PatternBudget
from stoker.schema.unknown import Unknown
from stoker.schema.words import shown

_MAX_CHOICES = 100  # allowed values in a message


class Length(Struct, frozen=True):
    """Number of characters, or of entries of a list or map."""

    min: int | None = None
    max: int | None = None
    description: str | None = None

    def fault(self, value: Any) -> str | None:
        """Return a fault if it is too short or too long."""
        if not isinstance(value, str | list | dict) or not _outside(self, len(value)):
            return None
        unit = "characters" if isinstance(value, str) else "entries"
        return f"{shown(value)} has {len(value)} {unit}; there must be {self._expectation()}"

    def _expectation(self) -> str:
        if self.min is None:
            return f"at most {self.max}"
        return f"at least {self.min}" if self.max is None else f"between {self.min} and {self.max}"


class Range(Struct, frozen=True):
    """Bounds of a number, both included."""

    min: float | None = None
    max: float | None = None
    description: str | None = None

    def fault(self, value: Any) -> str | None:
        """Return a fault if it is out of bounds."""
        if not isinstance(value, int | float) or not _outside(self, value):
            return None
        return f"{value} is out of range (min: {self.min}, max: {self.max})"


def _outside(bounds: Length | Range, number: float) -> bool:
    low, high = bounds.min, bounds.max
    return (low is not None and number < low) or (high is not None and number > high)


class Modulo(Struct, frozen=True):
    """``value % step == offset``."""

    step: int
    offset: int
    description: str | None = None

    def fault(self, value: Any) -> str | None:
        """Return a fault if its division has another remainder."""
        if not isinstance(value, int | float) or value % self.step == self.offset:
            return None
        return f"{value} divided by {self.step} must leave {self.offset}"


class AllowedValues(Struct, frozen=True):
    """An enumeration."""

    allowed: Sequence[Any]
    description: str | None = None

    def fault(self, value: Any) -> str | None:
        """Return a fault if it, or an entry of a list, is none of the choices."""
        if isinstance(value, str) and value in self.allowed:
            return None
        items = value if isinstance(value, list) else [value]
        known = set(map(frozen, self.allowed)) if len(items) > 1 else ()
        for item in items:
            if isinstance(item, Unknown) or (
                frozen(item) in known if known else item in self.allowed
            ):
                continue
            if isinstance(item, str) and item in self._numbers():
                continue
            if not self.allowed:
                return f"{shown(item)} is not allowed: the list of allowed values is empty"
            alike = self._like(item)[:_MAX_CHOICES]
            choices = ", ".join(map(shown, alike))
            more = ", …" if len(self.allowed) > len(alike) else ""
            return f"{shown(item)} is not an allowed value [{choices}{more}]"
        return None

    def _like(self, item: Any) -> Sequence[Any]:
        """The choices; of numbers and texts, those that are of the item's kind."""
        is_text = isinstance(item, str)
        return [each for each in self.allowed if isinstance(each, str) == is_text] or self.allowed

    def _numbers(self) -> list[str]:
        """The numbers among the choices as a property of texts has them."""
        return [
            str(choice)
            for choice in self.allowed
            if isinstance(choice, int | float) and not isinstance(choice, bool)
        ]


@dataclass(frozen=True, slots=True)
class AllowedPattern:
    """A regular expression that must match from the start to the end of the value."""

    pattern: str
    description: str | None = None
    # Shared with the other patterns of the document.
    budget: PatternBudget = field(default_factory=PatternBudget, compare=False, repr=False)

    def fault(self, value: Any) -> str | None:
        """Return a fault if a text does not match, or if the match takes too long."""
        if not isinstance(value, str):
            return None
        try:
            if self.budget.fits(self.pattern, value):
                return None
        except ComputationError as error:
            return (
                f"{shown(value)} cannot be compared with the pattern {shown(self.pattern)}:"
                f" {error.message}"
            )
        return f"{shown(value)} does not match the pattern {self.pattern}"


def own_pattern(pattern: str) -> AllowedPattern:
    """Return a pattern that a resource type declares, which is trusted."""
    return AllowedPattern(pattern, budget=PatternBudget(OwnPatterns()))


class Custom(Struct, frozen=True):
    """A named check, such as ``neutron.network``; those that ask a cloud run apart."""

    name: str
    description: str | None = None

    def fault(self, value: Any) -> str | None:
        """Return the fault of it, or of the first wrong entry of a list, if no cloud is needed."""
        check = PURE.get(self.name)
        if check is None or value is None:
            return None
        return next(filter(None, map(check, self.known_in(value))), None)

    @staticmethod
    def known_in(value: Any) -> list[Any]:
        """Return the checked parts of a value: itself, or the known entries of a list."""
        items = value if isinstance(value, list) else [value]
        return [item for item in items if not isinstance(item, Unknown)]


class CustomCheck(Struct, frozen=True):
    """A custom constraint that only a cloud can answer; the caller asks many at a time."""

    constraint: str
    value: Any
    path: Path
    description: str = ""  # description of the constraint in the template


Constraint = Length | Range | Modulo | AllowedValues | AllowedPattern | Custom


def is_own(constraint: Constraint) -> bool:
    """Return whether this service has a check for itself: Heat's types do not declare it."""
    return isinstance(constraint, Custom) and constraint.name.startswith("stoker.")


def violation(constraint: Constraint, value: Any) -> str | None:
    """Return the fault of a value of the right type, or None.

    Constraints that only a cloud can answer are never violated here. A constraint with a
    description of its own is reported in those words.
    """
    fault = constraint.fault(value)
    if fault is None or not constraint.description:
        return fault
    return f"{constraint.description} ({fault})"

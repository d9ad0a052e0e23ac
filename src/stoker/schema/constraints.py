"""Constraints on values of properties and parameters, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker.schema.patterns import PatternBudget


@dataclass(frozen=True, slots=True)
class Length:
    """Number of characters, or of entries of a list or map."""

    min: int | None = None
    max: int | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Range:
    """Bounds of a number, both included."""

    min: float | None = None
    max: float | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Modulo:
    """``value % step == offset``."""

    step: int
    offset: int
    description: str | None = None


@dataclass(frozen=True, slots=True)
class AllowedValues:
    """An enumeration."""

    allowed: Sequence[Any]
    description: str | None = None


@dataclass(frozen=True, slots=True)
class AllowedPattern:
    """A regular expression that must match from the start to the end of the value."""

    pattern: str
    description: str | None = None
    budget: PatternBudget = field(default_factory=PatternBudget, compare=False, repr=False)
    """Shared with the other patterns of the document that it stands in."""


@dataclass(frozen=True, slots=True)
class Custom:
    """A named check, such as ``neutron.network``; those that ask a cloud run apart."""

    name: str
    description: str | None = None


Constraint = Length | Range | Modulo | AllowedValues | AllowedPattern | Custom

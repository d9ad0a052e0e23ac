"""Bounds on the size of values; functions and references can multiply a template."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add, sub
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import astuple

from stoker.kernel.diagnostics import refusal
from stoker.kernel.errors import LIMIT_EXCEEDED
from stoker.kernel.json.tree import exceeds, weigh
from stoker.schema.helpers import NO_HELPERS, Helpers, PatternBudget
from stoker.template.functions.failure import bad_value, failed

MEBIBYTE = 1024 * 1024
MAX_TEXT = 8 * MEBIBYTE  # characters of a text that a function returns
MAX_VALUES = 1_000_000  # entries and texts in one value, each counted as often as it occurs
MAX_OCTETS = 32 * MEBIBYTE  # octets of all texts in one value, as stored in memory
MAX_PARTS = 500_000  # parts of a split text, and replaced words in a text
MAX_NESTED = 2_000_000  # NESTED if the operator sets no limit: about 50,000 resources, 150 MiB
SMALL_VALUES = 300
SMALL_TEXTS = 64 * 1024  # octets of all texts in a small value
NESTED = 200_000  # values in the documents of nested templates, and a few more per resource in them


def is_small(value: Any) -> bool:
    """Return whether a value has so few parts that reading all of them costs nothing."""
    return not exceeds(value, SMALL_VALUES, SMALL_TEXTS)


def check_size(value: Any) -> None:
    """Raise :class:`FunctionError` for a value over the absolute limits."""
    if exceeds(value, MAX_VALUES, MAX_OCTETS):
        bad_value("the value is too large", code="too-large")


def check_text(size: int) -> None:
    """Raise :class:`FunctionError` for a text with too many characters."""
    if size > MAX_TEXT:
        bad_value(f"the text would have {size} characters; at most {MAX_TEXT} are allowed")


def check_parts(count: int) -> None:
    """Raise :class:`FunctionError` for a text with too many parts to split or replace."""
    if count > MAX_PARTS:
        bad_value(f"the text would have {count} parts; at most {MAX_PARTS} are allowed")


class Cost(Struct, frozen=True, gc=False):
    """The part of a budget that some work has used."""

    values: int = 0
    octets: int = 0
    searched: int = 0
    nested: int = 0
    seconds: float = 0.0

    def with_more(self, other: Cost) -> Cost:
        """Return the cost of both."""
        return Cost(*map(add, astuple(self), astuple(other)))


@dataclass(slots=True)
class Budget:
    """Bounds on the functions of one evaluation, including nested templates.

    Every result of a function counts, even a reference, because all later work on a result takes
    time in proportion to its size.
    """

    values: int = 500_000  # values in lists and maps; a list or map counts as three
    octets: int = 32 * MEBIBYTE  # octets of texts, as stored in memory
    searched: int = 2 * 1024 * MEBIBYTE  # characters that may be searched for words
    nested: int = NESTED  # values in the documents of nested templates that are examined in advance
    patterns: PatternBudget = field(default_factory=PatternBudget)
    seconds: float = 0.5  # computing time of expressions
    helpers: Helpers = NO_HELPERS  # processes that evaluate expressions
    widened: bool = False

    @staticmethod
    def of(resources: int, helpers: Helpers = NO_HELPERS) -> Budget:
        """Return the budget for stacks with at most ``resources`` resources; -1 for no bound."""
        nested = MAX_NESTED if resources < 0 else max(NESTED, 200 * resources)
        return Budget(nested=nested, patterns=PatternBudget(helpers), helpers=helpers)

    @staticmethod
    def light() -> Budget:
        """Return the budget for a millisecond: small values, and no functions with helpers."""
        return Budget(values=2000, octets=SMALL_TEXTS, searched=MEBIBYTE, seconds=0.0)

    @property
    def used_up(self) -> bool:
        """Return whether the work has exceeded the budget."""
        return min(self.values, self.octets, self.searched, self.seconds) < 0

    @property
    def is_exceeded(self) -> bool:
        """Return whether any part of the work was refused."""
        return self.used_up or self.nested < 0

    @property
    def left(self) -> Cost:
        """Return the unused part."""
        return Cost(self.values, self.octets, self.searched, self.nested, self.seconds)

    def used_since(self, before: Cost) -> Cost:
        """Return the cost of the work since this part was unused."""
        return Cost(*map(sub, astuple(before), astuple(self.left)))

    def charge(self, cost: Cost) -> None:
        """Count work whose result is reused. An exceeded budget is noticed by its next use."""
        self.values -= cost.values
        self.octets -= cost.octets
        self.searched -= cost.searched
        self.nested -= cost.nested
        self.seconds -= cost.seconds

    def widen(self, resources: int) -> None:
        """Allow more for a template with ``resources`` resources. Only the first call counts."""
        # Nested templates share the budget of the outermost one, and must not multiply it.
        if self.widened:
            return
        self.widened = True
        self.seconds += 0.0005 * resources
        self.values += 500 * resources
        self.octets += 32 * 1024 * resources

    def nest(self, values: int) -> None:
        """Count values of nested templates. Raises :class:`DiagnosticError` for too many."""
        self.nested -= values
        if self.nested < 0:
            message = "the nested templates hold more values than one request may examine"
            advice = "nest fewer stacks, or smaller ones"
            raise refusal("nested-too-large", message, (), LIMIT_EXCEEDED, suggestion=advice)

    def search(self, characters: int) -> None:
        """Count a search. Raises :class:`FunctionError` over the budget."""
        self.searched -= characters
        if self.searched < 0:
            _used_up("placeholders", "give each text only the placeholders that occur in it")

    def count(self, value: Any) -> None:
        """Count a result. Raises :class:`FunctionError` over the budget."""
        kind = type(value)
        if kind is str:
            self.octets -= len(value) if value.isascii() else 4 * len(value)
        elif kind is list or kind is dict:
            values, containers, octets = weigh(value, self.values, self.octets)
            self.values -= values + 2 * containers
            self.octets -= octets
        self.check()

    def spend(self, values: int) -> None:
        """Count values before they are created. Raises :class:`FunctionError` over the budget."""
        self.values -= values
        self.check()

    def check(self) -> None:
        """Raise :class:`FunctionError` if the budget is exceeded."""
        if self.octets < 0:
            _used_up("texts", "pass large texts on whole, in fewer places")
        if self.values < 0:
            _used_up("values", "use large lists and maps, and repeat over them, in fewer places")


def _used_up(kind: str, advice: str) -> NoReturn:
    message = f"the functions of this template together handle more {kind} than is allowed"
    raise failed("too-large", message, suggestion=advice)

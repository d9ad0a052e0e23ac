"""The content of a request: a structure of members, typed or as text, by its protocol.

A reader rejects wrong values (400) with the name of the member.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from stoker.kernel.errors import MISSING_PARAMETER, VALUE_ERROR, ValidationError

_LONGEST = 1024


class Members(Struct, frozen=True):
    """The members of a structure."""

    values: Mapping[str, Any]
    path: str = ""  # the path of the structure in the request, with a dot at the end

    def has(self, name: str) -> bool:
        """Return whether a member is given."""
        return self.values.get(name) is not None

    def text(self, name: str, most: int = _LONGEST) -> str | None:
        """Return text of up to ``most`` characters, or None if it is not given."""
        value = self.values.get(name)
        if value is None or (isinstance(value, str) and len(value) <= most):
            return value
        raise self._wrong(name, f"is text of up to {most} characters")

    def required(self, name: str, most: int = _LONGEST) -> str:
        """Return text that must be given."""
        value = self.text(name, most)
        if not value:
            raise self._missing(name)
        return value

    def chosen(self, name: str, choices: Mapping[str, Any]) -> Any:
        """Return the meaning of one of the words, or None."""
        value = self.text(name)
        if value is None:
            return None
        if value not in choices:
            raise self._wrong(name, f"is one of {', '.join(choices)}")
        return choices[value]

    def number(self, name: str) -> float | None:
        """Return a finite number, or None if it is not given."""
        value = self.values.get(name)
        if value is None:
            return None
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self._wrong(name, "is a finite number")
        return number

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return a whole number within bounds, or None if it is not given."""
        number = self.number(name)
        if number is None:
            return None
        if not number.is_integer() or not least <= number <= most:
            raise self._wrong(name, f"is a whole number from {least} to {most}")
        return int(number)

    def moment(self, name: str) -> float | None:
        """Return a time in seconds since the epoch, or None if it is not given."""
        value = self.values.get(name)
        try:
            if isinstance(value, str):
                value = datetime.fromisoformat(value)
            if isinstance(value, datetime):
                return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
            return self.number(name)
        except (ValueError, OverflowError):
            raise self._wrong(name, "is a time") from None

    def structure(self, name: str) -> Members | None:
        """Return a structure, or None if it is not given."""
        value = self.values.get(name)
        return None if value is None else self._structure(name, value)

    def structures(self, name: str, most: int) -> list[Members]:
        """Return a list of up to ``most`` structures; empty if it is not given."""
        listed = self._listed(name, most)
        return [self._structure(f"{name}.{index}", each) for index, each in enumerate(listed, 1)]

    def texts(self, name: str, most: int) -> list[str]:
        """Return a list of up to ``most`` texts."""
        listed = self._listed(name, most)
        if not all(isinstance(each, str) and len(each) <= _LONGEST for each in listed):
            raise self._wrong(name, f"is a list of texts of up to {_LONGEST} characters")
        return listed

    def numbers(self, name: str, most: int) -> list[float]:
        """Return a list of up to ``most`` finite numbers."""
        listed = {str(index): each for index, each in enumerate(self._listed(name, most), 1)}
        inner = Members(listed, f"{self.path}{name}.")
        return [number for key in listed if (number := inner.number(key)) is not None]

    def _listed(self, name: str, most: int) -> list[Any]:
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > most:
            raise self._wrong(name, f"is a list of up to {most}")
        return value

    def _structure(self, name: str, value: Any) -> Members:
        if not isinstance(value, Mapping):
            raise self._wrong(name, "is a structure")
        return Members(value, f"{self.path}{name}.")

    def _missing(self, name: str) -> ValidationError:
        return ValidationError(
            f"The request needs the parameter {self.path}{name}.", MISSING_PARAMETER
        )

    def _wrong(self, name: str, expectation: str) -> ValidationError:
        shown = str(self.values.get(name))[:100] if not self._is_long(name) else "something else"
        return ValidationError(f"{self.path}{name} {expectation}, not {shown}.", VALUE_ERROR)

    def _is_long(self, name: str) -> bool:
        return not isinstance(self.values.get(name), str | float | bool)


def dimensions_in(members: Members) -> dict[str, str]:
    """Return the dimensions in a structure by name. Rejects any without name or value (400)."""
    return {
        each.required("Name", 255): each.required("Value")
        for each in members.structures("Dimensions", 30)
    }

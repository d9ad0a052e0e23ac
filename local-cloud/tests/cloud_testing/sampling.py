"""A part of many cases for every run of the tests; the others are long ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases; all but one in this many, and the last, are marked as long."""
    found = list(cases)
    kept = range(len(found) - 1, -1, -every)
    return [
        case if n in kept else pytest.param(case, marks=pytest.mark.long)
        for n, case in enumerate(found)
    ]

"""A part of many cases for every run of the tests; the others are long ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(every: int, cases: Iterable[Any]) -> list[Any]:
    """The cases, of which one in so many, the last among them, is not marked as long."""
    found = list(cases)
    kept = range(len(found) - 1, -1, -every)
    return [
        case if n in kept else pytest.param(case, marks=pytest.mark.long)
        for n, case in enumerate(found)
    ]

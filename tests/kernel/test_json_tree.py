"""Trees of plain data are measured."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.kernel.json.tree import estimated_bytes

TEXT = "x" * 1000
LONG = "x" * 200_000


class Name(str):
    """A text that the marshal format does not have."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("tree", "least", "most"),
    [
        (TEXT, 1000, 1010),
        ({"a": [TEXT] * 100}, 100_000, 101_000),
        ({TEXT: 1}, 1000, 1020),
        ({"a": [Name(TEXT)] * 100}, 100_000, 101_000),
        ({"a": "\ud800" + TEXT}, 1000, 4100),
        ({"a": LONG, "b": [TEXT], "c": LONG}, 401_000, 401_100),
        ({"a": "é" * 100_000}, 200_000, 200_100),
        ({"a": "\ud800" * 100_000}, 300_000, 300_100),
        ([[]] * 1000, 2000, 10_000),
        ({"a": [1, 2.5, None, True] * 1000}, 4000, 30_000),
    ],
)
def test_bytes_of_a_tree_are_estimated(tree: Any, least: int, most: int) -> None:
    assert least <= estimated_bytes(tree) <= most

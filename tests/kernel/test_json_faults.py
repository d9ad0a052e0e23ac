"""Faults of JSON are described without Python's advice to programmers."""

from __future__ import annotations

import json

import pytest

from stoker.kernel.json.faults import fault_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("9" * 5000, "a number has more than 4300 digits"),
        ("[" * 100_000, "it is nested too deeply"),
        ("{bad", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_fault_is_described_for_the_author(text: str, words: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as raised:
        json.loads(text)
    assert fault_of(raised.value) == words

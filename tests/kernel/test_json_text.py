"""Values come back from JSON as they were, whichever reader and writer they go through."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoker.kernel.json.text import dumps, loads

# With NaN and the infinities, large integers, and halves of surrogate pairs.
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("null")
VALUES = st.recursive(
    _SCALARS | st.characters(categories=["Cs"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@given(VALUES)
def test_values_are_read_as_they_were_written(value: Any) -> None:
    assert repr(loads(dumps(value))) == repr(value)


@given(VALUES)
def test_text_written_by_python_is_read_alike(value: Any) -> None:
    text = json.dumps(value)
    assert repr(loads(text)) == repr(json.loads(text))


@pytest.mark.parametrize("many", [10, 300_000])
@pytest.mark.parametrize("odd", [None, float("nan"), "\ud800", "a"])
def test_long_values_are_read_as_they_were_written(many: int, odd: Any) -> None:
    value = {"list": [1.5] * many, "text": "x" * many, "odd": odd}

    assert repr(loads(dumps(value))) == repr(value)


@pytest.mark.parametrize("beside", [None, 1])
def test_what_json_does_not_know_becomes_text(beside: int | None) -> None:
    date = dt.date(2026, 2, 1)

    assert loads(dumps({"from": date, "beside": beside})) == {
        "from": "2026-02-01",
        "beside": beside,
    }


@pytest.mark.parametrize("text", ["", "{", '{"a":1', "[1,]", "nul", '"\x01"'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)

"""Values of expressions are computed once, unless they may differ each time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stoker.sandbox.sandbox import Sandbox
from stoker.schema.helpers import ComputationError

LIMIT = 20.0


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    found = Sandbox(1, iterations=1000, memory=10_000_000)
    yield found
    found.close()


def is_cached(sandbox: Sandbox, expression: str, data: Any) -> bool:
    """Return whether a second evaluation takes no time."""
    first, _ = sandbox.evaluate(expression, data, LIMIT)
    second, spent = sandbox.evaluate(expression, data, LIMIT)
    assert type(first) is type(second)
    return spent == 0.0


def test_value_is_computed_once(sandbox: Sandbox) -> None:
    assert is_cached(sandbox, "$.data.list.sum()", {"list": [1, 2]})
    assert sandbox.evaluate("$.data.list.sum()", {"list": [1, 3]}, LIMIT)[0] == 4


def test_values_of_different_types_are_distinguished(sandbox: Sandbox) -> None:
    found = [sandbox.evaluate("$.data", data, LIMIT)[0] for data in (1, 1.0, True, "1")]
    assert [type(value) for value in found] == [int, float, bool, str]


@pytest.mark.parametrize("expression", ["random()", "now() > now()", 'call("random", [], {})'])
def test_changing_value_is_computed_again(sandbox: Sandbox, expression: str) -> None:
    assert not is_cached(sandbox, expression, {})


def test_long_value_is_computed_again(sandbox: Sandbox) -> None:
    assert not is_cached(sandbox, "$.data", "x" * 100_000)


def test_failure_is_reported_again(sandbox: Sandbox) -> None:
    for _ in range(2):
        with pytest.raises(ComputationError, match="nowhere"):
            sandbox.evaluate("$.nowhere.what()", {}, LIMIT)

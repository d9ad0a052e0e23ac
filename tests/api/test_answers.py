"""Serialization of answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from types import MappingProxyType
from typing import Any, TypeVar

import pytest
from starlette.responses import Response

from stoker.api.rest.answers import document_response, json_response, list_response

NOT_FINITE = [float("nan"), float("inf"), -float("inf"), 1.5]
VALUE = {"a": NOT_FINITE, "b": MappingProxyType({"c": NOT_FINITE[0]})}
SHOWN = {"a": [None, None, None, 1.5], "b": {"c": None}}
Answer = TypeVar("Answer")


def strictly(response: Response) -> Any:
    """The JSON of an answer, as readers take it that know no other numbers."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(bytes(response.body), parse_constant=refuse)


async def short(value: Any) -> Response:
    return json_response({"value": value})


async def computed(call: Callable[[], Answer]) -> Answer:
    return call()


async def long(value: Any) -> Response:
    return await document_response(computed, {"value": value, "rest": ["x" * 100] * 20_000})


async def listed(value: Any) -> Response:
    return await list_response(computed, "rows", [1, value], value=value)


@pytest.mark.parametrize("answer", [short, long, listed])
async def test_answers_have_null_for_infinite_numbers(
    answer: Callable[[Any], Awaitable[Response]],
) -> None:
    found = strictly(await answer(VALUE))
    assert found["value"] == SHOWN
    assert found.get("rows", [1, SHOWN]) == [1, SHOWN]

"""Bytes of request bodies in memory while their rest is awaited."""

from collections import Counter
from typing import Any

import pytest
from starlette.requests import Request

from localcloud.web.http import (
    JSON_BODY_LIMIT,
    OWNED_BODIES_LIMIT,
    UNKNOWN_BODY_LIMIT,
    RequestContext,
    TooLargeError,
    announce,
    read_body,
)


def request_with(body: bytes, held: Counter[str | None], project: str | None = None) -> Request:
    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "headers": [], "state": {"held_bodies": held}}
    request = Request(scope, receive)
    if project is not None:
        announce(request, RequestContext("u", project_id=project))
    return request


async def test_body_of_unknown_caller_is_short() -> None:
    held: Counter[str | None] = Counter()
    assert len(await read_body(request_with(b"x" * UNKNOWN_BODY_LIMIT, held))) > 0
    with pytest.raises(TooLargeError):
        await read_body(request_with(b"x" * (UNKNOWN_BODY_LIMIT + 1), held))
    assert not held


async def test_bodies_of_one_project_share_a_limit() -> None:
    body = b"x" * JSON_BODY_LIMIT
    held: Counter[str | None] = Counter({"greedy": OWNED_BODIES_LIMIT - JSON_BODY_LIMIT + 1})
    with pytest.raises(TooLargeError):
        await read_body(request_with(body, held, "greedy"))
    assert held == {"greedy": OWNED_BODIES_LIMIT - JSON_BODY_LIMIT + 1}
    assert await read_body(request_with(body, held, "other")) == body
    assert await read_body(request_with(body[1:], held, "greedy")) == body[1:]

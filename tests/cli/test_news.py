"""``stoker`` hears of events where the service tells them, and asks where it does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from queue import SimpleQueue

import httpx

from stoker.cli.news import LONGEST_SILENCE, News
from tests.cli.test_client import client
from tests.cli.test_progress import STACK
from tests.recovery.service import until


class Lines(httpx.SyncByteStream):
    """The body of an answer that comes line by line."""

    def __init__(self) -> None:
        self.lines: SimpleQueue[str | None] = SimpleQueue()

    def __iter__(self) -> Iterator[bytes]:
        while (line := self.lines.get()) is not None:
            yield f"{line}\n".encode()


def test_it_waits_for_an_event_and_no_longer() -> None:
    seen: list[httpx.Request] = []
    lines = Lines()

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=lines)

    news = News(client(answer), STACK, "last")
    lines.lines.put(":")
    until(lambda: news._streams, "the stream is there")
    assert seen[0].headers["Accept"] == "text/event-stream"
    assert dict(seen[0].url.params)["marker"] == "last"
    lines.lines.put("event: event")
    began = time.monotonic()
    news.wait(60)
    assert time.monotonic() - began < LONGEST_SILENCE
    lines.lines.put(None)
    until(lambda: not news._streams, "the stream has ended")
    news.wait(0.01)


def test_a_service_without_streams_is_asked_after_a_while() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"events": []})

    news = News(client(answer), STACK, None)
    for _ in range(3):
        news.wait(0.01)


def test_a_service_that_refuses_is_asked_after_a_while() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    news = News(client(answer), STACK, None)
    for _ in range(3):
        news.wait(0.01)

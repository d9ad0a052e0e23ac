"""``stoker`` reads the event stream if the service has one, and polls otherwise."""

from __future__ import annotations

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Event, Thread
from urllib.parse import parse_qs, urlsplit

import httpx

from stoker.cli.client.client import Client
from stoker.cli.deploy.event_stream import LONGEST_SILENCE, EventStreamClient
from tests.cli.test_client import CREDENTIALS, client, login
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

    news = EventStreamClient(client(answer), STACK, "last")
    lines.lines.put(":")
    until(lambda: news._streams, "the stream is there")
    assert seen[0].headers["Accept"] == "text/event-stream"
    assert dict(seen[0].url.params)["marker"] == "last"
    lines.lines.put("event: event")
    began = time.monotonic()
    news.wait(60)
    assert time.monotonic() - began < LONGEST_SILENCE
    lines.lines.put("event: end")
    until(lambda: not news._streams, "the stream has ended")
    news.wait(0.01)
    news.close()
    assert len(seen) == 1


def test_service_without_streams_is_polled() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"events": []})

    news = EventStreamClient(client(answer), STACK, None)
    for _ in range(3):
        news.wait(0.01)
    news.close()


def test_refusing_service_is_polled() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    news = EventStreamClient(client(answer), STACK, None)
    for _ in range(3):
        news.wait(0.01)
    news.close()


def test_broken_stream_resumes_after_last_event() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.append(parse_qs(urlsplit(self.path).query, keep_blank_values=True)["marker"][0])
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            number = len(asked)
            self.wfile.write(f"id: e{number}\nevent: event\ndata: {{}}\n\n".encode())
            self.wfile.flush()
            if number == 1:
                hung.wait(30)  # it says nothing more, and does not end
            elif number == 3:
                self.wfile.write(b"event: end\ndata: {}\n\n")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Nothing."""

    hung = Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        identity = httpx.MockTransport(login)
        http = Client(CREDENTIALS, url, Both(identity))
        news = EventStreamClient(http, STACK, "last", silence=0.3)
        until(lambda: len(asked) == 3 and not news._streams, "the third stream has ended")
        news.close()
        hung.set()
        http.close()
        server.shutdown()
    assert asked == ["last", "e1", "e2"]


class Both(httpx.BaseTransport):
    """Answers identity requests; the others go over the network."""

    def __init__(self, identity: httpx.MockTransport) -> None:
        self._identity = identity
        self._network = httpx.HTTPTransport(verify=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        known = request.url.path.endswith("/auth/tokens")
        return (self._identity if known else self._network).handle_request(request)

    def close(self) -> None:
        self._network.close()

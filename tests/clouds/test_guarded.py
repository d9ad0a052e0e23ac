"""Answers of clouds that users name: they have a size and a time."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
from requests.exceptions import ReadTimeout, RequestException

from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.elsewhere import NoSuchPlace
from stoker.clouds.guarded import guarded

LONGEST = 100_000
Answer = Callable[[BaseHTTPRequestHandler], None]


def answer(request: BaseHTTPRequestHandler, body: bytes, **headers: str) -> None:
    request.send_response(200)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def plain(request: BaseHTTPRequestHandler) -> None:
    answer(request, '{"a": "ä"}'.encode(), Content_Length="11", Content_Type="application/json")


def packed(request: BaseHTTPRequestHandler) -> None:
    answer(request, gzip.compress(b'{"a": 1}'), Content_Encoding="gzip")


def long(request: BaseHTTPRequestHandler) -> None:
    answer(request, b"x" * (LONGEST + 1))


def bomb(request: BaseHTTPRequestHandler) -> None:
    answer(request, gzip.compress(b"x" * 50_000_000), Content_Encoding="gzip")


def broken(request: BaseHTTPRequestHandler) -> None:
    answer(request, b"no gzip", Content_Encoding="gzip")


def slow(request: BaseHTTPRequestHandler) -> None:
    answer(request, b"", Content_Length="1000")
    for _ in range(200):
        request.wfile.write(b"x")
        time.sleep(0.05)


def moved(request: BaseHTTPRequestHandler) -> None:
    if request.path == "/there":
        plain(request)
    else:
        request.send_response(301)
        request.send_header("Location", "/there")
        request.send_header("Content-Length", "0")
        request.end_headers()


@pytest.fixture
def served() -> Iterator[Callable[[Answer], str]]:
    """Start a service that answers in one way: its address."""
    started: list[ThreadingHTTPServer] = []

    def serve(answered: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    answered(self)
                except ConnectionError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Nothing: the tests read no log."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        started.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server in started:
        server.shutdown()
        server.server_close()


def ask(url: str, seconds: float = 20.0) -> requests.Response:
    hosts = AllowedHosts(("127.0.0.1",))
    with guarded(requests.Session(), hosts, longest=LONGEST, seconds=seconds) as session:
        return session.get(url, timeout=10)


@pytest.mark.parametrize("answered", [plain, packed, moved])
def test_an_answer_is_read_as_by_any_session(
    served: Callable[[Answer], str], answered: Answer
) -> None:
    found = ask(served(answered))
    assert found.status_code == 200
    assert found.json()["a"] in ("ä", 1)


@pytest.mark.parametrize("answered", [long, bomb])
def test_a_long_answer_is_refused(served: Callable[[Answer], str], answered: Answer) -> None:
    with pytest.raises(RequestException, match=f"longer than {LONGEST} bytes"):
        ask(served(answered))


def test_a_slow_answer_is_refused(served: Callable[[Answer], str]) -> None:
    with pytest.raises(ReadTimeout, match="takes longer than 0 s"):
        ask(served(slow), seconds=0.3)


def test_a_broken_answer_is_a_fault_of_the_connection(served: Callable[[Answer], str]) -> None:
    with pytest.raises(requests.ConnectionError):
        ask(served(broken))


def test_an_address_inside_the_network_is_refused(served: Callable[[Answer], str]) -> None:
    with pytest.raises(NoSuchPlace, match="other_clouds_allowed_hosts"):
        guarded(requests.Session(), AllowedHosts()).get(served(plain), timeout=10)

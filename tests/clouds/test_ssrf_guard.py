"""Answers of clouds that users name: they have a size and a time."""

from __future__ import annotations

import gzip
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from requests.exceptions import ReadTimeout, RequestException

from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.objects.remote_clouds import NoSuchCloudError
from stoker.clouds.web.ssrf_guard import guarded

LONGEST = 100_000
Answer = Callable[[BaseHTTPRequestHandler], None]


class Serve(Protocol):
    """Starts a service; with a certificate and its key, an encrypted one."""

    def __call__(self, answered: Answer, pem: Path | None = None) -> str: ...


def certificate() -> bytes:
    """A key, and a certificate of its own for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1)
    builder = builder.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = builder.add_extension(here, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + made.public_bytes(Encoding.PEM)


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


def dripping(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    for _ in range(200):
        request.wfile.write(b"x")
        time.sleep(0.05)


def never_beginning(request: BaseHTTPRequestHandler) -> None:
    for _ in range(200):
        request.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
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
def served() -> Iterator[Serve]:
    """Start a service that answers in one way: its address."""
    started: list[ThreadingHTTPServer] = []

    def serve(answered: Answer, pem: Path | None = None) -> str:
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
        if pem is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        started.append(server)
        return f"http{'s' if pem else ''}://127.0.0.1:{server.server_port}/"

    yield serve
    for server in started:
        server.shutdown()
        server.server_close()


def ask(
    url: str, seconds: float = 20.0, pause: float = 10.0, verify: bool | str = True
) -> requests.Response:
    hosts = AllowedHosts(("127.0.0.1",))
    with guarded(requests.Session(), hosts, longest=LONGEST, seconds=seconds) as session:
        return session.get(url, timeout=pause, verify=verify)


@pytest.mark.parametrize("answered", [plain, packed, moved])
def test_an_answer_is_read_as_by_any_session(served: Serve, answered: Answer) -> None:
    found = ask(served(answered))
    assert found.status_code == 200
    assert found.json()["a"] in ("ä", 1)


@pytest.mark.parametrize("answered", [long, bomb])
def test_a_long_answer_is_refused(served: Serve, answered: Answer) -> None:
    with pytest.raises(RequestException, match=f"longer than {LONGEST} bytes"):
        ask(served(answered))


@pytest.mark.parametrize("answered", [slow, dripping, never_beginning])
def test_a_slow_answer_is_refused(served: Serve, answered: Answer) -> None:
    with pytest.raises(ReadTimeout, match="takes longer than 0 s"):
        ask(served(answered), seconds=0.3)


def test_slow_encrypted_answer_is_refused(served: Serve, tmp_path: Path) -> None:
    pem = tmp_path / "own.pem"
    pem.write_bytes(certificate())
    with pytest.raises(ReadTimeout, match="takes longer than 0 s"):
        ask(served(dripping, pem), seconds=0.3, verify=str(pem))


def test_missing_answer_is_not_called_slow(served: Serve) -> None:
    with pytest.raises(ReadTimeout, match="Read timed out"):
        ask(served(lambda _: time.sleep(2)), pause=0.1)


def test_connections_are_used_again(served: Serve) -> None:
    came: set[object] = set()

    def counted(request: BaseHTTPRequestHandler) -> None:
        came.add(request.client_address)
        request.protocol_version, request.close_connection = "HTTP/1.1", False
        plain(request)

    url, session = served(counted), guarded(requests.Session(), AllowedHosts(("127.0.0.1",)))
    with session:
        assert [session.get(url, timeout=10).status_code for _ in range(3)] == [200] * 3
    assert len(came) == 1


def test_broken_answer_is_a_connection_error(served: Serve) -> None:
    with pytest.raises(requests.ConnectionError):
        ask(served(broken))


def test_an_address_inside_the_network_is_refused(served: Serve) -> None:
    with pytest.raises(NoSuchCloudError, match="other_clouds_allowed_hosts"):
        guarded(requests.Session(), AllowedHosts()).get(served(plain), timeout=10)

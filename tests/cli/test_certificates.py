"""HTTPS servers are verified by the certificates that this machine trusts."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from stoker.cli.client.client import Client
from stoker.cli.client.credentials import Credentials
from stoker.cli.console.failures import CommandError


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Accept any credentials, with an empty catalog."""
        self.send_response(201)
        self.send_header("X-Subject-Token", "t")
        self.end_headers()
        self.wfile.write(b'{"token": {"project": {"id": "p"}}}')

    def do_GET(self) -> None:
        """Respond with JSON to all requests."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"good": true}')

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a certificate of this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "here")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(1))
        .not_valid_after(now + timedelta(1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = tmp_path / "here.pem"
    file.write_bytes(secret + made.public_bytes(Encoding.PEM))
    return file


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    """The address of a server with this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with HTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}"
        server.shutdown()


def answer(url: str, *, verify: bool = True) -> object:
    credentials = Credentials(f"{url}/v3", "demo", "secret", verify=verify)
    with closing(Client(credentials, url)) as client:
        return client.get("orchestration", "/")


def test_unknown_certificate_is_refused(url: str) -> None:
    with pytest.raises(CommandError, match="certificate"):
        answer(url)
    assert answer(url, verify=False) == {"good": True}


def test_certificate_of_environment_is_accepted(
    url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert answer(url) == {"good": True}

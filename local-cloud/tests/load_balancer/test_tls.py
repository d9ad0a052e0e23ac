"""TLS that ends at a listener, with certificates of the key manager."""

import base64
import ssl
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from cloud_testing.balancers import Balancing, connected

_DAY = timedelta(days=1)


class _Identity:
    """A key with a certificate of its own making."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        now = datetime.now(UTC)
        builder = x509.CertificateBuilder(subject, subject, self.key.public_key())
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        builder = builder.serial_number(1).add_extension(names, critical=False)
        builder = builder.not_valid_before(now - _DAY).not_valid_after(now + _DAY)
        self.certificate = builder.sign(self.key, hashes.SHA256())

    def pem(self) -> tuple[bytes, bytes]:
        key = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return self.certificate.public_bytes(Encoding.PEM), key

    def bundle(self) -> bytes:
        pair = self.key, self.certificate
        return pkcs12.serialize_key_and_certificates(None, *pair, None, NoEncryption())


async def _secret(balancing: Balancing, payload: bytes) -> str:
    body = {
        "payload": base64.b64encode(payload).decode(),
        "payload_content_type": "application/octet-stream",
        "payload_content_encoding": "base64",
    }
    answer = await balancing.api.call("POST", "/key-manager/v1/secrets", body, 201)
    return str(answer["secret_ref"])


async def _container(balancing: Balancing, identity: _Identity) -> str:
    certificate, key = identity.pem()
    refs = [
        {"name": "certificate", "secret_ref": await _secret(balancing, certificate)},
        {"name": "private_key", "secret_ref": await _secret(balancing, key)},
    ]
    body = {"name": "tls", "type": "certificate", "secret_refs": refs}
    answer = await balancing.api.call("POST", "/key-manager/v1/containers", body, 201)
    return str(answer["container_ref"])


def _trusting(*identities: _Identity) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for identity in identities:
        context.load_verify_locations(cadata=identity.pem()[0].decode())
    return context


async def _ask(place: tuple[str, int], context: ssl.SSLContext, name: str) -> str:
    async with connected(place, ssl=context, server_hostname=name) as (reader, writer):
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        return (await reader.read()).decode()


async def _say(reader: Any, writer: Any) -> None:
    asked = await reader.readuntil(b"\r\n\r\n")
    size = str(len(asked)).encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: " + size + b"\r\n\r\n" + asked)


async def test_listener_terminates_tls_and_informs_members(balancing: Balancing) -> None:
    one, two = _Identity("one.example"), _Identity("two.example")
    balancer = await balancing.balancer()
    listener = await balancing.make(
        "listener",
        loadbalancer_id=balancer["id"],
        protocol="TERMINATED_HTTPS",
        protocol_port=443,
        default_tls_container_ref=await _container(balancing, one),
        insert_headers={"X-Forwarded-Proto": "true"},
        hsts_max_age=60,
    )
    fields = {"protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"}
    pool = await balancing.make("pool", listener_id=listener["id"], **fields)
    await balancing.member(pool, 1)
    place, both = balancing.door(balancer, 443), _trusting(one, two)
    async with balancing.server(1, _say):
        answer = await _ask(place, both, "one.example")
        assert "x-forwarded-proto: https" in answer
        assert "strict-transport-security: max-age=60" in answer
        with pytest.raises(ssl.SSLError):
            await _ask(place, both, "two.example")
        more = [await _secret(balancing, two.bundle())]
        await balancing.change("listener", listener["id"], sni_container_refs=more)
        for identity in (one, two):
            assert "200 OK" in await _ask(place, _trusting(identity), identity.name)
        versions = {"tls_versions": ["TLSv1.3"]}
        await balancing.change("listener", listener["id"], **versions)
        both.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises((ssl.SSLError, OSError)):
            await _ask(place, both, "one.example")


async def test_missing_or_unusable_certificate_is_refused(balancing: Balancing) -> None:
    balancer = await balancing.balancer()
    fields = {"loadbalancer_id": balancer["id"], "protocol": "TERMINATED_HTTPS"}
    nonsense = await _secret(balancing, b"nonsense")
    missing = nonsense[:-4] + "0000"
    said = f"Could not retrieve certificate: {missing}"
    given = {**fields, "protocol_port": 443}
    assert await balancing.refused("listener", **given, default_tls_container_ref=missing) == said
    assert "X509" in await balancing.refused("listener", **given, sni_container_refs=[nonsense])
    other = Balancing(balancing.house, balancing.house.user("other"))
    theirs = await _container(other, _Identity("theirs"))
    said = f"Could not retrieve certificate: {theirs}"
    assert await balancing.refused("listener", **given, default_tls_container_ref=theirs) == said
    assert (await balancing.get("/listeners"))["listeners"] == []

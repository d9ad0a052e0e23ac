"""Certificates in the key manager of a cloud."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import NoEncryption, pkcs12

from stoker.clouds.objects.collection import send


def certificate(cloud: Any, name: str) -> str:
    """Make a certificate for a host name; returns the address of the secret that has it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1)
    builder = builder.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    made = builder.sign(key, hashes.SHA256())
    bundle = pkcs12.serialize_key_and_certificates(None, key, made, None, NoEncryption())
    body = {
        "payload": base64.b64encode(bundle).decode(),
        "payload_content_type": "application/octet-stream",
        "payload_content_encoding": "base64",
    }
    return str(send(cloud.service("key-manager"), "POST", "/secrets", json=body)["secret_ref"])

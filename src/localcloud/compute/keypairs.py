"""Key pairs: making them, reading what users bring, and their fingerprints."""

import asyncio
import base64
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from localcloud.compute.state import State
from localcloud.http import BadRequest, NotFound, RequestContext
from localcloud.store import Document

_BITS = 2048
_TEN_YEARS = timedelta(days=3650)


@dataclass(frozen=True)
class KeyMaterial:
    """The keys of a pair as text."""

    public_key: str
    fingerprint: str
    private_key: str | None = None


def _colons(digest: str) -> str:
    return ":".join(digest[i : i + 2] for i in range(0, len(digest), 2))


def _ssh_fingerprint(public_key: str) -> str:
    raw = base64.b64decode(public_key.split()[1])
    return _colons(hashlib.md5(raw, usedforsecurity=False).hexdigest())


def _pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def read_ssh(public_key: str) -> KeyMaterial:
    """Return an SSH public key with its fingerprint; raises :class:`BadRequest`."""
    try:
        serialization.load_ssh_public_key(public_key.strip().encode())
    except (ValueError, UnsupportedAlgorithm) as error:
        if not public_key.startswith(("sk-ssh-", "sk-ecdsa-")):
            raise BadRequest("Keypair data is invalid: it is not an SSH public key.") from error
    try:
        return KeyMaterial(public_key, _ssh_fingerprint(public_key))
    except (ValueError, IndexError) as error:
        raise BadRequest("Keypair data is invalid: it is not an SSH public key.") from error


def read_x509(public_key: str) -> KeyMaterial:
    """Return an X.509 certificate in PEM with its fingerprint; raises :class:`BadRequest`."""
    try:
        certificate = x509.load_pem_x509_certificate(public_key.encode())
    except ValueError as error:
        raise BadRequest("Keypair data is invalid: it is not an X.509 certificate.") from error
    digest = certificate.fingerprint(hashes.SHA1()).hex()  # noqa: S303  (the API's own choice)
    return KeyMaterial(public_key, _colons(digest))


def _generate_ssh() -> KeyMaterial:
    key = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    public = key.public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    )
    text = f"{public.decode()} Generated-by-Nova"
    return KeyMaterial(text, _ssh_fingerprint(text), _pem(key))


def _generate_x509(user_id: str, moment: datetime) -> KeyMaterial:
    key = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user_id[:64])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(moment)
        .not_valid_after(moment + _TEN_YEARS)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    public = certificate.public_bytes(serialization.Encoding.PEM).decode()
    return KeyMaterial(public, read_x509(public).fingerprint, _pem(key))


async def generate(kind: str, user_id: str) -> KeyMaterial:
    """Make a new pair of type ``ssh`` or ``x509``; on a thread, as it takes long."""
    if kind == "x509":
        return await asyncio.to_thread(_generate_x509, user_id, datetime.now(UTC))
    return await asyncio.to_thread(_generate_ssh)


def find(state: State, user_id: str, name: str) -> Document:
    """Return a user's key pair; raises :class:`NotFound`."""
    keypair = state.keypairs.get(f"{user_id}/{name}")
    if keypair is None:
        raise NotFound(f"Keypair {name} not found for user {user_id}")
    return keypair


def chosen(state: State, context: RequestContext, name: str) -> Document:
    """Return what a server keeps of a key pair; raises :class:`BadRequest` for an unknown one."""
    keypair = state.keypairs.get(f"{context.user_id}/{name}")
    if keypair is None:
        raise BadRequest("Invalid key_name provided.")
    return {k: keypair[k] for k in ("name", "type", "public_key")}

"""Keys as text, as the API shows them."""

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec import Struct

BITS = 2048  # size of new RSA keys


class KeyMaterial(Struct, frozen=True):
    """The keys of a pair as text."""

    public_key: str
    fingerprint: str
    private_key: str | None = None


def colons(digest: str) -> str:
    """Return a hexadecimal digest with a colon between its bytes."""
    return ":".join(digest[i : i + 2] for i in range(0, len(digest), 2))


def pem(key: rsa.RSAPrivateKey) -> str:
    """Return a private key in PEM, not encrypted."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()

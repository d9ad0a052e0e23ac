"""Keys that are made for orders."""

import secrets
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric import dsa, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

_SYMMETRIC = ("aes", "des", "3des", "hmacsha1", "hmacsha256", "hmacsha384", "hmacsha512")
_SYMMETRIC_BITS = (64, 128, 192, 256)
_ASYMMETRIC_BITS = (1024, 2048, 4096)
_EXPONENT = 65537
_PAIRS: dict[str, Callable[[int], rsa.RSAPrivateKey | dsa.DSAPrivateKey]] = {
    "rsa": lambda bits: rsa.generate_private_key(_EXPONENT, bits),
    "dsa": dsa.generate_private_key,
}
_FORMS = {"rsa": Encoding.PEM, "dsa": Encoding.DER}


def can_make(kind: str, algorithm: str, bits: int, mode: str | None) -> bool:
    """Return whether such a key, or pair of keys (kind ``asymmetric``), can be made."""
    if kind == "asymmetric":
        return algorithm.lower() in _PAIRS and bits in _ASYMMETRIC_BITS
    # the mode XTS has two keys in one
    factor = 2 if mode is not None and mode.lower() == "xts" else 1
    return algorithm.lower() in _SYMMETRIC and bits / factor in _SYMMETRIC_BITS


def symmetric(bits: int) -> bytes:
    """Return a new key."""
    return secrets.token_bytes(bits // 8)


def pair(algorithm: str, bits: int, passphrase: str | None) -> tuple[bytes, bytes]:
    """Return a new private key, and the public one of it; takes seconds for long ones."""
    form = _FORMS[algorithm.lower()]
    key = _PAIRS[algorithm.lower()](bits)
    encryption: KeySerializationEncryption = NoEncryption()
    if passphrase:
        encryption = BestAvailableEncryption(passphrase.encode())
    public = key.public_key().public_bytes(form, PublicFormat.SubjectPublicKeyInfo)
    return key.private_bytes(form, PrivateFormat.PKCS8, encryption), public

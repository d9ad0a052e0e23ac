"""Password hashes."""

import base64
import hashlib
import hmac
import secrets

# Scrypt's N: takes about 2 ms. The cloud only serves the machine it runs on.
_COST = 1 << 10


def hashed(password: str) -> str:
    """Return a salted hash of the password for storage."""
    salt = secrets.token_bytes(16)
    digest = _scrypt(password, salt, _COST)
    return f"scrypt${_COST}${_text(salt)}${_text(digest)}"


def verify(password: str, stored: str | None) -> bool:
    """Return whether the password matches the hash."""
    if not stored:
        return False
    _, cost, salt, digest = stored.split("$")
    actual = _scrypt(password, base64.b64decode(salt), int(cost))
    return hmac.compare_digest(actual, base64.b64decode(digest))


def _scrypt(password: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=cost, r=8, p=1, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()

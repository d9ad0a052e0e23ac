"""Payloads of secrets: their types, and their encryption.

Each project has its own key, derived from the cloud's key. The cloud's key is in a file beside the
database, readable only by its owner. Without that file the database reveals no payload, and the key
of one project opens no payload of another.
"""

import base64
import binascii
from pathlib import Path

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from localcloud.core.store import Document
from localcloud.identity.tokens.tokens import token_key
from localcloud.web.http import BadRequestError, NotAcceptableError, TooLargeError

TEXT = "text/plain"
BINARY = "application/octet-stream"
_PKCS8 = "application/pkcs8"
SUPPORTED = [TEXT, "text/plain;charset=utf-8", "text/plain; charset=utf-8", BINARY, _PKCS8]
_MOST_BYTES = 20_000


class PayloadCipher:
    """Seals payloads for the database."""

    def __init__(self, path: Path) -> None:
        self._key = token_key(path)

    def sealed(self, project_id: str, payload: bytes) -> str:
        """Return a payload as the database holds it."""
        return self._of(project_id).encrypt(payload).decode()

    def opened(self, secret: Document) -> bytes:
        """Return the payload of a secret."""
        return self._of(secret["project_id"]).decrypt(secret["payload"].encode())

    def _of(self, project_id: str) -> Fernet:
        key = HKDF(SHA256(), 32, salt=None, info=project_id.encode()).derive(self._key)
        return Fernet(base64.urlsafe_b64encode(key))


def normalized(kind: str) -> str | None:
    """Return the kind of content that a client names, or None for one that is not kept."""
    mime, _, parameter = (part.strip().lower() for part in kind.partition(";"))
    if parameter and parameter.partition("=")[2].strip() != "utf-8":
        return None
    return mime if mime in (TEXT, BINARY, _PKCS8) else None


def encodings(kind: str) -> list[str] | None:
    """Return the encodings of a kind of content; None for text, which has none."""
    return None if kind == TEXT else ["base64", "binary"]


def decoded(payload: str | bytes, encoding: str | None) -> bytes:
    """Return the bytes that a payload stands for; raises BadRequestError."""
    data = payload.encode() if isinstance(payload, str) else payload
    if encoding != "base64":
        return data
    try:
        return base64.b64decode(data)
    except binascii.Error as error:
        raise BadRequestError("Problem decoding payload") from error


def check_size(payload: str | bytes) -> None:
    """Raise :class:`TooLargeError` for more than a secret may hold."""
    if len(payload.encode() if isinstance(payload, str) else payload) > _MOST_BYTES:
        raise TooLargeError("Provided information too large to process")


def as_asked(data: bytes, stored_type: str, accepted: str) -> tuple[bytes, str]:
    """Return a payload in a kind that the client accepts, and this kind; raises
    NotAcceptableError.
    """
    kind = stored_type if accepted in ("*/*", "") else normalized(accepted)
    wrong = NotAcceptableError("Secret payload retrieval issue seen - Wrong payload content-type.")
    if kind is None:
        raise wrong
    if kind == TEXT:
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise wrong from error
    return data, kind

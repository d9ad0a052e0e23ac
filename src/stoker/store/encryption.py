"""Encryption of columns that may hold secrets."""

from __future__ import annotations

import hmac
import json
import math
import os
from base64 import b64decode, b64encode, urlsafe_b64decode
from collections.abc import Mapping
from threading import Lock
from typing import Any, Protocol

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from stoker.kernel import long_json


def dumps(value: Any) -> str:
    """Compact JSON; values that JSON does not know (dates of YAML) become text."""
    if long_json.is_short(value, _MOST_VALUES):
        return _encode(value)
    return "".join(long_json.pieces(value, _encode, _MOST_VALUES))


_encode = json.JSONEncoder(separators=(",", ":"), default=str).encode


def loads(text: str) -> Any:
    """The value of what :func:`dumps` has written."""
    if len(text) > _LONGEST:
        return long_json.read(text, float, math.inf)
    return _decode(text)[0]


_decode = json.JSONDecoder().raw_decode
_MOST_VALUES = 8 * long_json.PIECE
"""Values that are written in one go: what is stored was checked before, and is no list of lists."""
_LONGEST = 8 * long_json.WINDOW
"""Characters that are read in one go."""
_PIECE = 128 * 1024
"""Bytes that are encrypted in one go, for which no other thread can run."""
_BETWEEN = "."
"""Stands between the pieces of an encrypted text."""
_MARK, _OF_FERNET = "aes:", "gAAAA"
"""What begins every encrypted text, and no JSON; the second one those of earlier releases."""
_NONCE = 12
"""Bytes that are new for each piece."""


class Cipher(Protocol):
    """Turns JSON-ready values into text that nobody can read without the key, and back."""

    def encrypt(self, value: Any) -> str:
        """The encrypted text."""

    def decrypt(self, text: str) -> Any:
        """The value."""


MOST_KEPT = 16 * 1024 * 1024
"""Characters of encrypted and decrypted texts that are kept in memory."""


class ColumnCipher:
    """Encrypts with AES-256-GCM. Empty values are stored as they are.

    What earlier releases have encrypted with Fernet is decrypted, too; the key is one of Fernet.
    What was encrypted or decrypted last is kept: to look a text up takes a hundredth of the time
    of decrypting it, and every plan reads all rows of its stack.
    """

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)
        own = hmac.digest(urlsafe_b64decode(key), b"stoker columns AES-256-GCM", "sha256")
        self._aes = AESGCM(own)
        self._decrypted: dict[str, str] = {}
        self._size = 0
        self._lock = Lock()

    def encrypt(self, value: Any) -> str:
        """The encrypted text."""
        text = dumps(dict(value) if isinstance(value, Mapping) else value)
        if not value:
            return text
        data = text.encode()
        pieces = (data[begin : begin + _PIECE] for begin in range(0, len(data), _PIECE))
        encrypted = _MARK + _BETWEEN.join(map(self._encrypt_piece, pieces))
        self._keep(encrypted, text)
        return encrypted

    def _encrypt_piece(self, piece: bytes) -> str:
        nonce = os.urandom(_NONCE)
        return b64encode(nonce + self._aes.encrypt(nonce, piece, None)).decode("ascii")

    def _decrypt_piece(self, text: str) -> bytes:
        data = b64decode(text)
        return self._aes.decrypt(data[:_NONCE], data[_NONCE:], None)

    def decrypt(self, text: str) -> Any:
        """The value. Raises ``cryptography.exceptions.InvalidTag`` under a wrong key, or
        ``cryptography.fernet.InvalidToken``.
        """
        if not text.startswith((_MARK, _OF_FERNET)):
            return loads(text)
        plain = self._decrypted.get(text)
        if plain is None:
            decrypt = self._decrypt_piece if text.startswith(_MARK) else self._fernet.decrypt
            pieces = text.removeprefix(_MARK).split(_BETWEEN)
            plain = b"".join(map(decrypt, pieces)).decode()
            self._keep(text, plain)
        return loads(plain)

    def _keep(self, text: str, plain: str) -> None:
        """Keep a text; those kept longest give way."""
        with self._lock:
            if text in self._decrypted:
                return
            self._decrypted[text] = plain
            self._size += len(text) + len(plain)
            while self._size > MOST_KEPT:
                oldest = next(iter(self._decrypted))
                self._size -= len(oldest) + len(self._decrypted.pop(oldest))


class EncryptOnce:
    """Encrypts each value once: a resource and its events have their properties in common.

    It knows values by their identity, and holds them so that no other can get the same.
    """

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher
        self._encrypted: dict[int, tuple[Any, str]] = {}

    def encrypt(self, value: Any) -> str:
        """The encrypted text."""
        known = self._encrypted.get(id(value))
        if known is None:
            known = self._encrypted[id(value)] = (value, self._cipher.encrypt(value))
        return known[1]

    def decrypt(self, text: str) -> Any:
        """The value."""
        return self._cipher.decrypt(text)

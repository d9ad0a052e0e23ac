"""Encryption of columns that may hold secrets."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import re
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from binascii import b2a_base64
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, MultiFernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from stoker.kernel.json.content import Content
from stoker.kernel.json.text import dumps, loads
from stoker.store.sql.contents import ContentCache

_PIECE = 128 * 1024  # bytes that are encrypted in one call, during which no other thread can run
_BETWEEN = "."  # separates the pieces of an encrypted text
# Prefixes of encrypted texts; no JSON text starts with them. The first is followed by the id of the
# key, except in texts of earlier releases. Releases before those wrote the second.
_AES, _OF_FERNET = "aes", "gAAAA"
_ID = 8  # characters of the id of a key
_NONCE = 12  # random bytes for each piece
_TAG = 24  # Characters at the end of an encrypted text that identify it: the tag of its last piece.
# The id of a key, and the rest of a sealed text: a nonce and a tag at least.
_KEY_ID = re.compile(f"[0-9a-f]{{{_ID}}}")
_SEALED = re.compile("[A-Za-z0-9_-]{38,}")


Hashed = tuple[str, Callable[[], str]]


class Cipher(Protocol):
    """Encrypts JSON-ready values as text that cannot be read without the key, and decrypts it."""

    def encrypt(self, value: Any) -> str:
        """Return the encrypted text."""

    def hashed(self, value: Any) -> Hashed:
        """Return the SHA-256 of the plain text, and a function that encrypts it."""

    def decrypt(self, text: str) -> Any:
        """Return the decrypted value."""

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        """Return the value of a content, and the length of its JSON text."""

    contents: ContentCache


MOST_KEPT = 16 * 1024 * 1024  # characters of cached decrypted texts, with their tags
LONGEST_KEPT = 4096  # characters; to read the JSON of longer ones takes longer than to decrypt them


class _Key:
    """One key, in the forms in which it is used."""

    def __init__(self, key: bytes) -> None:
        raw = urlsafe_b64decode(key)
        self.id = hmac.digest(raw, b"stoker id of key", "sha256").hex()[:_ID]
        self._mark = f"{_AES}-{self.id}:"
        self.fernet = Fernet(key)
        self._aes = AESGCM(hmac.digest(raw, b"stoker columns AES-256-GCM", "sha256"))
        self._seal = AESGCM(hmac.digest(raw, b"stoker seals AES-256-GCM", "sha256"))

    def encrypt(self, text: str) -> str:
        """Return the text in encrypted pieces, after a mark that names the key."""
        data = text.encode()
        if len(data) <= _PIECE:
            return self._mark + self._encrypt_piece(data)
        pieces = [data[begin : begin + _PIECE] for begin in range(0, len(data), _PIECE)]
        return self._mark + _BETWEEN.join(map(self._encrypt_piece, pieces))

    def _encrypt_piece(self, piece: bytes) -> str:
        nonce = os.urandom(_NONCE)
        encrypted = b2a_base64(nonce + self._aes.encrypt(nonce, piece, None), newline=False)
        return encrypted.decode("ascii")

    def seal(self, text: str, purpose: str) -> str:
        """Return an encrypted text for clients, in characters of URLs."""
        nonce = os.urandom(_NONCE)
        sealed = nonce + self._seal.encrypt(nonce, text.encode(), purpose.encode())
        return f"{self.id}.{urlsafe_b64encode(sealed).decode('ascii').rstrip('=')}"

    def unseal(self, content: str, purpose: str) -> str:
        """Return the plain text. Raises InvalidTag, or ValueError for other characters."""
        if not _SEALED.fullmatch(content):
            raise ValueError("a sealed text has other characters")
        sealed = urlsafe_b64decode(content + "=" * (-len(content) % 4))
        plain = self._seal.decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose.encode())
        return plain.decode()

    def decrypt(self, text: str) -> str:
        """Return the plain text of the pieces. Raises InvalidTag."""
        pieces = (b64decode(piece) for piece in text.split(_BETWEEN))
        plain = (self._aes.decrypt(piece[:_NONCE], piece[_NONCE:], None) for piece in pieces)
        return b"".join(plain).decode()


class ColumnCipher:
    """Encrypts with AES-256-GCM and the newest key. Empty values are stored in clear text.

    Texts of other keys are decrypted with those, also texts that earlier releases encrypted with
    Fernet; all keys have its format. The latest short texts are cached: a lookup takes a hundredth
    of the time of a decryption, and every plan reads all rows of its stack. The key of the cache
    is the tag, so that a manipulated text gives the original value, never one of the attacker.

    If a text names an unknown key, another process has started to use it: ``kept`` then returns the
    present keys.
    """

    def __init__(
        self, newest: bytes, *earlier: bytes, stored_keys: Callable[[], Iterable[bytes]] = tuple
    ) -> None:
        self._stored_keys = stored_keys
        self.contents = ContentCache()
        self.use(newest, *earlier)
        self._decrypted: dict[str, str] = {}  # by the tags of encrypted texts
        self._size = 0
        self._lock = Lock()

    def use(self, newest: bytes, *earlier: bytes) -> None:
        """Use another key for encryption from now on, and all these for decryption."""
        self._newest, *others = self._keys = tuple(map(_Key, (newest, *earlier)))
        self._by_id = {key.id: key for key in (*others, self._newest)}

    @property
    def newest(self) -> str:
        """Return the id of the newest key."""
        return self._newest.id

    def encrypt(self, value: Any) -> str:
        """Return the encrypted text."""
        return self._encrypted(dumps(value))

    def hashed(self, value: Any) -> Hashed:
        """Return the SHA-256 of the plain text, and a function that encrypts it."""
        if isinstance(value, Content) and value.hash is not None:
            return value.hash, lambda: self.encrypt(value)
        text = dumps(value)
        hash_ = hashlib.sha256(text.encode()).hexdigest()
        if isinstance(value, Content):
            value.hash = hash_
        return hash_, lambda: self._encrypted(text)

    def _encrypted(self, text: str) -> str:
        if text in _EMPTY:
            return text
        encrypted = self._newest.encrypt(text)
        self._keep(encrypted, text)
        return encrypted

    def seal(self, text: str, purpose: str) -> str:
        """Return a text for clients to keep, which they can neither read nor change."""
        return self._newest.seal(text, purpose)

    def unseal(self, sealed: str, purpose: str) -> str | None:
        """Return the text that one of the keys sealed for a purpose, or None."""
        key_id, _, content = sealed.partition(".")
        key = self._named(key_id) if _KEY_ID.fullmatch(key_id) else None
        if key is None:
            return None
        try:
            return key.unseal(content, purpose)
        except (InvalidTag, ValueError):
            return None

    def renewed(self, text: str) -> str:
        """Return a text of an earlier key, encrypted with the newest one. Raises as decrypting."""
        return self._newest.encrypt(self._plain(text))

    def decrypt(self, text: str) -> Any:
        """The value. Raises ``cryptography.exceptions.InvalidTag`` under a wrong key, or
        ``cryptography.fernet.InvalidToken``.
        """
        if not text.startswith(MARKS):
            return loads(text)
        plain = self._decrypted.get(text[-_TAG:])
        if plain is None:
            plain = self._plain(text)
            self._keep(text, plain)
        return loads(plain)

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        """The value of a content, and the length of its JSON text, which is not kept."""
        plain = self._plain(text) if text.startswith(MARKS) else text
        return loads(plain), len(plain)

    def _plain(self, text: str) -> str:
        if text.startswith(_OF_FERNET):
            fernet = MultiFernet([key.fernet for key in self._keys])
            return b"".join(map(fernet.decrypt, text.split(_BETWEEN))).decode()
        mark, _, pieces = text.partition(":")
        known = self._named(mark[len(_AES) + 1 :])
        *others, last = [known] if known else self._keys
        for key in others:
            with contextlib.suppress(InvalidTag):
                return key.decrypt(pieces)
        return last.decrypt(pieces)

    def _named(self, key_id: str) -> _Key | None:
        if key_id and key_id not in self._by_id:
            self._by_id |= {key.id: key for key in map(_Key, self._stored_keys())}
        return self._by_id.get(key_id)

    def _keep(self, text: str, plain: str) -> None:
        """Cache a text that is not long. Those cached first are dropped first."""
        if len(plain) > LONGEST_KEPT:
            return
        tag = text[-_TAG:]
        with self._lock:
            if tag in self._decrypted:
                return
            self._decrypted[tag] = plain
            self._size += len(tag) + len(plain)
            while self._size > MOST_KEPT:
                oldest = next(iter(self._decrypted))
                self._size -= len(oldest) + len(self._decrypted.pop(oldest))


def plain_size(encrypted: int | None) -> int:
    """Return the bytes of a text from those of its encryption: Base64 writes three as four."""
    return int(encrypted or 0) * 3 // 4


_EMPTY = frozenset(("{}", "[]", '""', "null"))  # stored without encryption
NO_ID = "unnamed"  # the id for texts that do not name their key
MARKS = (_AES, _OF_FERNET)  # prefixes of encrypted texts
BEGINNING = len(_AES) + 1 + _ID + 1  # characters at the start of a text that identify its key


def key_of(text: str | None) -> str | None:
    """Return the id of the key of a text; None if it is not encrypted.

    The first ``BEGINNING`` characters are enough.
    """
    if not text or not text.startswith(MARKS):
        return None
    mark, named, _ = text.partition(":")
    return mark[len(_AES) + 1 :] or NO_ID if named else NO_ID

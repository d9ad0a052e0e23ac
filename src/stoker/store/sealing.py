"""Encryption of columns that may hold secrets."""

from __future__ import annotations

import json
from threading import Lock
from typing import Any, Protocol

from cryptography.fernet import Fernet


def dumps(value: Any) -> str:
    """Compact JSON; values that JSON does not know (dates of YAML) become text."""
    return json.dumps(value, separators=(",", ":"), default=str)


_decode = json.JSONDecoder().raw_decode
_MARK = "gAAAA"
"""What begins every sealed text, and no JSON."""


class Seal(Protocol):
    """Turns JSON-ready values into text that nobody can read without the key, and back."""

    def close(self, value: Any) -> str:
        """The sealed text."""

    def open(self, text: str) -> Any:
        """The value."""


MOST_KEPT = 16 * 1024 * 1024
"""Characters of sealed and opened texts that are kept in memory."""


class FernetSeal:
    """Seals with Fernet (AES-128-CBC and HMAC-SHA256). Empty values are stored as they are.

    What was opened last is kept: to look a text up takes a hundredth of the time of opening it,
    and every plan reads all rows of its stack.
    """

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)
        self._opened: dict[str, str] = {}
        self._size = 0
        self._lock = Lock()

    def close(self, value: Any) -> str:
        """The sealed text."""
        if not value:
            return dumps(value)
        return self._fernet.encrypt(dumps(value).encode()).decode("ascii")

    def open(self, text: str) -> Any:
        """The value. Raises ``cryptography.fernet.InvalidToken`` under a wrong key."""
        if not text.startswith(_MARK):
            return json.loads(text)
        opened = self._opened.get(text)
        if opened is None:
            opened = self._fernet.decrypt(text.encode("ascii")).decode()
            self._keep(text, opened)
        return _decode(opened)[0]

    def _keep(self, text: str, opened: str) -> None:
        """Keep a text; those kept longest give way."""
        with self._lock:
            if text in self._opened:
                return
            self._opened[text] = opened
            self._size += len(text) + len(opened)
            while self._size > MOST_KEPT:
                oldest = next(iter(self._opened))
                self._size -= len(oldest) + len(self._opened.pop(oldest))

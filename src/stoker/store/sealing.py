"""Encryption of columns that may hold secrets."""

from __future__ import annotations

import json
from typing import Any, Protocol

from cryptography.fernet import Fernet


def dumps(value: Any) -> str:
    """Compact JSON; values that JSON does not know (dates of YAML) become text."""
    return json.dumps(value, separators=(",", ":"), default=str)


_MARK = "gAAAA"
"""What begins every sealed text, and no JSON."""


class Seal(Protocol):
    """Turns JSON-ready values into text that nobody can read without the key, and back."""

    def close(self, value: Any) -> str:
        """The sealed text."""

    def open(self, text: str) -> Any:
        """The value."""


class FernetSeal:
    """Seals with Fernet (AES-128-CBC and HMAC-SHA256). Empty values are stored as they are."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    def close(self, value: Any) -> str:
        """The sealed text."""
        if not value:
            return dumps(value)
        return self._fernet.encrypt(dumps(value).encode()).decode("ascii")

    def open(self, text: str) -> Any:
        """The value. Raises ``cryptography.fernet.InvalidToken`` under a wrong key."""
        if not text.startswith(_MARK):
            return json.loads(text)
        return json.loads(self._fernet.decrypt(text.encode("ascii")))

"""Encryption of secrets at rest (Fernet)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

_KEY_FILE = "secret.key"


class Undecipherable(Exception):
    """A secret was encrypted with another key, or its text is damaged."""


class SecretBox:
    """Encrypts and decrypts values with one key."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)

    def seal(self, value: Mapping[str, Any]) -> str:
        """The value, encrypted, as text."""
        return self._fernet.encrypt(json.dumps(dict(value)).encode()).decode()

    def open(self, text: str) -> dict[str, Any]:
        """The value that :meth:`seal` made ``text`` of; raises :class:`Undecipherable`."""
        try:
            value: dict[str, Any] = json.loads(self._fernet.decrypt(text.encode()))
        except (InvalidToken, ValueError) as error:
            raise Undecipherable("The secret was encrypted with another key.") from error
        return value


def key_from_passphrase(passphrase: str) -> bytes:
    """The key of the option ``auth_encryption_key``, a text of any length."""
    return base64.urlsafe_b64encode(hashlib.sha256(passphrase.encode()).digest())


def key_in(directory: Path) -> bytes:
    """The key kept in a directory, readable by its owner alone; made if there is none."""
    path = directory / _KEY_FILE
    if not path.exists():
        _keep_new_key(path)
    return path.read_bytes().strip()


def _keep_new_key(path: Path) -> None:
    """Write a new key whole or not at all; of several writers the first one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{Fernet.generate_key()[:8].hex()}")
    fresh.touch(mode=0o600, exist_ok=False)
    fresh.write_bytes(Fernet.generate_key() + b"\n")
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()

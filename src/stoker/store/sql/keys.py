"""The keys that encrypt stored secrets, each in the format of a Fernet key.

The first one is the newest: it encrypts. The others decrypt older texts.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet

_KEY_FILE = "secret.key"


def key_from_passphrase(passphrase: str) -> bytes:
    """Return the key for the option ``auth_encryption_key``, a text of any length."""
    return base64.urlsafe_b64encode(hashlib.sha256(passphrase.encode()).digest())


def key_file(directory: Path) -> Path:
    """Return the file with the keys of a directory, one in each line."""
    return directory / _KEY_FILE


def keys_in(directory: Path) -> list[bytes]:
    """Return the keys in a directory; create the first if there is none.

    Only the owner of the file can read it.
    """
    if not key_file(directory).exists():
        _keep_first_key(key_file(directory))
    return stored_keys_in(directory)


def stored_keys_in(directory: Path) -> list[bytes]:
    """Return the keys in a directory; empty if there are none."""
    path = key_file(directory)
    return path.read_bytes().split() if path.exists() else []


def add_key(directory: Path) -> None:
    """Add a new key for encryption; the others are kept for decryption."""
    _keep(directory, [Fernet.generate_key(), *keys_in(directory)])


def drop_earlier_keys(directory: Path) -> int:
    """Keep only the newest key; return the number of removed ones."""
    keys = keys_in(directory)
    _keep(directory, keys[:1])
    return len(keys) - 1


def _keep(directory: Path, keys: Sequence[bytes]) -> None:
    """Replace the keys atomically."""
    path = key_file(directory)
    _written_beside(path, keys).replace(path)


def _keep_first_key(path: Path) -> None:
    """Write the first key atomically; of several writers, the first one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = _written_beside(path, [Fernet.generate_key()])
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def _written_beside(path: Path, keys: Sequence[bytes]) -> Path:
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600, exist_ok=False)
    with fresh.open("wb") as file:
        file.write(b"".join(key + b"\n" for key in keys))
        file.flush()
        os.fsync(file.fileno())  # Without this, a renamed file may be empty after a power failure.
    return fresh

"""The keys that secrets at rest are encrypted with, each in the form of a key of Fernet.

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
    """The key of the option ``auth_encryption_key``, a text of any length."""
    return base64.urlsafe_b64encode(hashlib.sha256(passphrase.encode()).digest())


def key_file(directory: Path) -> Path:
    """Return the file with the keys of a directory, one in each line."""
    return directory / _KEY_FILE


def keys_in(directory: Path) -> list[bytes]:
    """Return the keys in a directory, which only its owner can read; make one if there is none."""
    if not key_file(directory).exists():
        _keep_first_key(key_file(directory))
    return kept_in(directory)


def kept_in(directory: Path) -> list[bytes]:
    """The same; none where there are none yet."""
    path = key_file(directory)
    return path.read_bytes().split() if path.exists() else []


def add_key(directory: Path) -> None:
    """Let a new key encrypt from now on; the others are kept."""
    _keep(directory, [Fernet.generate_key(), *keys_in(directory)])


def drop_earlier_keys(directory: Path) -> int:
    """Keep only the newest key; return the number of removed ones."""
    kept = keys_in(directory)
    _keep(directory, kept[:1])
    return len(kept) - 1


def _keep(directory: Path, keys: Sequence[bytes]) -> None:
    """Write keys whole or not at all, over those that are there."""
    path = key_file(directory)
    _written_beside(path, keys).replace(path)


def _keep_first_key(path: Path) -> None:
    """Write a key whole or not at all; of several writers the first one wins."""
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
        os.fsync(file.fileno())  # a file that is renamed first may be empty after a power failure
    return fresh

"""The key that secrets at rest are encrypted with, in the form of a key of Fernet."""

from __future__ import annotations

import base64
import hashlib
import secrets
from pathlib import Path

from cryptography.fernet import Fernet

_KEY_FILE = "secret.key"


def key_from_passphrase(passphrase: str) -> bytes:
    """The key of the option ``auth_encryption_key``, a text of any length."""
    return base64.urlsafe_b64encode(hashlib.sha256(passphrase.encode()).digest())


def key_file(directory: Path) -> Path:
    """Where the key of a directory is kept."""
    return directory / _KEY_FILE


def key_in(directory: Path) -> bytes:
    """The key kept in a directory, readable by its owner alone; made if there is none."""
    path = key_file(directory)
    if not path.exists():
        _keep_new_key(path)
    return path.read_bytes().strip()


def _keep_new_key(path: Path) -> None:
    """Write a new key whole or not at all; of several writers the first one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    fresh.touch(mode=0o600, exist_ok=False)
    fresh.write_bytes(Fernet.generate_key() + b"\n")
    try:
        path.hardlink_to(fresh)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()

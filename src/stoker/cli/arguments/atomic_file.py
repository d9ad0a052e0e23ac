"""Replaces files as a whole: another process, and a full disk, never see or leave a part."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from stoker.cli.console.failures import InputError


def replace_text(path: Path, text: str) -> None:
    """Write a file with this text. Links and permissions stay.

    Raises :class:`InputError` if it cannot be written; the file is then as before.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a pipe or a device
        target.write_text(text, "utf-8")
        return
    try:
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(0, "its permissions do not allow writing")
        _replace(target, text)
    except OSError as error:
        raise InputError(f'"{path}" cannot be written: {error.strerror or error}') from None


def _replace(target: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if target.exists():
            shutil.copymode(target, name)
        else:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise


def _umask() -> int:
    """Return the mask of new files. The system only returns it when it is set."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

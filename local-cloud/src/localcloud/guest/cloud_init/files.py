"""``write_files`` of cloud-config."""

import base64
import binascii
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.accounts import give
from localcloud.guest.cloud_init.parts import decompress
from localcloud.guest.cloud_init.scripts import say

_BASE64 = {"b64", "base64"}
_GZIP = {"gz", "gzip"}


def decode(content: Any, encoding: str) -> bytes:
    """The bytes of a file. Raises ValueError when the content is not in that encoding."""
    data = (
        content
        if isinstance(content, bytes)
        else str(content if content is not None else "").encode()
    )
    words = [word.strip() for word in encoding.lower().split("+") if word.strip()]
    unknown = set(words) - _BASE64 - _GZIP - {"text/plain"}
    if unknown:
        raise ValueError(f"the encoding {encoding} is not known")
    if _BASE64 & set(words):
        try:
            data = base64.b64decode(data)
        except binascii.Error as error:
            raise ValueError(f"the content is not base64: {error}") from error
    return decompress(data) if _GZIP & set(words) else data


def _mode(given: Any) -> int:
    if given is None:
        return 0o644
    return given if isinstance(given, int) else int(str(given), 8)


def write_files(entries: Any, deferred: bool) -> None:
    """Write the entries whose ``defer`` is as asked for; each that fails is said aloud."""
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or bool(entry.get("defer", False)) is not deferred:
            continue
        path = entry.get("path")
        try:
            if not path:
                raise ValueError("an entry has no path")
            if entry.get("source"):
                raise ValueError("'source' is not available in this server")
            _write(Path(str(path)), entry)
        except (OSError, ValueError) as error:
            say(f"cloud-config: write_files: {path}: {error}")


def _write(path: Path, entry: dict[str, Any]) -> None:
    data = decode(entry.get("content"), str(entry.get("encoding") or "text/plain"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab" if entry.get("append") else "wb") as file:
        file.write(data)
    path.chmod(_mode(entry.get("permissions")))
    if entry.get("owner"):
        give(path, str(entry["owner"]))

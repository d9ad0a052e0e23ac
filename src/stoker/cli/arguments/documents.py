"""Reads texts that users name: from files, standard input and the web. All have a largest size."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import httpx

from stoker.cli.arguments.locations import STDIN, Location
from stoker.cli.console.failures import InputError
from stoker.cli.examples import installed_example
from stoker.template.source.source import MAX_BYTES

_SILENCE_SECONDS = 30.0  # without a byte from the server
_DOWNLOAD_SECONDS = 120.0


def read_document(location: Location) -> str:
    """Return the text at a location. Raise :class:`InputError` if it cannot be read."""
    if isinstance(location, str):
        return fetch(location)
    return _read_stdin() if location == STDIN else read_file(location)


def _read_stdin() -> str:
    content = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"the standard input is larger than {MAX_BYTES} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise InputError("the standard input is not UTF-8 text") from None


def read_file(path: Path) -> str:
    """Return the text in a file. Raise :class:`InputError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES} bytes")
        return content.decode()
    except FileNotFoundError:
        example = installed_example(path)
        hint = f"; the example is installed as {example}" if example else ""
        raise InputError(f'there is no file "{path}"{hint}') from None
    except OSError as error:
        raise InputError(f'"{path}" cannot be read: {error.strerror}') from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise InputError(
            f'"{path}" is not UTF-8 text: line {line} has the byte 0x{byte:02x} (save it as UTF-8)'
        ) from None


def fetch(url: str) -> str:
    """Return the text at an address. Raise :class:`InputError` if it cannot be fetched."""
    content, deadline = bytearray(), time.monotonic() + _DOWNLOAD_SECONDS
    try:
        with httpx.stream("GET", url, timeout=_SILENCE_SECONDS, follow_redirects=True) as response:
            response.raise_for_status()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_BYTES:
                    raise InputError(f"{url} is larger than {MAX_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise InputError(f"{url} takes longer than {_DOWNLOAD_SECONDS:.0f} seconds")
        return content.decode()
    except httpx.HTTPStatusError as error:
        answer = f"{error.response.status_code} {error.response.reason_phrase}"
        raise InputError(f"{url} cannot be fetched: its server answers {answer}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__
        raise InputError(f"{url} cannot be fetched: {why}") from None
    except UnicodeDecodeError:
        raise InputError(f"{url} is not UTF-8 text") from None

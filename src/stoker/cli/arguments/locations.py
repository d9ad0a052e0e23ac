"""Places of a command's documents: files, the standard input, and addresses on the web."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from stoker.cli.console.failures import InputError

STDIN = Path("-")
STDIN_NAME = "<stdin>"

Location = Path | str  # A text is a URL.


class InputFile(click.Path):
    """A file, "-" for the standard input, or a URL."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the location."""
        return location_of(str(value))


def location_of(text: str) -> Location:
    """Return the location that an argument names: a path, also as a file URL, or an address."""
    if text.startswith("file://"):
        return Path(unquote(urlsplit(text).path))
    return text if is_address(text) else Path(text)


def is_address(place: str) -> bool:
    """Return whether a place is a URL that can be fetched."""
    return place.lower().startswith(("http://", "https://"))


def origin_of(location: Location) -> str:
    """Return the name of a location in messages."""
    return STDIN_NAME if location == STDIN else str(location)


def require_one_stdin(locations: Iterable[Location]) -> None:
    """Raise :class:`InputError` if more than one document is to be read from standard input."""
    if sum(location == STDIN for location in locations) > 1:
        raise InputError("only one document can be read from standard input (-); use files")

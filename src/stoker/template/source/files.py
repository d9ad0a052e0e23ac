"""Files that came with a template, found by the names that templates use for them."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import join, normpath
from urllib.parse import urljoin, urlsplit


def find_file(name: str, files: Mapping[str, str], url: str | None) -> str | None:
    """The full name of a file: what the name means beside the file ``url``, or the name itself."""
    if url is not None and not urlsplit(name).scheme:
        beside = urljoin(url, name) if urlsplit(url).scheme else normpath(join(url, "..", name))
        if beside in files:
            return beside
    return name if name in files else None

"""Files that came with a template, found by the names that templates use for them."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import join, normpath
from urllib.parse import urljoin, urlsplit


def find_file(name: str, files: Mapping[str, str], url: str | None) -> str | None:
    """The full name of a file: the name itself, or what it means beside the file ``url``."""
    if name in files:
        return name
    if url is None or urlsplit(name).scheme:
        return None
    beside = urljoin(url, name) if urlsplit(url).scheme else normpath(join(url, "..", name))
    return beside if beside in files else None

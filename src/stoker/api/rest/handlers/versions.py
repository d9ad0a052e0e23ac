"""Chooses the version of the API by the path or the ``Accept`` header."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from stoker.api.rest.links import Links, link

_SEGMENT = re.compile(r"v([0-9]+)(?:\.([0-9]+))?")
_MEDIA_TYPE = re.compile(r"application/vnd\.openstack\.orchestration-v([0-9]+)(?:\.([0-9]+))?")
_UNVERSIONED = ("", "/", "/versions", "/versions/")


class Versioned(Struct, frozen=True):
    """A path below version 1."""

    path: str


class ListVersions:
    """The client gets a list of the versions."""


class UnknownPath:
    """The path belongs to no version."""


def negotiate(path: str, accept: str) -> Versioned | ListVersions | UnknownPath:
    """Return the requested version and path.

    A version in the path takes precedence over one in ``Accept``.
    """
    first, _, rest = path.removeprefix("/").partition("/")
    match = _SEGMENT.fullmatch(first)
    if match is not None:
        return Versioned(f"/{rest}") if _is_ours(match) else ListVersions()
    if path in _UNVERSIONED:
        return ListVersions()
    media_type = _MEDIA_TYPE.search(accept)
    if media_type is not None and _is_ours(media_type):
        return Versioned(path)
    return UnknownPath()


def document(links: Links) -> dict[str, Any]:
    """Return the list of versions."""
    here = [link(links.version, "self")]
    return {"versions": [{"id": "v1.0", "status": "CURRENT", "links": here}]}


def _is_ours(match: re.Match[str]) -> bool:
    # Compare as text: a path may have more digits than Python converts to a number.
    return match[1].lstrip("0") == "1" and not (match[2] or "").strip("0")

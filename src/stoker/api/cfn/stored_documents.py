"""Addresses of S3: clients upload documents there, which is the object store of this cloud.

AWS's tools write the address of AWS for any object store. The object of such an address is searched
in the project's containers; nothing else of S3 is supported here.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from stoker.kernel.errors import VALUE_ERROR, ValidationError

SCHEME = "s3"
_HOST = re.compile(
    r"(?:(?P<bucket>[a-z0-9][a-z0-9.-]*)\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com"
    r"(?:\.cn)?",
    re.ASCII | re.IGNORECASE,
)


class StoredDocument(Struct, frozen=True):
    """An object of the object store."""

    container: str
    name: str
    alone: bool  # whether this is its only possible place: the address is none of the web


def stored_document(url: str) -> StoredDocument | None:
    """Return the object of an address of S3; None for any other address.

    Refuses (400) an address that names no object, or an old version of one.
    """
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    host = _HOST.fullmatch(parts.hostname or "") if scheme in ("http", "https") else None
    if scheme != SCHEME and host is None:
        return None
    path = parts.path.removeprefix("/")
    if host is None:
        container, name = parts.netloc, path
    elif host["bucket"]:
        container, name = host["bucket"], unquote(path)
    else:
        container, _, name = unquote(path).partition("/")
    if not container or not name or {".", ".."} & {container, *name.split("/")}:
        message = f'"{url:.300}" names no object: an address is s3://BUCKET/KEY.'
        raise ValidationError(message, VALUE_ERROR)
    if "versionId" in parse_qs(parts.query):
        message = f'"{url:.300}" names a version of an object: the newest one alone can be read.'
        raise ValidationError(message, VALUE_ERROR)
    return StoredDocument(container, name, alone=host is None)

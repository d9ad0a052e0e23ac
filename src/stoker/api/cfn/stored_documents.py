"""S3 URLs, which refer to the object store of this cloud.

Clients upload documents there. AWS's tools write AWS's own URL for any object store. The object of
such a URL is searched in the project's containers; nothing else of S3 is supported here.
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
    alone: bool  # whether this is its only possible place, as the URL is not one of the web


def stored_document(url: str) -> StoredDocument | None:
    """Return the object of a URL of S3; None for any other URL.

    Rejects a URL without an object, or with an old version of one (400).
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

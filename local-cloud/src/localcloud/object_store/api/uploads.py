"""Uploads of objects: their attributes from the headers, and the atomic write of their data."""

import mimetypes
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import HTMLResponse, Response

from localcloud.core.store import Document
from localcloud.object_store.api.call import Call
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import HEADER_BYTES, MANIFEST, metadata_changes
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records, http_date
from localcloud.web.http import boolean

KEPT_HEADERS = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
    "x-robots-tag",
    MANIFEST,
)
_NOT_HERE = ("x-symlink-target", "x-symlink-target-account")


class Uploads:
    """Writes objects."""

    def __init__(self, records: Records, files: DataFiles) -> None:
        self._records = records
        self._files = files

    async def store(
        self,
        object_id: str,
        chunks: AsyncIterator[bytes],
        attributes: Document,
        *,
        etag: str = "",
        fresh: bool = False,
    ) -> Document:
        """Store the data and return the object.

        Raises :class:`ObjectStoreError` if the data does not match the ``etag``, or if a ``fresh``
        object exists already. The previous object is then unchanged.
        """
        received = await self._files.receive(chunks)
        account, container, name = object_id.split("/", 2)
        item = {
            "id": object_id,
            "container": f"{account}/{container}",
            "name": name,
            "data": received.name,
            "size": received.size,
            "bytes": received.size,
            "hash": received.md5,
            "timestamp": self._records.now(),
            "slo_etag": "",
            **attributes,
        }
        try:
            if etag and etag != received.md5:
                raise ObjectStoreError(422)
            # Check again: another request may have created the object during the upload.
            if fresh and self._records.object(object_id):
                raise ObjectStoreError(412)
            unused = self._records.put_object(item)
        except BaseException:
            # No document refers to the file, so nothing else would delete it after a cancellation.
            await self._files.remove([received.name])
            raise
        if unused is not None:
            await self._files.remove([unused])
        return item


def attributes(headers: Mapping[str, str], name: str, now: float) -> dict[str, Any]:
    """Return the attributes in the headers of an object; raises :class:`ObjectStoreError`."""
    for header in _NOT_HERE:
        if header in headers:
            raise ObjectStoreError(501, f"{header.title()}: this cloud has no symbolic links.")
    for header, value in headers.items():
        if len(value) > HEADER_BYTES:
            raise ObjectStoreError(400, f"Header value too long: {header[:80]}")
    container, _, prefix = headers.get(MANIFEST, "c/p").partition("/")
    if not (container and prefix) or prefix[0] == "/" or set("?&") & set(container + prefix):
        raise ObjectStoreError(400, "X-Object-Manifest must be in the format container/prefix")
    changes = metadata_changes(headers, "object")
    return {
        "metadata": {key: value for key, value in changes.items() if value},
        "headers": {key: headers[key] for key in KEPT_HEADERS if headers.get(key)},
        "content_type": _content_type(headers, name),
        "delete_at": _delete_at(headers, now),
    }


def _content_type(headers: Mapping[str, str], name: str) -> str:
    given = headers.get("content-type")
    if given and not boolean(headers.get("x-detect-content-type", "false")):
        return given
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def _delete_at(headers: Mapping[str, str], now: float) -> int | None:
    for header, base in (("X-Delete-After", int(now)), ("X-Delete-At", 0)):
        text = headers.get(header.lower())
        if text is None:
            continue
        try:
            moment = base + int(text)
        except ValueError:
            raise ObjectStoreError(400, f"Non-integer {header}") from None
        if moment <= now:
            raise ObjectStoreError(400, f"{header} in past")
        # Swift's timestamps have ten digits before the point.
        return min(moment, 9_999_999_999)
    return None


def must_be_new(call: Call) -> bool:
    """Return whether an object must be new, as the request has it; raises
    :class:`ObjectStoreError`.
    """
    condition = call.headers.get("if-none-match")
    if condition not in (None, "*"):
        raise ObjectStoreError(400, "If-None-Match only supports *")
    return condition is not None


def created(item: Document, etag: str, extra: Mapping[str, str] | None = None) -> Response:
    """Return the answer to the request that made an object."""
    headers = {"etag": etag, "last-modified": http_date(item["timestamp"]), **(extra or {})}
    return HTMLResponse("", 201, headers)

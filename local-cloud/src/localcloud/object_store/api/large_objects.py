"""Objects that are put together from others: by a list (static), or by a prefix (dynamic)."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from localcloud.core.store import Document
from localcloud.object_store.api.access import Access
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.downloads import Content, ranges_of
from localcloud.object_store.api.listings import Selection
from localcloud.object_store.api.uploads import Uploads, attributes
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import LISTING_LIMIT, MANIFEST, check_names
from localcloud.object_store.model.data import DataFiles, Part, Piece, cut, length
from localcloud.object_store.model.records import Records, http_date, iso_date, stamp
from localcloud.web.http import TooLargeError, read_body

SEGMENTS = 1000
MANIFEST_BYTES = 8 << 20
_DEPTH = 10
_PARTS = 10_000
_KEYS = {"path", "etag", "size_bytes", "range"}


class LargeObjects:
    """The segments of large objects."""

    def __init__(self, records: Records, access: Access, files: DataFiles) -> None:
        self._records = records
        self._access = access
        self._files = files
        self._uploads = Uploads(records, files)

    async def content(self, call: Call, item: Document) -> Content:
        """Return the content of an object for its reader; raises :class:`ObjectStoreError`.

        If the call requests the manifest, that is the manifest itself.
        """
        headers, pieces = _headers(item), [_whole(item)]
        etag, kind, moment = item["hash"], item["content_type"], item["timestamp"]
        is_manifest = call.query.get("multipart-manifest") == "get"
        if item["slo_etag"]:
            headers |= {"x-static-large-object": "True", "x-manifest-etag": item["hash"]}
            if not is_manifest:
                pieces, etag = await self._static(call, item, 1), item["slo_etag"]
            else:
                kind = "application/json; charset=utf-8"
                if call.method == "GET" and call.query.get("format") == "raw":
                    content = json.dumps([_as_given(s) for s in await self.segments(item)])
                    pieces, etag = [content.encode()], _md5(content)
        elif MANIFEST in item["headers"] and not is_manifest:
            found = self._dynamic(call, item)
            pieces, etag = [_whole(each) for each in found], _md5("".join(s["hash"] for s in found))
            moment = max((segment["timestamp"] for segment in found), default=moment)
        headers["etag"] = etag if etag == item["hash"] else f'"{etag}"'
        headers["last-modified"] = http_date(moment)
        return Content(pieces, sum(map(length, pieces)), etag, kind, moment, headers)

    async def segments(self, item: Document) -> list[dict[str, Any]]:
        """Return the manifest of a static large object."""
        found: list[dict[str, Any]] = await asyncio.to_thread(
            json.loads, await self._files.read(item["data"])
        )
        return found

    async def create(self, call: Call) -> Document:
        """Keep the manifest that a request brings; raises :class:`ObjectStoreError`."""
        check_names(call.container, call.object)
        self._records.container(call.container_id)
        fields = attributes(call.headers, call.object, self._records.now())
        try:
            body = await read_body(call.request, MANIFEST_BYTES)
        except TooLargeError:
            raise ObjectStoreError(
                413, f"Manifest is larger than {MANIFEST_BYTES} bytes.\n"
            ) from None
        given = await asyncio.to_thread(_parsed, body)
        manifest, problems = [], []
        for entry in given:
            try:
                manifest.append(self._segment(call, entry))
            except ObjectStoreError as error:
                problems.append(f"{entry['path']}, {error.message or 'Unsatisfiable Range'}\n")
        if problems:
            raise ObjectStoreError(400, "Errors:\n" + "".join(problems))
        etag = _md5("".join(_mark(segment) for segment in manifest))
        if call.headers.get("etag", etag).strip('"') != etag:
            raise ObjectStoreError(422)
        total = sum(_length(segment) for segment in manifest)
        fields |= {"slo_etag": etag, "bytes": total}
        content = await asyncio.to_thread(json.dumps, manifest)
        return await self._uploads.store(call.object_id, _once(content.encode()), fields)

    def _segment(self, call: Call, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the entry of a manifest as it is kept; raises :class:`ObjectStoreError`."""
        path = "/" + entry["path"].lstrip("/")
        container = "/".join([call.account, path.split("/", 2)[1]])
        if not self._access.allows(call, "read", container):
            raise ObjectStoreError(403, "403 Forbidden")
        found = self._records.object(call.account + path)
        if found is None:
            raise ObjectStoreError(404, "404 Not Found")
        etag = found["slo_etag"] or found["hash"]
        if entry.get("etag") not in (None, "", etag):
            raise ObjectStoreError(400, "Etag Mismatch")
        if entry.get("size_bytes") not in (None, found["bytes"]):
            raise ObjectStoreError(400, "Size Mismatch")
        segment = {
            "name": path,
            "bytes": found["bytes"],
            "hash": etag,
            "content_type": found["content_type"],
            "last_modified": iso_date(found["timestamp"]),
        }
        if found["slo_etag"]:
            segment["sub_slo"] = True
        if entry.get("range"):
            asked = ranges_of(f"bytes={entry['range']}", found["bytes"])
            if asked is None or len(asked) != 1:
                raise ObjectStoreError(400, "invalid range")
            segment["range"] = f"{asked[0][0]}-{asked[0][1] - 1}"
        if not found["bytes"]:
            raise ObjectStoreError(400, "Too Small; each segment must be at least 1 byte.")
        return segment

    async def _static(self, call: Call, item: Document, depth: int) -> list[Piece]:
        parts: list[Piece] = []
        account = item["container"].partition("/")[0]  # that of the call may be another
        for segment in await self.segments(item):
            container = "/".join([account, segment["name"].split("/", 2)[1]])
            found = self._records.object(account + segment["name"])
            if found is None or not self._access.allows(call, "read", container):
                raise ObjectStoreError(409)
            if segment["hash"] != (found["slo_etag"] or found["hash"]) or depth > _DEPTH:
                raise ObjectStoreError(409)
            inner = [_whole(found)]
            if found["slo_etag"]:
                inner = await self._static(call, found, depth + 1)
            if "range" in segment:
                low, high = map(int, segment["range"].split("-"))
                inner = cut(inner, low, high + 1)
            parts += inner
            if len(parts) > _PARTS:
                raise ObjectStoreError(409, f"The object has more than {_PARTS} parts.\n")
        return parts

    def _dynamic(self, call: Call, item: Document) -> list[Document]:
        """Return the objects with the prefix that the manifest names."""
        account = item["container"].partition("/")[0]
        given = unquote_to_bytes(item["headers"][MANIFEST].encode("latin-1"))
        container, _, prefix = given.decode(errors="replace").lstrip("/").partition("/")
        container_id = f"{account}/{container}"
        self._access.require(call, "read", container_id)
        names = self._records.tally(container_id).names
        low, high = Selection(prefix=prefix).span(names)
        if high - low > LISTING_LIMIT:
            raise ObjectStoreError(409, f"The object has more than {LISTING_LIMIT} segments.\n")
        return self._records.objects_of(container_id, names[low:high])


def _headers(item: Document) -> dict[str, str]:
    headers = {
        **item["headers"],
        **{f"x-object-meta-{name}": value for name, value in item["metadata"].items()},
        "x-timestamp": stamp(item["timestamp"]),
    }
    if item["delete_at"]:
        headers["x-delete-at"] = str(item["delete_at"])
    return headers


def _as_given(segment: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of a manifest as clients write it."""
    given = {
        "path": segment["name"],
        "size_bytes": segment["bytes"],
        "etag": segment["hash"],
        "range": segment.get("range"),
    }
    return {key: value for key, value in given.items() if value is not None}


def _whole(item: Document) -> Piece:
    return Part(item["data"], 0, item["size"])


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _mark(segment: dict[str, Any]) -> str:
    # Clients compute the ETag from the same text, which Swift's API defines.
    return f"{segment['hash']}:{segment['range']};" if "range" in segment else segment["hash"]


def _length(segment: dict[str, Any]) -> int:
    if "range" not in segment:
        return int(segment["bytes"])
    low, high = map(int, segment["range"].split("-"))
    return high + 1 - low


def _parsed(body: bytes) -> Sequence[dict[str, Any]]:
    """Return the entries of a manifest as clients write it; raises :class:`ObjectStoreError`."""
    try:
        entries = json.loads(body)
    except (ValueError, RecursionError):
        raise ObjectStoreError(400, "Manifest must be valid JSON.\n") from None
    if not isinstance(entries, list) or not entries:
        raise ObjectStoreError(400, "Manifest must be a list of segments.\n")
    if len(entries) > SEGMENTS:
        raise ObjectStoreError(413, f"Number of segments must be <= {SEGMENTS}")
    problems = "".join(f"Index {i}: {p}\n" for i, e in enumerate(entries) for p in _problems(e))
    if problems:
        raise ObjectStoreError(400, problems)
    return entries


def _has_half_pairs(text: str) -> bool:
    """Return whether JSON has brought half a surrogate pair, which is no text."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _problems(entry: Any) -> Iterable[str]:
    if not isinstance(entry, dict):
        yield "not a JSON object"
        return
    path = entry.get("path")
    if not isinstance(path, str) or not all(path.lstrip("/").partition("/")):
        yield "path does not refer to an object. Path must be of the form /container/object."
    elif "\0" in path or (not path.isascii() and _has_half_pairs(path)):
        yield "path must be valid UTF-8"
    if unknown := sorted(set(entry) - _KEYS):
        yield f"extraneous keys {', '.join(json.dumps(key) for key in unknown)}"
    size = entry.get("size_bytes")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        yield "invalid size_bytes"
    for key in ("etag", "range"):
        if not isinstance(entry.get(key, ""), str | None):
            yield f"invalid {key}"


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content

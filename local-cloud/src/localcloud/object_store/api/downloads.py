"""Answers with the data of an object: whole, in ranges, or not at all where conditions say so."""

import re
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from math import ceil
from secrets import token_hex

from msgspec import Struct
from starlette.responses import Response, StreamingResponse

from localcloud.object_store.api.call import Call
from localcloud.object_store.api.temporary_urls import shown
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.data import DataFiles, Piece, cut, length

_RANGES = 50
_ONE_RANGE = re.compile(r"\s*(\d*)\s*-\s*(\d*)\s*", re.ASCII)


class Content(Struct, frozen=True):
    """The content that a GET of an object returns."""

    pieces: Sequence[Piece]
    size: int
    etag: str  # without quotes
    content_type: str
    timestamp: float
    headers: Mapping[str, str]  # all others that belong to the object


def require_conditions(
    headers: Mapping[str, str], etag: str, timestamp: float, *, reading: bool = True
) -> None:
    """Raise :class:`ObjectStoreError` with 304 or 412 where a condition of the request is not
    met.
    """
    same = {"ETag": f'"{etag}"'}
    if "if-match" in headers and not _names(headers["if-match"], etag):
        raise ObjectStoreError(412)
    if _names(headers.get("if-none-match", ""), etag):
        raise ObjectStoreError(304 if reading else 412, headers=same)
    # Round up as Last-Modified does, from which clients get the dates of their conditions.
    moment = ceil(timestamp)
    if (limit := _moment(headers, "if-unmodified-since")) is not None and moment > limit:
        raise ObjectStoreError(412)
    limit = _moment(headers, "if-modified-since")
    if reading and limit is not None and moment <= limit and "if-none-match" not in headers:
        raise ObjectStoreError(304, headers=same)


def _names(tags: str, etag: str) -> bool:
    given = {tag.strip().removeprefix("W/").strip('"') for tag in tags.split(",")}
    return "*" in given or etag in given


def _moment(headers: Mapping[str, str], name: str) -> float | None:
    try:
        return parsedate_to_datetime(headers[name]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return None


def ranges_of(header: str, size: int) -> list[tuple[int, int]] | None:
    """Return the stretches that a Range header asks for; None where it says nothing that counts.

    Raises :class:`ObjectStoreError` where none of them lies within ``size`` bytes.
    """
    unit, equals, text = header.partition("=")
    found = [_ONE_RANGE.fullmatch(term) for term in text.split(",", _RANGES + 1)]
    # RFC 9110: a range that is malformed or has an unknown unit is ignored.
    if unit.strip().lower() != "bytes" or not equals:
        return None
    chosen = []
    for match in found:
        first, last = match.groups() if match else ("", "")
        if max(len(first), len(last)) > 18 or not (first or last):
            return None
        if not first:
            low, high = max(size - int(last), 0), size
        else:
            low, high = int(first), min(int(last) + 1, size) if last else size
            if last and int(last) < low:
                return None
        if low < high:
            chosen.append((low, high))
    if not chosen or len(found) > _RANGES:
        raise ObjectStoreError(416, headers={"Content-Range": f"bytes */{size}"})
    return chosen


def download(call: Call, content: Content, files: DataFiles) -> Response:
    """Return the answer to a GET or HEAD; raises :class:`ObjectStoreError`."""
    require_conditions(call.headers, content.etag, content.timestamp)
    headers = {**shown(call, content.headers), "accept-ranges": "bytes"}
    asked = call.headers.get("range")
    chosen = None
    if asked is not None and call.method == "GET" and _is_current(call.headers, content):
        chosen = ranges_of(asked, content.size)
    pieces: Sequence[Piece] = content.pieces
    status, size, kind = 200, content.size, content.content_type
    if chosen is not None:
        status = 206
        if len(chosen) == 1:
            low, high = chosen[0]
            headers["content-range"] = f"bytes {low}-{high - 1}/{size}"
            pieces, size = cut(content.pieces, low, high), high - low
        else:
            pieces, kind = _multipart(content, chosen)
            size = sum(map(length, pieces))
    headers |= {"content-length": str(size), "content-type": kind}
    if call.method == "HEAD":
        return Response(status_code=200, headers=headers)
    return StreamingResponse(files.stream(pieces), status, headers)


def _is_current(headers: Mapping[str, str], content: Content) -> bool:
    """Return whether the range belongs to the version that the caller has seen before."""
    seen = headers.get("if-range")
    if seen is None or _names(seen, content.etag):
        return True
    moment = _moment(headers, "if-range")
    return moment is not None and ceil(content.timestamp) <= moment


def _multipart(content: Content, chosen: Sequence[tuple[int, int]]) -> tuple[list[Piece], str]:
    boundary = token_hex(16)
    pieces: list[Piece] = []
    for low, high in chosen:
        head = (
            f"--{boundary}\r\nContent-Type: {content.content_type}\r\n"
            f"Content-Range: bytes {low}-{high - 1}/{content.size}\r\n\r\n"
        )
        pieces += [head.encode("latin-1"), *cut(content.pieces, low, high), b"\r\n"]
    pieces.append(f"--{boundary}--".encode())
    return pieces, f"multipart/byteranges;boundary={boundary}"

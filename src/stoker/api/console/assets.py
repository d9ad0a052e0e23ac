"""The built files of the page, and a page that explains how to build them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response

ASSETS = Path(__file__).with_name("assets")
_INDEX = "index.html"
_FOREVER = "public, max-age=31536000, immutable"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))  # the better one first
_MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Stoker: no console</title></head>
<body><h1>The console is not built</h1>
<p>The API of this service works. Its page is missing: this installation was made from sources
without it. To build it, run <code>python tools/console.py</code> in the sources. It needs Node
20.19 or newer, or a package registry for Python and for Node. Then load this page again; the
service need not be restarted.</p></body></html>
"""


class _File(Struct, frozen=True):
    content: bytes
    encoding: str | None  # None: as it was built


async def respond(path: str, request: Request, directory: Path = ASSETS) -> Response:
    """Return the response for a path below the console, with a slash at its start.

    A path without a file extension is a view of the page, and so is a path that a browser opens
    and no file has: the answer is the page.
    """
    name = path.lstrip("/")
    is_asset = name.startswith("assets/")
    is_view = "." not in name.rpartition("/")[2] and not is_asset
    accepted = _accepted(request.headers.get("accept-encoding", ""))
    found = None if is_view else await asyncio.to_thread(_read, directory, name, accepted)
    if found is None and (is_view or (not is_asset and _wants_page(request))):
        name = _INDEX
        found = await asyncio.to_thread(_read, directory, name, accepted)
    if found is None and name == _INDEX:
        return Response(_MISSING, 503, {"Cache-Control": "no-store"}, _TYPES[".html"])
    if found is None:
        return Response(
            "There is no such file.\n", 404, {"Cache-Control": "no-store"}, "text/plain"
        )
    headers = {
        "Cache-Control": _FOREVER if is_asset else "no-cache",
        "Vary": "Accept-Encoding",
    }
    if found.encoding is not None:
        headers["Content-Encoding"] = found.encoding
    kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
    return Response(found.content, 200, headers, kind)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def _read(directory: Path, name: str, accepted: frozenset[str]) -> _File | None:
    """Return a file, compressed if it was built so and the client accepts that."""
    if not all(_NAME.fullmatch(part) for part in name.split("/")):
        return None
    path = directory / name
    for encoding, suffix in _ENCODINGS:
        if encoding in accepted:
            content = _content(directory, path.with_name(path.name + suffix))
            if content is not None:
                return _File(content, encoding)
    content = _content(directory, path)
    return None if content is None else _File(content, None)


def _content(directory: Path, path: Path) -> bytes | None:
    """Return the content of a file, unless a link leads out of the directory."""
    try:
        if path.is_file() and path.resolve().is_relative_to(directory.resolve()):
            return path.read_bytes()
    except OSError:
        return None  # the files are being built again
    return None


def _accepted(header: str) -> frozenset[str]:
    """Return the encodings that a client accepts."""
    accepted = set()
    for part in header.lower().split(","):
        name, _, quality = part.partition(";")
        if quality.replace(" ", "").rstrip("0") not in ("q=", "q=0."):
            accepted.add(name.strip())
    return frozenset(accepted)

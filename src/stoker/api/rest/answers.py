"""Responses as JSON in ASCII, and as short HTML pages for clients that expect no JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Set
from html import escape
from http import HTTPStatus
from typing import Any

import yaml
from starlette.responses import Response

from stoker.api.ports import Compute
from stoker.kernel.freeing import drop
from stoker.kernel.json import long
from stoker.kernel.json.tree import replaced
from stoker.schema.unknown import Unknown


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response with a short JSON body, in ASCII."""
    content = _written(value).encode("ascii")
    return Response(content, status, headers, media_type="application/json")


async def document_response(compute: Compute, value: Any) -> Response:
    """Return a response that may be long; a long one is written on a thread, in pieces."""
    if long.is_short(value):
        return json_response(value)
    return await made_response(compute, lambda: value)


async def made_response(compute: Compute, make: Callable[[], Any]) -> Response:
    """Return a response whose value is computed and written on a thread."""

    def content() -> bytes:
        value = make()
        written = "".join(long.pieces(value, _written)).encode("ascii")
        drop(value)
        return written

    return Response(await compute(content), media_type="application/json")


async def text_response(compute: Compute, make: Callable[[], str], media_type: str) -> Response:
    """Return a response with a text that is computed on a thread."""

    def content() -> bytes:
        return make().encode(errors="replace")

    return Response(await compute(content), media_type=f"{media_type}; charset=utf-8")


def yaml_of(value: Any) -> str:
    """Return the YAML of a value, in the order of its members."""
    plain = json.loads(_written(value))
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=math.inf)
    return text


async def list_response(compute: Compute, name: str, rows: Iterable[Any], **more: Any) -> Response:
    """Return a response with a list, and other members after it.

    The rows are computed and written on a thread, in batches, so that a long list does not block
    other requests.
    """

    def content() -> bytes:
        written = "".join(long.list_pieces(iter(rows), _written))
        members = [f'"{name}": {written}', *(f'"{k}": {_written(v)}' for k, v in more.items())]
        return f"{{{', '.join(members)}}}".encode("ascii")

    return Response(await compute(content), media_type="application/json")


def page(status: int, text: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response with a short HTML page, for the few responses without JSON."""
    title = f"{status} {HTTPStatus(status).phrase}"
    html = (
        f"<html><head><title>{title}</title></head>"
        f"<body><h1>{title}</h1>{escape(text)}</body></html>\n"
    )
    return Response(html, status, {"Content-Type": "text/html; charset=UTF-8", **(headers or {})})


def accepted() -> Response:
    """Return the response (202) to a request that is carried out later."""
    return page(202, "The request is recorded and will be carried out.")


def no_content() -> Response:
    """Return the response (204) without content."""
    return Response(status_code=204)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Unknown):
        return None
    raise TypeError(f"{type(value).__name__} has no JSON form")


_strict = json.JSONEncoder(default=_plain, allow_nan=False).encode


def _written(value: Any) -> str:
    """Return the JSON of a value. JSON has only finite numbers; others are written as null."""
    try:
        return _strict(value)
    except ValueError:
        return _strict(replaced(value, _finite))


def _finite(leaf: Any) -> Any:
    return None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf

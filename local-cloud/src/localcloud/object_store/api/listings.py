"""Lists of containers and of objects: which part of them is asked for, and in which form."""

import asyncio
import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.responses import Response

from localcloud.object_store.api.call import Call
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import LISTING_LIMIT
from localcloud.web.http import boolean

_FORMATS = {"plain": "text/plain", "json": "application/json", "xml": "application/xml"}
Row = Mapping[str, str | int]
T = TypeVar("T")


class Selection(Struct, frozen=True):
    """The requested part of a sorted list of names."""

    limit: int = LISTING_LIMIT
    marker: str = ""
    end_marker: str = ""
    prefix: str = ""
    delimiter: str = ""
    reverse: bool = False
    path: bool = False  # only what lies directly in the path that the prefix names

    @staticmethod
    def parse(query: QueryParams) -> "Selection":
        """Read the parameters; raises :class:`ObjectStoreError`."""
        limit = query.get("limit") or str(LISTING_LIMIT)
        if not (limit.isascii() and limit.isdigit() and len(limit) < 10):
            raise ObjectStoreError(412, f"limit must be a number of 0 to {LISTING_LIMIT}")
        if int(limit) > LISTING_LIMIT:
            raise ObjectStoreError(412, f"Maximum limit is {LISTING_LIMIT}")
        path, prefix, delimiter = (
            query.get("path"),
            query.get("prefix", ""),
            query.get("delimiter", ""),
        )
        if path is not None:
            prefix, delimiter = (path.rstrip("/") + "/" if path else ""), "/"
        return Selection(
            int(limit),
            query.get("marker", ""),
            query.get("end_marker", ""),
            prefix,
            delimiter,
            boolean(query.get("reverse") or "false"),
            path is not None,
        )

    def choose(self, names: Sequence[str]) -> list[tuple[str, bool]]:
        """Return the names of one page; True marks a prefix in the place of all names with this
        prefix.
        """
        low, high = self.span(names)
        chosen: list[tuple[str, bool]] = []
        while low < high and len(chosen) < self.limit:
            name = names[high - 1] if self.reverse else names[low]
            end = name.find(self.delimiter, len(self.prefix)) if self.delimiter else -1
            group = name[: end + len(self.delimiter)] if end >= 0 else ""
            if self.path and (name == self.prefix or group == name):
                group, is_listed = "", name != self.prefix
            else:
                is_listed = not (group and (self.path or group == self.marker))
            if is_listed:
                chosen.append((group or name, bool(group)))
            if self.reverse:
                high = bisect_left(names, group, low, high) if group else high - 1
            else:
                low = _after_prefix(names, group, low, high) if group else low + 1
        return chosen

    def span(self, names: Sequence[str]) -> tuple[int, int]:
        """Return the start and end of the names that match the prefix and the markers."""
        low, high = bisect_left(names, self.prefix), len(names)
        if self.prefix:
            high = _after_prefix(names, self.prefix, low, high)
        first, last = self.marker, self.end_marker
        if self.reverse:
            first, last = last, first
        if first:
            low = max(low, bisect_right(names, first))
        if last:
            high = min(high, bisect_left(names, last))
        return low, high


def _after_prefix(names: Sequence[str], prefix: str, low: int, high: int) -> int:
    """Return the end of the names with the prefix. They start at ``low``."""
    return bisect_right(names, prefix, low, high, key=lambda name: name[: len(prefix)])


def form_of(call: Call) -> str:
    """Return the media type that a list is asked for in; raises :class:`ObjectStoreError`."""
    asked = call.query.get("format")
    if asked is not None:
        return _FORMATS.get(asked.lower(), "text/plain")
    accepted = call.headers.get("accept") or "*/*"
    for term in sorted(accepted.split(","), key=_quality, reverse=True):
        kind = term.partition(";")[0].strip().lower()
        if kind in ("*/*", "text/*"):
            return "text/plain"
        if kind in (*_FORMATS.values(), "text/xml"):
            return kind
        if kind == "application/*":
            return "application/json"
    raise ObjectStoreError(406)


def _quality(term: str) -> float:
    for parameter in term.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


async def listing(
    call: Call,
    names: Sequence[str],
    find: Callable[[str], T | None],
    row: Callable[[T], Row],
    headers: Mapping[str, str],
) -> Response:
    """Return a page of a list, with the row for each name."""
    form, selection = form_of(call), Selection.parse(call.query)
    headers = {**headers, "content-type": f"{form}; charset=utf-8"}
    if call.method == "HEAD":
        return Response(status_code=204, headers=headers)
    chosen = await asyncio.to_thread(selection.choose, list(names))
    found = [(name, None if group else find(name), group) for name, group in chosen]

    def render() -> bytes:
        rows: list[Row] = []
        for name, each, group in found:
            if group:
                rows.append({"subdir": name})
            elif each is not None:
                rows.append(row(each))
        return _rendered(rows, form, call)

    body = await asyncio.to_thread(render)
    if not body:
        return Response(status_code=204, headers=headers)
    return Response(body, 200, headers)


def _rendered(rows: Sequence[Row], form: str, call: Call) -> bytes:
    if form == "text/plain":
        return "".join(f"{row.get('name', row.get('subdir'))}\n" for row in rows).encode()
    if form == "application/json":
        # One by one: the encoder would keep all other threads waiting for the whole of it.
        return f"[{', '.join(map(json.dumps, rows))}]".encode()
    around, each = ("container", "object") if call.container else ("account", "container")
    name = quoteattr(call.container or call.account)
    lines = "".join(_element(row, each) for row in rows)
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<{around} name={name}>'
    return f"{start}{lines}</{around}>".encode()


def _element(row: Row, tag: str) -> str:
    if "subdir" in row:
        name = str(row["subdir"])
        return f"<subdir name={quoteattr(name)}><name>{escape(name)}</name></subdir>"
    inner: Iterable[str] = (f"<{key}>{escape(str(value))}</{key}>" for key, value in row.items())
    return f"<{tag}>{''.join(inner)}</{tag}>"

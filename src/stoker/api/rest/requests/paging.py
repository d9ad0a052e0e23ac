"""Pages of lists: limit, marker, order, and the link to the next page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from stoker.api.rest.links import link
from stoker.api.rest.requests.parameters import Choice, Number, Parameter, Text, Texts
from stoker.engine.model.requests import Page

LIMIT = Number("limit", "The most items in the answer; all of them where it is not given.")
MARKER = Text("marker", "The id of the item after which the answer begins.")
SORT_KEYS = Texts("sort_keys", "What to sort by; keys that do not exist are ignored.")
SORT_DIR = Choice(
    "sort_dir", "The direction; ascending where sort_keys are given without it.", ("desc", "asc")
)
PAGE: tuple[Parameter, ...] = (LIMIT, MARKER, SORT_KEYS, SORT_DIR)


def page_of(query: QueryParams, sort_keys: Sequence[str], aliases: Mapping[str, str]) -> Page:
    """Return the requested page: newest entries first, or in ascending order of its sort keys.

    Unknown sort keys are ignored.
    """
    requested = (aliases.get(key, key) for key in SORT_KEYS.read(query))
    keys = tuple(key for key in requested if key in sort_keys)
    ascending = keys and SORT_DIR.name not in query
    return Page(
        limit=LIMIT.read(query),
        marker=MARKER.read(query) or None,
        sort_keys=keys,
        descending=not ascending and SORT_DIR.read(query) == "desc",
    )


def next_page(
    query: QueryParams, page: Page, count: int, last: str | None, address: str
) -> dict[str, Any]:
    """Return the member ``links`` with the URL of the next page; empty unless this page is full."""
    if last is None or page.limit is None or count != page.limit:
        return {}
    parameters = [(key, value) for key, value in query.multi_items() if key != "marker"]
    parameters.append(("marker", last))
    return {"links": [link(f"{address}?{urlencode(parameters)}", "next")]}

"""Lists: filters, order and pages."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from localcloud.core.store import Document
from localcloud.dns.errors import bad_request
from localcloud.dns.model.state import PREFIX

_LIMIT = 20
_MOST = 1000


def listed(
    request: Request,
    documents: Iterable[Document],
    shown: Callable[[Document], Document],
    name: str,
    url: str,
    filters: Sequence[str],
) -> Document:
    """Return the page of a list that the query asks for; ``url`` is that of the cloud."""
    query = dict(request.query_params)
    requested = {field: query[field] for field in filters if field in query}
    found = [d for d in documents if all(_like(d.get(f), v) for f, v in requested.items())]
    total, limit = len(found), _limit(query.get("limit"))
    key, descends = query.get("sort_key"), query.get("sort_dir", "asc")
    if descends not in ("asc", "desc"):
        message = f"Unknown sort direction, must be 'desc' or 'asc', not {descends}"
        raise bad_request(message, "invalid_sort_dir")
    if key is not None and key not in ("id", "created_at", "updated_at", "status", *filters):
        raise bad_request(f"sort key '{key}' must be one of {list(filters)}", "invalid_sort_key")
    if key is not None:
        found.sort(key=lambda each: str(each.get(key) or ""), reverse=descends == "desc")
    marker = query.get("marker")
    if marker is not None:
        ids = [each["id"] for each in found]
        if marker not in ids:
            raise bad_request(f"Marker {marker} could not be found", "marker_not_found")
        found = found[ids.index(marker) + 1 :]
    page = [shown(each) for each in found[:limit]]
    here = f"{url}{PREFIX}{request.url.path}"
    links: dict[str, Any] = {"self": f"{here}?{urlencode(query)}".rstrip("?")}
    if len(found) > limit:
        links["next"] = f"{here}?{urlencode({**query, 'marker': page[-1]['id']})}"
    return {name: page, "links": links, "metadata": {"total_count": total}}


def _limit(text: str | None) -> int:
    if text is None:
        return _LIMIT
    if text.lower() == "max":
        return _MOST
    if not text.isdecimal() or not 0 < int(text[:9]) <= _MOST:
        raise bad_request(f"'limit' must be between 1 and {_MOST} or 'max'", "invalid_limit")
    return int(text)


def _like(value: Any, requested: str) -> bool:
    """Return whether a value matches a pattern with ``*`` at either end."""
    text = "" if value is None else str(value)
    if isinstance(value, list):
        return any(_like(each, requested) for each in value)
    if requested.startswith("*") and requested.endswith("*"):
        return requested.strip("*") in text
    if requested.startswith("*"):
        return text.endswith(requested[1:])
    if requested.endswith("*"):
        return text.startswith(requested[:-1])
    return text == requested

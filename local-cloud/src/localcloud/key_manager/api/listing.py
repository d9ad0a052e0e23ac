"""Pages of lists, and the links between them."""

import sys
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from localcloud.core.store import Document

_LIMIT = 10
_MOST = 100


def paged(
    request: Request,
    documents: Sequence[Document],
    shown: Callable[[Document], Document],
    name: str,
    where: str,
) -> Document:
    """Return the page of a list that the query asks for; ``where`` is its address."""
    offset = _number(request, "offset", 0, 0, sys.maxsize)
    limit = _number(request, "limit", _LIMIT, 1, _MOST)
    items = [shown(document) for document in documents[offset : offset + limit]]
    answer: dict[str, Any] = {name: items, "total": len(documents)}
    parameters = {k: v for k, v in request.query_params.items() if k not in ("limit", "offset")}

    def at(start: int) -> str:
        return f"{where}?{urlencode({'limit': limit, 'offset': start, **parameters})}"

    if items and offset > 0:
        answer["previous"] = at(max(0, offset - limit))
    if items and len(documents) > offset + limit:
        answer["next"] = at(offset + limit)
    return answer


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    """Return a number of the query; one that makes no sense is taken for the nearest that does."""
    try:
        asked = int(request.query_params.get(name) or default)
    except ValueError:
        return default
    return min(max(asked, least), most)

"""Lists of images: filters, order, pages."""

import operator
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.presentation import shown
from localcloud.web.http import BadRequestError, PageQuery, RequestContext, boolean, page

_DEFAULT_LIMIT = 25
_CONTROL = frozenset({"limit", "marker", "sort_key", "sort_dir", "sort", "member_status"})
_SORT_KEYS = (
    "name", "status", "container_format", "disk_format", "size", "id", "created_at", "updated_at",
    "min_disk", "min_ram", "visibility", "owner",
)  # fmt: skip
_LISTABLE = frozenset({"id", "name", "status", "container_format", "disk_format"})
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
    "eq": operator.eq,
    "neq": operator.ne,
}
_MEMBER_STATES = ("pending", "accepted", "rejected", "all")


def image_list(images: Images, who: RequestContext, query: QueryParams) -> dict[str, Any]:
    """Return the body of a list; raises :class:`BadRequestError` for bad filters."""
    paging = PageQuery.parse(query, directions="desc")
    for key, _ in paging.sort:
        if key not in _SORT_KEYS:
            raise BadRequestError(f"Images cannot be sorted by '{key}'.")
    order = (*paging.sort, ("created_at", "desc"), ("id", "desc"))
    chosen = page(
        _chosen(images, who, query),
        PageQuery(paging.limit, paging.marker, order),
        default_limit=_DEFAULT_LIMIT,
    )
    parameters = [(name, value) for name, value in query.multi_items() if name != "marker"]
    body: dict[str, Any] = {
        "images": [shown(image) for image in chosen.items],
        "first": _link(parameters),
        "schema": "/v2/schemas/images",
    }
    if chosen.more:
        body["next"] = _link([*parameters, ("marker", chosen.items[-1]["id"])])
    return body


def _link(query: list[tuple[str, str]]) -> str:
    return f"/v2/images?{urlencode(query)}" if query else "/v2/images"


def _chosen(images: Images, who: RequestContext, query: QueryParams) -> Iterable[Document]:
    member_status = query.get("member_status", "accepted")
    if member_status not in _MEMBER_STATES:
        raise BadRequestError(f"'member_status' must be one of {', '.join(_MEMBER_STATES)}.")
    for image in images.records.values():
        if _is_listed(images, who, image, query, member_status) and all(
            _passes(image, name, query.getlist(name)) for name in query if name not in _CONTROL
        ):
            if "os_hidden" not in query and image["os_hidden"]:
                continue
            yield image


def _is_listed(
    images: Images, who: RequestContext, image: Document, query: QueryParams, member_status: str
) -> bool:
    if not images.sees(who, image):
        return False
    if who.is_admin or image["owner"] == who.project_id:
        return True
    if image["visibility"] == "community":
        return query.get("visibility") in {"community", "all"} or "id" in query
    member = images.membership(image, who)
    return member is None or member_status in {"all", member["status"]}


def _passes(image: Document, name: str, values: list[str]) -> bool:
    value = values[-1]
    if name == "tag":
        return set(values) <= set(image["tags"])
    if name == "visibility":
        return value in {"all", image["visibility"]}
    if name in {"size_min", "size_max"}:
        return _within(image["size"] or 0, name, value)
    if name in {"created_at", "updated_at"}:
        return _compares(image[name], value)
    if name in {"protected", "os_hidden"}:
        return bool(image[name]) == boolean(value)
    if name in _LISTABLE and value.startswith("in:"):
        return str(image[name]) in [text.strip('"') for text in value[3:].split(",")]
    actual = image[name] if name in image else image["properties"].get(name)
    return actual is not None and str(actual) == value


def _within(size: int, name: str, value: str) -> bool:
    if not value.isdecimal():
        raise BadRequestError(f"'{name}' must be a number.")
    return size >= int(value) if name == "size_min" else size <= int(value)


def _compares(actual: str, value: str) -> bool:
    order, separator, moment = value.partition(":")
    if not separator or order not in _ORDERS:
        order, moment = "eq", value
    return _ORDERS[order](actual, moment)

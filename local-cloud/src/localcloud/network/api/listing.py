"""Lists: which objects a query asks for, in which order, and one page of them."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from localcloud.core.store import Document
from localcloud.core.tags import FILTERS
from localcloud.network.errors import malformed
from localcloud.network.model.attributes import Resource
from localcloud.web.http import BadRequestError, PageQuery, boolean, fields, page

_CONTROL = frozenset(
    {"fields", "limit", "marker", "sort_key", "sort_dir", "page_reverse", "tenant_id"}
)
_EXTRA = {"port": frozenset({"ip_address", "subnet_id"}), "network": frozenset({"subnets"})}
NO_LIMIT = 1 << 31


def _check_names(resource: Resource, query: QueryParams) -> None:
    known = _CONTROL | set(FILTERS) | _EXTRA.get(resource.kind, frozenset())
    unknown = [name for name in query if name not in known and name not in resource.attributes]
    if unknown:
        raise malformed(f"{sorted(unknown)} cannot be used as filters of {resource.collection}.")
    for key in query.getlist("sort_key"):
        if key not in resource.attributes:
            raise malformed(f"'{key}' is not an attribute to sort by.")


def _is_equal(value: Any, requested: str) -> bool:
    if isinstance(value, bool):
        try:
            return value == boolean(requested)
        except BadRequestError:
            return False
    if isinstance(value, list):
        return requested in [str(item) for item in value]
    return ("" if value is None else str(value)) == requested


def _has_address(document: Document, requested: str) -> bool:
    """Return whether a port has an address like ``ip_address=10.0.0.4`` or ``subnet_id=...``."""
    key, _, value = requested.partition("=")
    if key == "ip_address_substr":
        return any(value in fixed["ip_address"] for fixed in document["fixed_ips"])
    return any(fixed.get(key) == value for fixed in document["fixed_ips"])


def _passes(document: Document, name: str, requested: list[str]) -> bool:
    if name in FILTERS:
        asked = {tag for text in requested for tag in text.split(",") if tag}
        return FILTERS[name](set(document.get("tags", ())), asked)
    if name == "fixed_ips":
        subnets = [text for text in requested if text.startswith("subnet_id=")]
        others = [text for text in requested if not text.startswith("subnet_id=")]
        return all(
            any(_has_address(document, text) for text in group)
            for group in (subnets, others)
            if group
        )
    if name in ("ip_address", "subnet_id") and "fixed_ips" in document:
        return any(_has_address(document, f"{name}={text}") for text in requested)
    return any(_is_equal(document.get(name), text) for text in requested)


def filters(query: QueryParams) -> dict[str, list[str]]:
    """Return the values by attribute that a query asks for."""
    found = {}
    for name in dict.fromkeys(query):
        if name == "tenant_id":
            found["project_id"] = query.getlist(name)
        elif name not in _CONTROL:
            found[name] = query.getlist(name)
    return found


def select(
    resource: Resource, documents: Iterator[Document], query: QueryParams
) -> Iterator[Document]:
    """Yield the documents that pass all filters; raises ApiError for unknown ones."""
    _check_names(resource, query)
    requested = filters(query)
    for document in documents:
        if all(_passes(document, name, values) for name, values in requested.items()):
            yield document


def answer(
    resource: Resource, documents: Iterator[Document], query: QueryParams, url: str
) -> dict[str, Any]:
    """Return the body of a list: one page of the documents, their fields, and links."""
    page_query = PageQuery.parse(query)
    found = page(documents, page_query, max_limit=NO_LIMIT)
    names = query.getlist("fields")
    if "tenant_id" in names:
        names = [*names, "project_id"]
    body: dict[str, Any] = {resource.collection: [fields(item, names) for item in found.items]}
    if page_query.limit and found.items:
        links = _links(query, url, page_query, [item["id"] for item in found.items], found.more)
        if links:
            body[f"{resource.collection}_links"] = links
    return body


def _links(
    query: QueryParams, url: str, page_query: PageQuery, ids: list[str], more: bool
) -> list[dict[str, str]]:
    rest = [(k, v) for k, v in query.multi_items() if k not in ("marker", "page_reverse")]
    after = urlencode([*rest, ("marker", ids[-1])])
    before = urlencode([*rest, ("marker", ids[0]), ("page_reverse", "True")])
    links = []
    if more or page_query.reverse:
        links.append({"rel": "next", "href": f"{url}?{after}"})
    if page_query.marker is not None and (more or not page_query.reverse):
        links.append({"rel": "previous", "href": f"{url}?{before}"})
    return links

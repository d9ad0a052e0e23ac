"""REST collections of OpenStack services, with the field names of the services.

Templates use the fields of objects, so resource types get them exactly as the service returns them.
Keystoneauth does the transport: catalog, token, discovery and microversions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from msgspec import Struct

from stoker.clouds.faults import UnreadableAnswerError, fault_from, gone_is_fine
from stoker.kernel.values import replace

Object = dict[str, Any]
_DONE = 200
_ERRORS = 400
_MOST_PAGES = 200


def send(
    service: Any,
    method: str,
    path: str,
    *,
    json: Any = None,
    text: str | None = None,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    microversion: str | None = None,
) -> Object:
    """Send a request; return the response body, or an empty one.

    Raise :class:`CloudError` for a refusal. Its subclass :class:`UnreadableAnswerError` means that
    the request succeeded, but that the body is not JSON.
    """
    arguments: dict[str, Any] = {}
    if json is not None:
        arguments["json"] = json
    if text is not None:
        arguments["data"] = text.encode()
        headers = {"Content-Type": "text/plain", **(headers or {})}
    if params:
        arguments["params"] = dict(params)
    if headers:
        arguments["headers"] = dict(headers)
    if microversion is not None:
        arguments["microversion"] = microversion
    response = service.request(path, method, **arguments)
    if response.status_code >= _ERRORS:
        raise fault_from(response)
    if not response.content:
        return {}
    try:
        body = response.json()
    except ValueError:
        raise UnreadableAnswerError(response.status_code, "a body that is not JSON") from None
    return body if isinstance(body, dict) else {"items": body}


class Collection(Struct, frozen=True):
    """A collection: path, names in bodies, and peculiarities of the service."""

    service: str  # Official type of the service, such as ``block-storage``.
    path: str
    key: str  # Key of the object in bodies; empty if there is none.
    plural: str  # Key of the list in bodies.
    id_field: str = "id"
    name_field: str = "name"
    update_method: str = "PUT"
    patches: str = ""  # Operation of a JSON patch that sets a field, if updates are JSON patches.
    microversion: str | None = None
    item_key: str = ""  # Key of the object in each list entry, if the service uses one.
    words: str = ""  # Name of an object in messages.
    beside: tuple[str, ...] = ()  # Fields next to the object in the body of a create.
    headers: tuple[tuple[str, str], ...] = ()  # Headers of every request.
    # Path of a list, newest first, whose entries have all fields; empty if there is none.
    detailed: str = ""
    # Getting a missing object creates it, so existing objects are only found in the list.
    makes_missing: bool = False
    # Names are unique only within a domain, and may be given as ``name{domain}``.
    in_domains: bool = False
    lower_names: bool = False  # The service stores names in lower case.
    filters: bool = True  # The service can filter its list by fields.

    def at(self, object_id: str, suffix: str = "") -> str:
        """Return the path of an object. The id may itself be a URL."""
        if self.id_field.endswith("_ref"):
            object_id = object_id.rstrip("/").rpartition("/")[2]
        return f"{self.path}/{quote(object_id, safe='')}{suffix}"

    def within(self, parent_id: str) -> Collection:
        """Return the collection inside a parent object; ``path`` contains ``{}`` for its id."""
        return replace(self, path=self.path.format(quote(parent_id, safe="")))

    def ask(self, cloud: Any, method: str, path: str, **more: Any) -> Object:
        """Send a request to the service of this collection; see :func:`send` for ``more``."""
        more["microversion"] = more.get("microversion") or self.microversion
        if self.headers:
            more["headers"] = dict(self.headers)
        return send(cloud.service(self.service), method, path, **more)

    def unwrapped(self, body: Mapping[str, Any]) -> Object:
        """Return the object inside a body."""
        inner = body.get(self.key) if self.key else None
        return dict(inner) if isinstance(inner, Mapping) else dict(body)

    def object_in(self, body: Mapping[str, Any]) -> Object:
        """Return the object in a response.

        Raise :class:`UnreadableAnswerError` if there is none.
        """
        found = self.unwrapped(body)
        if found.get(self.id_field) is None:
            kind = self.key or self.plural
            raise UnreadableAnswerError(
                _DONE, f"a body that has no {kind} with a field {self.id_field}"
            )
        return found

    def wrapped(self, body: Mapping[str, Any]) -> Object:
        """Return a body around an object."""
        if not self.key:
            return dict(body)
        own = {name: value for name, value in body.items() if name not in self.beside}
        return {self.key: own, **{name: body[name] for name in self.beside if name in body}}

    def create(self, cloud: Any, body: Mapping[str, Any], **more: Any) -> Object:
        """Create an object; return it as the service describes it."""
        return self.object_in(self.ask(cloud, "POST", self.path, json=self.wrapped(body), **more))

    def get(self, cloud: Any, object_id: str, **more: Any) -> Object:
        """Return an object. Raise :class:`CloudError` with status 404 if there is none."""
        return self.object_in(self.ask(cloud, "GET", self.at(object_id), **more))

    def find(self, cloud: Any, object_id: str, **more: Any) -> Object | None:
        """Return an object, or None if there is none."""
        with gone_is_fine():
            return self.get(cloud, object_id, **more)
        return None

    def select(self, cloud: Any, path: str = "", **query: Any) -> list[Object]:
        """Return all matching objects, page by page."""
        found: list[Object] = []
        params = query
        for _ in range(_MOST_PAGES):
            answer = self.ask(cloud, "GET", path or self.path, params=params)
            items = answer.get(self.plural) or []
            following = _next_page(answer, self.plural)
            if following and following == params:
                break  # The page links to itself: it is the last one of Zaqar on Redis.
            found += [item[self.item_key] if self.item_key else item for item in items]
            if not following or not items:
                break
            params = following
        return found

    def named(self, cloud: Any, name: str) -> list[Object]:
        """Return the objects with exactly this name."""
        found = self.select(cloud, **{self.name_field: name})
        return [item for item in found if item.get(self.name_field) == name]

    def update(self, cloud: Any, object_id: str, body: Mapping[str, Any]) -> Object:
        """Change fields of an object; return the object after the change."""
        payload = _patch(body, self.patches) if self.patches else self.wrapped(body)
        answer = self.ask(cloud, self.update_method, self.at(object_id), json=payload)
        return self.unwrapped(answer)

    def delete(self, cloud: Any, object_id: str, **more: Any) -> bool:
        """Delete an object; return False if there was none."""
        with gone_is_fine():
            self.ask(cloud, "DELETE", self.at(object_id), **more)
            return True
        return False


def _patch(body: Mapping[str, Any], operation: str) -> list[Object]:
    """Return a JSON patch that sets the fields, and removes those without a value."""
    return [
        {"op": "remove", "path": f"/{name}"}
        if value is None
        else {"op": operation, "path": f"/{name}", "value": value}
        for name, value in body.items()
    ]


def _next_page(answer: Mapping[str, Any], plural: str) -> dict[str, str]:
    """Return the query for the next page. Services link to it in three different ways."""
    shared = answer.get("links") or ()
    links = [*(answer.get(f"{plural}_links") or ()), *(shared if isinstance(shared, list) else ())]
    address = next((link["href"] for link in links if link.get("rel") == "next"), None)
    if address is None:
        address = answer.get("next") or (shared.get("next") if isinstance(shared, dict) else None)
    return dict(parse_qsl(urlsplit(address).query)) if isinstance(address, str) else {}

"""URLs of this API, with the host that the client uses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict
from urllib.parse import quote

from msgspec import Struct
from starlette.datastructures import URL

from stoker.kernel.addresses import StackAddress


class Link(TypedDict):
    """A URL with its relation to the response."""

    href: str
    rel: str


class Links(Struct, frozen=True):
    """Builds URLs below ``root`` (scheme, host and prefix, without the version)."""

    root: str

    @property
    def version(self) -> str:
        """Return the URL of version 1."""
        return f"{self.root}/v1/"

    def stack(self, stack: StackAddress, below: str = "") -> str:
        """Return the URL of a stack, or of ``below`` it, which is quoted already."""
        return _stack_address(self.root, stack) + below

    def resource(self, stack: StackAddress, name: str) -> str:
        """Return the URL of a resource."""
        return self.stack(stack, f"/resources/{quote(name, '~')}")

    def event(self, stack: StackAddress, resource: str, event_id: str) -> str:
        """Return the URL of an event."""
        return f"{self.resource(stack, resource)}/events/{event_id}"


@lru_cache(maxsize=64)
def _stack_address(root: str, stack: StackAddress) -> str:
    """Return the URL of a stack, from a cache: long lists repeat the same stack."""
    name, stack_id = quote(stack.name, "~"), quote(stack.id, "~")
    return f"{root}/v1/{stack.project_id}/stacks/{name}/{stack_id}"


def link(href: str, rel: str) -> Link:
    """Return a link for a response."""
    return {"href": href, "rel": rel}


def links_of(url: URL, headers: Mapping[str, str], *, behind_proxy: bool) -> Links:
    """Return the links for a request.

    Behind a proxy, ``X-Forwarded-Proto``, ``-Host`` and ``-Prefix`` have the URL that the client
    uses; otherwise they are ignored, since any client can send them.
    """
    scheme, host, prefix = url.scheme, url.netloc, ""
    if behind_proxy:
        scheme = _first(headers, "x-forwarded-proto") or scheme
        host = _first(headers, "x-forwarded-host") or host
        prefix = (_first(headers, "x-forwarded-prefix") or "").rstrip("/")
    return Links(f"{scheme}://{host}{prefix}")


def _first(headers: Mapping[str, str], name: str) -> str | None:
    value = headers.get(name)
    return value.split(",")[0].strip() or None if value else None

"""Addresses in this API, with the host as the client sees it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypedDict
from urllib.parse import quote

from msgspec import Struct
from starlette.datastructures import URL

from stoker.kernel.addresses import StackAddress


class Link(TypedDict):
    """An address with its relation to the answer."""

    href: str
    rel: str


class Links(Struct, frozen=True):
    """Builds addresses below ``root`` (scheme, host and prefix, without the version)."""

    root: str

    @property
    def version(self) -> str:
        """The address of version 1."""
        return f"{self.root}/v1/"

    def stack(self, stack: StackAddress, below: str = "") -> str:
        """The address of a stack, or of something below it (quoted already)."""
        return _stack_address(self.root, stack) + below

    def resource(self, stack: StackAddress, name: str) -> str:
        """The address of a resource."""
        return self.stack(stack, f"/resources/{quote(name, '~')}")

    def event(self, stack: StackAddress, resource: str, event_id: str) -> str:
        """The address of an event."""
        return f"{self.resource(stack, resource)}/events/{event_id}"


@lru_cache(maxsize=64)
def _stack_address(root: str, stack: StackAddress) -> str:
    """Kept for a while, since long lists name one stack over and over."""
    name, stack_id = quote(stack.name, "~"), quote(stack.id, "~")
    return f"{root}/v1/{stack.project_id}/stacks/{name}/{stack_id}"


def link(href: str, rel: str) -> Link:
    """A link of an answer."""
    return {"href": href, "rel": rel}


def links_of(url: URL, headers: Mapping[str, str], *, behind_proxy: bool) -> Links:
    """The links for a request.

    Behind a proxy, ``X-Forwarded-Proto``, ``-Host`` and ``-Prefix`` have the address as the client
    sees it; otherwise they are ignored, since any client can send them.
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

"""Recognizes temporary URLs of the cloud's own object store.

Templates may be fetched from these even if the object store has a private address. The owner of
such a URL may read the object anyway, and the request contains no token of this service. A URL
counts if it names an object of that store and has a signature; other URLs of the same host are
refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from stoker.clouds.credentials import Credentials
from stoker.clouds.sessions import Sessions
from stoker.clouds.workers import Workers
from stoker.kernel.clock import Clock
from stoker.kernel.logs.log import Log

_SERVICE = "object-store"
_VERSION = "v1"
_OBJECT_PARTS = 3  # account, container, and at least one part of the object's name
_KNOWN_FOR_SECONDS = 60.0
# Hosts that all URL parsers read in the same way, without a user name.
_PLAIN_HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]+")
_PORTS = {"http": 80, "https": 443}

log = Log(__name__)


class TemporaryUrls:
    """Checks for temporary URLs of the cloud's own object store."""

    def __init__(
        self, sessions: Sessions, workers: Workers, credentials: Credentials, clock: Clock
    ) -> None:
        self._sessions = sessions
        self._workers = workers
        self._credentials = credentials
        self._clock = clock
        self._known: tuple[float, tuple[str, ...]] = (0.0, ())

    async def __call__(self, url: str) -> bool:
        """Return whether a URL is a temporary URL of an object in the object store."""
        return is_temporary(url, await self._stores())

    async def _stores(self) -> tuple[str, ...]:
        """Return the addresses of the object store; none if the catalog cannot be read."""
        until, stores = self._known
        if until > self._clock.now():
            return stores
        try:
            stores = await self._workers.run("identity", self._endpoints)
        except Exception as error:  # noqa: BLE001 - whatever is wrong, the URL is refused
            log.warning("the address of the object store is not known", error=str(error)[:500])
            stores = ()
        self._known = (self._clock.now() + _KNOWN_FOR_SECONDS, stores)
        return stores

    def _endpoints(self) -> tuple[str, ...]:
        store = self._sessions.connection(self._credentials).service(_SERVICE)
        found = (store.get_endpoint(interface="public"), store.get_endpoint())
        return tuple(dict.fromkeys(found))


def is_temporary(url: str, stores: Iterable[str]) -> bool:
    """Return whether ``url`` is a signed URL of an object in one of the ``stores``."""
    parts = urlsplit(url)
    if "temp_url_sig" not in parse_qs(parts.query) or not _PLAIN_HOST.fullmatch(parts.netloc):
        return False
    path = _segments(parts.path)
    if {"", ".", ".."} & set(path[:-1]) or path[-1] in (".", ".."):
        return False
    for store in map(urlsplit, stores):
        above = _segments(store.path)
        if _VERSION not in above:
            continue
        above = above[: above.index(_VERSION) + 1]
        is_there = _host(parts) == _host(store) and path[: len(above)] == above
        if is_there and len(path) >= len(above) + _OBJECT_PARTS:
            return True
    return False


def _host(parts: SplitResult) -> tuple[str, str, int]:
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme, 0)


def _segments(path: str) -> list[str]:
    return unquote(path).removeprefix("/").split("/")

"""Access to a cloud, one object for each set of credentials, kept while it is in use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from stoker.clouds.credentials import Credentials, Endpoints
from stoker.kernel.clock import Clock
from stoker.kernel.lazy import LazyModule

keystone = LazyModule("stoker.clouds.keystone")

_KEPT = 512
_LIFETIME = 1800.0

Observer = Callable[[str, int, float, float | None, str], None]


@dataclass(slots=True)
class _Session:
    cloud: Any
    until: float


class Sessions:
    """Hands out clouds. Safe to use from many threads; every method may block.

    ``transport`` replaces the HTTP transport (a ``requests`` adapter); tests hand in a cloud
    that lives in memory.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        clock: Clock,
        observer: Observer,
        transport: Any = None,
    ) -> None:
        self._endpoints = endpoints
        self._clock = clock
        self._observer = observer
        self._transport = transport
        self._maker: Any = None
        self._open: OrderedDict[Credentials, _Session] = OrderedDict()
        self._lock = Lock()

    def load(self) -> None:
        """Import keystoneauth now, so that the first call finds it ready. Takes 0.1 s.

        The service must answer its first request long before it needs a cloud.
        """
        with self._lock:
            if self._maker is None:
                self._maker = keystone.Maker(
                    self._endpoints, self._clock, self._observer, self._transport
                )

    def connection(self, credentials: Credentials) -> Any:
        """Return a :class:`~stoker.clouds.cloud.Cloud` that acts with these credentials.

        The same one until half an hour after its last use.
        """
        self.load()
        now = self._clock.now()
        with self._lock:
            session = self._open.get(credentials)
            if session is None or session.until <= now:
                session = _Session(self._maker.cloud(credentials), 0.0)
                self._open[credentials] = session
            session.until = now + _LIFETIME
            self._open.move_to_end(credentials)
            while len(self._open) > _KEPT:
                self._open.popitem(last=False)
            return session.cloud

    def close(self) -> None:
        """Drop all connections and close their sockets."""
        with self._lock:
            self._open.clear()
            if self._maker is not None:
                self._maker.close()

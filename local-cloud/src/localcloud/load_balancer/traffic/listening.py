"""A listener: takes connections or datagrams, as many at a time as it may."""

import asyncio
import socket
from collections.abc import Awaitable

from localcloud.fabric.links.relays import Listener as Accepting
from localcloud.fabric.links.relays import Streams
from localcloud.load_balancer.traffic.datagrams import Datagrams
from localcloud.load_balancer.traffic.pools import Pool
from localcloud.load_balancer.traffic.requests import Route, serve
from localcloud.load_balancer.traffic.streams import carry


class Listening:
    """A listener whose socket is open."""

    def __init__(self, route: Route, sock: socket.socket) -> None:
        self.route = route
        self._slots = asyncio.Semaphore(1)
        self._limit: int | None = None
        self._serving: Accepting | Datagrams
        if route.listener["protocol"] == "UDP":
            self._serving = Datagrams(sock, route.doors, self._pool, route.counts)
        else:
            self._serving = Accepting(sock, self._serve)
        self.update(route)

    def update(self, route: Route) -> None:
        """Serve with the settings of the documents. Connections stay open."""
        self.route = route
        if isinstance(self._serving, Accepting):
            self._serving.tls = route.tls
        limit = route.listener["connection_limit"]
        if limit != self._limit:
            self._limit = limit
            # Octavia's -1 means no limit. Open connections keep slots of the old semaphore, so for
            # a while there can be more than the new limit.
            self._slots = asyncio.Semaphore(limit if limit >= 0 else 1 << 30)

    @property
    def full(self) -> bool:
        """Return whether clients have to wait."""
        return self._slots.locked()

    async def close(self) -> None:
        """End all that is under way."""
        if isinstance(self._serving, Datagrams):
            await self._serving.close()
        else:
            self._serving.close()
            await self._serving.ended()

    def _pool(self) -> Pool | None:
        pool = self.route.pools.get(self.route.listener["default_pool_id"] or "")
        return pool if pool is not None and pool.document["admin_state_up"] else None

    async def _serve(self, near: Streams) -> None:
        counts = self.route.counts
        async with self._slots:
            counts.active_connections += 1
            counts.total_connections += 1
            try:
                await self._talk(near)
            finally:
                counts.active_connections -= 1

    def _talk(self, near: Streams) -> Awaitable[None]:
        if self.route.listener["protocol"] in ("HTTP", "TERMINATED_HTTPS"):
            return serve(self.route, near)
        return self._carry(near)

    async def _carry(self, near: Streams) -> None:
        pool = self._pool()
        if pool is None:
            self.route.counts.request_errors += 1
            return
        await carry(self.route.doors, pool, self.route.listener, near, self.route.counts)

"""Brings the fabric to the state of the documents.

Requests change documents and note their IDs as pending. This module then declares the current state
of exactly these objects to the fabric. Rounds never overlap, so the fabric always ends at the
newest state. The API has accepted the change by then. If the machine refuses it, the error is
logged and shown as the status of the object, and the next change of the object tries again.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable

from localcloud.core.clock import Clock
from localcloud.core.store import Document
from localcloud.fabric.interface import Fabric, FabricError
from localcloud.network.model.pending import Pending
from localcloud.network.model.state import State
from localcloud.network.objects import ports
from localcloud.network.sync import specifications

GATHER_SECONDS = 0.05  # changes of membership are gathered at least this long before peers get them

_log = logging.getLogger(__name__)


def _take(ids: dict[str, None]) -> list[str]:
    # Cleared before the caller awaits anything. An ID noted meanwhile belongs to the next round.
    taken = list(ids)
    ids.clear()
    return taken


class FabricSync:
    """Keeps the fabric at the state of the documents."""

    def __init__(self, state: State, fabric: Fabric, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._fabric = fabric
        self._lock = asyncio.Lock()
        self._networks: set[str] = set()
        self._follow_up: asyncio.Task[None] | None = None
        self._next_round: asyncio.Task[None] | None = None

    async def flush(self) -> None:
        """Return when the fabric has everything that was pending, but for groups' peers."""
        pending = self._state.pending
        # Rules that refer to a group follow its members in the background, because one change may
        # concern every port of a project.
        if pending.peers and (self._follow_up is None or self._follow_up.done()):
            self._follow_up = asyncio.create_task(self._tell_peers())
        if pending.idle:
            return
        # Requests that come while a round is in progress share the next one.
        if self._next_round is None:
            self._next_round = asyncio.create_task(self._round(pending))
        await asyncio.shield(self._next_round)

    async def _round(self, pending: Pending) -> None:
        async with self._lock:
            self._next_round = None
            await self._remove(pending)
            for object_id in _take(pending.networks):
                if object_id in self._networks:
                    await self._network(object_id, again=True)
            for object_id in _take(pending.routers):
                await self._router(object_id)
            for object_id in _take(pending.ports):
                await self._port(object_id)
            for object_id in _take(pending.floating_ips):
                await self._floating_ip(object_id)

    async def everything(self) -> None:
        """Declare all objects to a fabric that knows none."""
        pending = self._state.pending
        for router in self._state.all("router").values():
            pending.router(router["id"])
        for port in self._state.all("port").values():
            pending.port(port["id"])
        for floating_ip in self._state.all("floatingip").values():
            if floating_ip["port_id"]:
                pending.floating_ip(floating_ip["id"])
        await self.flush()

    async def close(self) -> None:
        """End the background work."""
        work = [task for task in (self._follow_up, self._next_round) if task is not None]
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)

    async def use_network(self, object_id: str) -> None:
        """Make the segment of a network that a server or router is about to use."""
        if object_id not in self._networks:
            await self._network(object_id, again=False)

    async def _tell_peers(self) -> None:
        pending, pause = self._state.pending, GATHER_SECONDS
        while pending.peers:
            await self._clock.sleep(pause)
            began = time.monotonic()
            peers: dict[str, None] = {}
            for group in _take(pending.peers):
                for rule in self._state.all("security_group_rule").find(remote_group_id=group):
                    for port in self._state.members(rule["security_group_id"]):
                        peers[port["id"]] = None
            for object_id in peers:
                async with self._lock:
                    await self._port(object_id)
                await asyncio.sleep(0)  # requests run between two ports
            # A boot changes the rules of all servers in its group. Most of the time is for boots.
            pause = max(GATHER_SECONDS, time.monotonic() - began)

    async def _remove(self, pending: Pending) -> None:
        for port_id, server_id in list(pending.unplug.items()):
            del pending.unplug[port_id]
            await self._try(self._fabric.unplug(server_id, port_id))
        for object_id in list(pending.floating_ips):
            document = self._state.all("floatingip").get(object_id)
            if document is None or not document["port_id"]:
                del pending.floating_ips[object_id]
                await self._try(self._fabric.remove_floating_ip(object_id))
        for object_id in list(pending.routers):
            if object_id not in self._state.all("router"):
                del pending.routers[object_id]
                await self._try(self._fabric.remove_router(object_id))
        for object_id in list(pending.networks):
            if object_id not in self._state.all("network"):
                del pending.networks[object_id]
                if object_id in self._networks:
                    self._networks.discard(object_id)
                    await self._try(self._fabric.remove_network(object_id))

    async def _network(self, object_id: str, *, again: bool) -> None:
        document = self._state.all("network").get(object_id)
        if document is None or (object_id in self._networks and not again):
            return
        self._networks.add(object_id)
        done = await self._try(self._fabric.ensure_network(specifications.network(document)))
        if not done:
            self._networks.discard(object_id)
        self._show("network", document, done, "ACTIVE")

    async def _router(self, object_id: str) -> None:
        made: set[str] = set()
        while True:
            document = self._state.all("router").get(object_id)
            if document is None:
                return
            spec = specifications.router(self._state, document)
            legs = (*spec.legs, *((spec.gateway,) if spec.gateway else ()))
            # a leg may be added while the networks of the others are being made
            missing = {leg.network_id for leg in legs} - made
            if not missing:
                break
            for network_id in sorted(missing):
                await self.use_network(network_id)
            made |= missing
        done = await self._try(self._fabric.ensure_router(spec))
        self._show("router", document, done, "ACTIVE")

    async def _port(self, object_id: str) -> None:
        document = self._state.all("port").get(object_id)
        if document is None:
            return
        if ports.is_plugged(document):
            await self.use_network(document["network_id"])
            document = self._state.all("port").get(object_id)
            if document is not None:
                spec = specifications.port(self._state, document)
                await self._try(self._fabric.ensure_port(spec))

    async def _floating_ip(self, object_id: str) -> None:
        document = self._state.all("floatingip").get(object_id)
        if document is None or not document["port_id"]:
            return
        spec = specifications.floating_ip(document)
        done = await self._try(self._fabric.ensure_floating_ip(spec))
        self._show("floatingip", document, done, "ACTIVE")

    def _show(self, kind: str, document: Document, done: bool, status: str) -> None:
        """Make the outcome the status of the object, unless it has changed meanwhile."""
        expected = status if done else "ERROR"
        # A document that was replaced during the call is shown by its own round.
        present = self._state.all(kind).get(document["id"])
        if present is document and present["status"] != expected:
            self._state.update(kind, present, {"status": expected})

    async def _try(self, call: Awaitable[None]) -> bool:
        try:
            await call
        except FabricError as error:
            _log.warning("The fabric refused: %s", error)
            return False
        return True

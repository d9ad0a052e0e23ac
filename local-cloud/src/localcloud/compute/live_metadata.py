"""Metadata of running servers: it follows changes around a server.

A floating IP, a security group, a metadata item or a name can change while the server runs. The
documents of all these are watched, so that no request needs to report its change.
"""

import asyncio
import logging

from localcloud.compute import documents
from localcloud.compute.context import ServiceContext
from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError
from localcloud.web.http import ApiError

_LOG = logging.getLogger(__name__)


class LiveMetadata:
    """Sends the metadata of running servers to the fabric again after a change."""

    def __init__(self, tools: ServiceContext) -> None:
        self._tools = tools
        self._pending: dict[str, None] = {}
        self._publishing: asyncio.Task[None] | None = None
        network = tools.plugs.network.state
        tools.state.servers.watch(lambda before, after: self._changed(_key(after or before, "id")))
        network.all("port").watch(self._port_changed)
        network.all("floatingip").watch(self._floating_ip_changed)
        network.all("security_group").watch(self._group_changed)

    async def stop(self) -> None:
        """Stop the updates."""
        if self._publishing is not None:
            self._publishing.cancel()
            await asyncio.gather(self._publishing, return_exceptions=True)

    def _port_changed(self, before: Document | None, after: Document | None) -> None:
        for server_id in {_key(before, "device_id"), _key(after, "device_id")}:
            self._changed(server_id)

    def _floating_ip_changed(self, before: Document | None, after: Document | None) -> None:
        ports = self._tools.plugs.network.state.all("port")
        for port_id in {_key(before, "port_id"), _key(after, "port_id")}:
            self._changed(_key(ports.get(port_id), "device_id"))

    def _group_changed(self, before: Document | None, after: Document | None) -> None:
        if before is not None and after is not None and before["name"] != after["name"]:
            for port in self._tools.plugs.network.state.members(after["id"]):
                self._changed(_key(port, "device_id"))

    def _changed(self, server_id: str) -> None:
        if server_id not in self._tools.state.cloud.fabric.running():
            return
        self._pending[server_id] = None
        if self._publishing is None or self._publishing.done():
            self._publishing = asyncio.get_running_loop().create_task(self._publish())

    async def _publish(self) -> None:
        while self._pending:
            server_id = next(iter(self._pending))
            del self._pending[server_id]
            try:
                await self._tell_one(server_id)
            except (ApiError, FabricError) as error:
                _LOG.warning("The metadata of server %s is not up to date: %s", server_id, error)

    async def _tell_one(self, server_id: str) -> None:
        server = self._tools.state.servers.get(server_id)
        if server is not None:
            plugs = self._tools.plugs
            addresses = plugs.network.addresses(server_id)
            await self._tools.state.cloud.fabric.ensure_metadata(
                server_id,
                documents.metadata(server, plugs.tagged(server)),
                documents.ec2(server, addresses, plugs.group_names(server_id)),
            )


def _key(document: Document | None, field: str) -> str:
    return "" if document is None else str(document[field] or "")

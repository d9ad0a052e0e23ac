"""Share servers: addresses in networks of projects, at which shares are mounted.

No data of a share travels over the network: a server that mounts one sees its directory. The
network only decides whether the server could reach the share. For that, the server connects to the
address through all its routers and packet filters, and sends a secret of the cloud that identifies
it at the other end.
"""

import asyncio
import errno
import os
import secrets
import socket
from contextlib import suppress

from localcloud.core.store import Document
from localcloud.fabric.interface import (
    Appliance,
    Appliances,
    Direction,
    FabricError,
    ListenAccess,
    Rule,
)
from localcloud.fabric.links.relays import Listener, Streams, await_connection
from localcloud.network.service_ports import ServicePorts
from localcloud.shared_file_system.model.state import SERVERS_HOST, State
from localcloud.web.http import ApiError, RequestContext

OWNER = "manila:share"
PORTS = {"NFS": 2049, "CIFS": 445, "CEPHFS": 6789}  # at which servers of shares listen, by protocol
_WORD_BYTES = 16
_SECONDS = 5.0
_ALL = tuple(Rule(Direction.EGRESS, version) for version in ("IPv4", "IPv6"))
_RULES = (
    *_ALL,
    *(
        Rule(Direction.INGRESS, version, "tcp", port, port)
        for version in ("IPv4", "IPv6")
        for port in PORTS.values()
    ),
)


class ServerUnreachableError(Exception):
    """A server does not reach the address of a share."""


class ShareServers:
    """The servers of shares."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._ports = ServicePorts(state.cloud)
        self._appliances: Appliances | None = state.cloud.fabric.appliances
        self._listeners: dict[str, list[Listener]] = {}
        self._expected: dict[bytes, asyncio.Future[str]] = {}

    async def ensure(self, who: RequestContext, network: Document) -> Document:
        """Return a server in a share network, made if need be.

        Raises ApiError or FabricError where there can be none.
        """
        for server in self._state.servers.find(share_network_id=network["id"]):
            if server["status"] == "active":
                return server
        subnet = next(self._state.subnets.find(share_network_id=network["id"]), None)
        if subnet is None or subnet["neutron_subnet_id"] is None:
            raise FabricError("the share network has no subnet of the network service")
        there = self._ports.found(who, "subnet", subnet["neutron_subnet_id"])
        inside = self._ports.found(who, "network", there["network_id"])
        server = self._record(network, subnet)
        self._state.servers.put(server)
        try:
            port = await self._ports.create(
                network["project_id"],
                inside["id"],
                {
                    "name": f"share-server-{server['id']}",
                    "device_id": server["id"],
                    "device_owner": OWNER,
                    "fixed_ips": [{"subnet_id": there["id"]}],
                    "security_groups": [],
                },
            )
            address = port["fixed_ips"][0]["ip_address"]
            self._state.change(
                self._state.servers, server["id"], port_id=port["id"], address=address
            )
            await self.bring_up(server["id"])
        except (ApiError, FabricError, OSError):
            await self.remove(server["id"])
            raise
        self._state.change(
            self._state.subnets,
            subnet["id"],
            cidr=there["cidr"],
            ip_version=there["ip_version"],
            gateway=there["gateway_ip"],
            mtu=inside["mtu"],
            network_type=inside["provider:network_type"],
            segmentation_id=inside["provider:segmentation_id"],
        )
        made = self._state.change(self._state.servers, server["id"], status="active")
        return made or server

    def _record(self, network: Document, subnet: Document) -> Document:
        now = self._state.now()
        return {
            "id": self._state.new_id(),
            "project_id": network["project_id"],
            "share_network_id": network["id"],
            "share_network_subnet_id": subnet["id"],
            "host": SERVERS_HOST.partition("#")[0],
            "status": "creating",
            "port_id": None,
            "address": None,
            "created_at": now,
            "updated_at": now,
        }

    async def bring_up(self, server_id: str) -> None:
        """Let a server be reached in its network; raises ApiError, FabricError."""
        server = self._state.servers.get(server_id)
        if server is None or self._appliances is None or server_id in self._listeners:
            return
        plug = await self._ports.plug(server["port_id"], _RULES)
        await self._appliances.ensure(Appliance(server_id, (plug,)))
        self._listeners[server_id] = []
        for port in PORTS.values():
            opened = await self._appliances.open(
                server_id, ListenAccess.LISTEN, server["address"], port
            )
            self._listeners[server_id].append(Listener(opened, self._greet))

    async def remove(self, server_id: str) -> None:
        """Remove a server and its port; unknown ids are fine."""
        for listener in self._listeners.pop(server_id, ()):
            listener.close()
        if self._appliances is not None:
            await self._appliances.remove(server_id)
        server = self._state.servers.get(server_id)
        if server is not None and server["port_id"] is not None:
            await self._ports.remove(server["port_id"])
        self._state.servers.delete(server_id)

    def close(self) -> None:
        """Listen no longer."""
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.close()
        self._listeners.clear()

    async def seen_from(self, share_server: Document, protocol: str, client_id: str) -> str:
        """Return the address that a server of the cloud has for a server of shares.

        Raises :class:`ServerUnreachableError`.
        """
        if self._appliances is None:
            raise ServerUnreachableError("Network is unreachable")
        word = secrets.token_bytes(_WORD_BYTES)
        seen = self._expected[word] = asyncio.get_running_loop().create_future()
        dial = self._appliances.open
        try:
            async with asyncio.timeout(_SECONDS):
                opened = await dial(
                    client_id, ListenAccess.CONNECT, share_server["address"], PORTS[protocol]
                )
                await self._say(opened, word)
                address: str = await seen
                return address
        except TimeoutError:
            raise ServerUnreachableError("Connection timed out") from None
        except OSError as error:
            raise ServerUnreachableError(os.strerror(error.errno or errno.EHOSTUNREACH)) from error
        except FabricError as error:
            raise ServerUnreachableError(str(error).rpartition(": ")[2]) from error
        finally:
            self._expected.pop(word, None)

    async def _say(self, opened: socket.socket, word: bytes) -> None:
        _, writer = await await_connection(opened)
        writer.write(word)
        await writer.drain()
        writer.close()

    async def _greet(self, near: Streams) -> None:
        reader, writer = near
        with suppress(TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_SECONDS):
                expected = self._expected.get(await reader.readexactly(_WORD_BYTES))
            if expected is not None and not expected.done():
                expected.set_result(str(writer.get_extra_info("peername")[0]))

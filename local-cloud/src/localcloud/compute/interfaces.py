"""Interfaces of servers: the part of their ports that compute stores.

The network service owns ports. A server's document has one entry in ``plugs`` for each interface,
in order. It has the request that it came from, its tag, and the ID of its port once there is one.
"""

from typing import Any

from localcloud.compute.model.servers import change, get
from localcloud.compute.model.state import State
from localcloud.compute.server_request import NetworkWish
from localcloud.core.store import Document
from localcloud.fabric.interface import Port
from localcloud.network.service import NetworkService, PortRequest, ServerPlug
from localcloud.web.http import BadRequestError, ConflictError, NotFoundError, RequestContext

DETACH_SECONDS = 0.2  # time for a guest to release an interface; no request waits for it


def _request(plug: Document) -> PortRequest:
    return PortRequest(plug["network_id"], plug["wanted_port_id"], plug["fixed_ip"])


def _plug(wish: NetworkWish) -> Document:
    return {
        "network_id": wish.network_id,
        "wanted_port_id": wish.port_id,
        "fixed_ip": wish.fixed_ip,
        "tag": wish.tag,
        "port_id": None,
        "leaving": False,
    }


def owner(server: Document) -> RequestContext:
    """Return the context of the user who made the server."""
    return RequestContext(
        user_id=server["user_id"], project_id=server["project_id"], roles=tuple(server["roles"])
    )


def leaving(server: Document) -> list[str]:
    """Return the ports that the server is to lose."""
    return [plug["port_id"] for plug in server["plugs"] if plug.get("leaving")]


class Interfaces:
    """The ports of servers."""

    def __init__(self, state: State, network: NetworkService) -> None:
        self._state = state
        self.network = network

    def choose(
        self, context: RequestContext, requested: tuple[NetworkWish, ...] | str | None
    ) -> list[Document]:
        """Return the plugs of a new server; raises ApiError for impossible requests.

        A request without networks gets the project's only network; several are ambiguous (409).
        """
        if requested == "none":
            return []
        if isinstance(requested, tuple):
            return [self.check(context, wish) for wish in requested]
        known = self.network.available_networks(context)
        known = [n for n in known if self.network.state.subnets(n["id"])]
        if len(known) > 1:
            raise ConflictError(
                "Multiple possible networks found, use a Network ID to be more specific."
            )
        if not known and requested == "auto":
            raise BadRequestError(
                "The project has no network with a subnet to connect the server to; create one, "
                "or ask for 'none'."
            )
        return [self.check(context, NetworkWish(network_id=n["id"])) for n in known]

    def check(self, context: RequestContext, wish: NetworkWish) -> Document:
        """Return the plug for one requested network, whose objects must exist and be free."""
        plug = _plug(wish)
        try:
            self.network.check_port_request(context, _request(plug))
        except NotFoundError as error:
            raise BadRequestError(error.message) from error
        except ConflictError as error:
            if wish.fixed_ip is not None:
                raise BadRequestError(error.message) from error
            if error.type == "PortInUse":
                raise ConflictError(f"Port {wish.port_id} is still in use.") from error
            raise
        return plug

    def group_ids(self, context: RequestContext, names: tuple[str, ...]) -> list[str] | None:
        """Return the ids of security groups; raises :class:`BadRequestError` for unknown ones."""
        try:
            found = [self.network.find_security_group(context, name)["id"] for name in names]
        except NotFoundError as error:
            raise BadRequestError(error.message) from error
        return list(dict.fromkeys(found)) or None

    async def connect(self, server: Document) -> Document:
        """Make or take the ports that the server has not got yet; returns the server."""
        for index in range(len(server["plugs"])):
            plug = server["plugs"][index]
            if plug["port_id"] is None:
                port_id = await self._port(server, plug)
                server = self._fill(server["id"], index, port_id)
        return server

    async def _port(self, server: Document, plug: Document) -> str:
        known = {p["port_id"] for p in server["plugs"]}
        for port in self.network.ports(server["id"]):
            # Made just before a crash, but not noted any more.
            if port["id"] not in known and port["network_id"] == plug["network_id"]:
                return str(port["id"])
            if port["id"] == plug["wanted_port_id"]:
                return str(port["id"])
        port = await self.network.create_port_for_server(
            owner(server), _request(plug), self._server(server), server["group_ids"]
        )
        return str(port["id"])

    def _server(self, server: Document) -> ServerPlug:
        return ServerPlug(server["id"], server["hostname"], server["host"], server["zone"])

    def _fill(self, server_id: str, index: int, port_id: str) -> Document:
        plugs = list(get(self._state, server_id)["plugs"])
        plugs[index] = {**plugs[index], "port_id": port_id}
        return change(self._state, server_id, plugs=plugs)

    async def attach(
        self, server: Document, context: RequestContext, wish: NetworkWish
    ) -> Document:
        """Plug another port into the server; returns the port's document."""
        plug = self.check(context, wish)
        port = await self.network.create_port_for_server(
            context, _request(plug), self._server(server), None
        )
        plugs = [*get(self._state, server["id"])["plugs"], {**plug, "port_id": port["id"]}]
        server = change(self._state, server["id"], plugs=plugs)
        fabric = self._state.cloud.fabric
        if server["id"] in fabric.running():
            await fabric.plug(server["id"], self.network.fabric_port(port["id"]))
        return port

    def let_go(self, server: Document, port_id: str) -> None:
        """Note that the server is to lose a port; :meth:`detach` then does it."""
        change(
            self._state,
            server["id"],
            plugs=[
                {**plug, "leaving": True} if plug["port_id"] == port_id else plug
                for plug in server["plugs"]
            ],
        )

    async def detach(self, server_id: str, port_id: str) -> None:
        """Unplug a port from a server, after its guest had the time to release it."""
        await self._state.cloud.clock.sleep(DETACH_SECONDS)
        server = self._state.servers.get(server_id)
        if server is None or port_id not in leaving(server):
            return
        if any(port["id"] == port_id for port in self.network.ports(server_id)):
            await self.network.release_port(port_id)
        server = self._state.servers.get(server_id)
        if server is not None:
            plugs = [p for p in server["plugs"] if p["port_id"] != port_id]
            change(self._state, server_id, plugs=plugs)

    def port(self, server_id: str, port_id: str) -> Document:
        """Return the document of a server's port; raises :class:`NotFoundError`."""
        for port in self.documents(server_id):
            if port["id"] == port_id:
                return port
        raise NotFoundError(f"Instance {server_id} has no interface with the port {port_id}.")

    def documents(self, server_id: str) -> list[Document]:
        """Return the documents of the server's ports, in order."""
        ports = self.network.ports(server_id)
        server = self._state.servers.get(server_id)
        order = [p["port_id"] for p in server["plugs"]] if server is not None else []
        return sorted(ports, key=lambda p: order.index(p["id"]) if p["id"] in order else len(order))

    def ports(self, server: Document) -> tuple[Port, ...]:
        """Return the server's ports as the fabric wants them; those that are gone are left out."""
        return tuple(self.network.fabric_port(p["id"]) for p in self.documents(server["id"]))

    def tag(self, server: Document, port_id: str) -> Any:
        """Return the tag of one of the server's interfaces."""
        return next((p["tag"] for p in server["plugs"] if p["port_id"] == port_id), None)

    def tagged(self, server: Document) -> list[tuple[str, str]]:
        """Return the MAC addresses of the interfaces that have a tag, with it."""
        ports = self.documents(server["id"])
        found = [(str(p["mac_address"]), self.tag(server, p["id"])) for p in ports]
        return [(mac, tag) for mac, tag in found if tag]

    def group_names(self, server_id: str) -> list[str]:
        """Return the names of the server's security groups."""
        return [str(g["name"]) for g in self.network.security_groups(server_id)]

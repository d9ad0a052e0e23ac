"""The network API, version 2.0, as the application mounts it and as compute uses it.

A change is written to the store first and then declared to the fabric; a request is answered, and
a method returns, when the fabric has it. Methods for other services raise
:class:`localcloud.web.http.ApiError` with the status and type that the API has for the same error.
"""

from functools import cached_property
from typing import Any

from msgspec import Struct

from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.fabric.interface import Port
from localcloud.network import server_views
from localcloud.network.errors import bad_request, not_found
from localcloud.network.model.attributes import for_create
from localcloud.network.model.resources import PORT
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, owns
from localcloud.network.objects import bootstrap, ports, security_groups
from localcloud.network.sync import specifications
from localcloud.network.sync.fabric_sync import FabricSync
from localcloud.web.http import ForbiddenError, RequestContext, neutron_error


class PortRequest(Struct, frozen=True):
    """A server's connection to a network: with an existing port, or with a new one."""

    network_id: str | None = None
    port_id: str | None = None
    fixed_ip: str | None = None  # the address of a new port; by default the next free one


class ServerPlug(Struct, frozen=True):
    """The server that gets a port."""

    server_id: str
    hostname: str = ""  # becomes the DNS name of the port, where the port has none
    host: str = "localhost"  # name of the hypervisor; becomes `binding:host_id`
    availability_zone: str = "nova"


class NetworkService(LazyService):
    """Neutron; the one instance is ``cloud.one(NetworkService)``."""

    type = "network"
    name = "neutron"
    prefix = endpoint = "/network"
    open_paths = ("/v2.0",)
    api_module = "localcloud.network.api.endpoints"
    render = staticmethod(neutron_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.state = State(cloud)
        self.declarer = FabricSync(self.state, cloud.fabric, cloud.clock)

    @cached_property
    def version(self) -> Document:
        links = [{"rel": "self", "href": f"{self.url}/v2.0/"}]
        return {"id": "v2.0", "status": "CURRENT", "links": links}

    async def start(self) -> None:
        with self.state.change():
            bootstrap.ensure_public(self.state)
        await self.declarer.everything()

    async def stop(self) -> None:
        await self.declarer.close()

    def available_networks(self, context: RequestContext) -> list[Document]:
        """Return the networks that a server gets a port in when its request names none.

        These are the project's own and the shared ones, without external networks.
        """
        return [
            network
            for network in self.state.all("network").values()
            if (network["project_id"] == context.project_id or network["shared"])
            and not network["router:external"]
        ]

    def check_port_request(self, context: RequestContext, request: PortRequest) -> None:
        """Raise the ApiError that :meth:`create_port_for_server` would raise, as far as known.

        ``PortNotFound``/``NetworkNotFound`` (404), ``PortInUse`` (409), ``PortRequiresFixedIP``
        and ``NetworkRequiresSubnet`` (400), ``ExternalNetworkAttachForbidden`` (403),
        ``IpAddressAlreadyAllocated`` (409).
        """
        if request.port_id is not None:
            port = find(self.state, context, "port", request.port_id)
            if not owns(context, port):
                raise not_found("port", request.port_id)
            ports.require_unused(port)
            if not port["fixed_ips"] and port["ip_allocation"] != "none":
                raise bad_request(f"Port {port['id']} has no address.", "PortRequiresFixedIP")
            return
        if request.network_id is None:
            raise bad_request("A network or a port must be named.")
        network = find(self.state, context, "network", request.network_id)
        subnets = self.state.subnets(network["id"])
        if not subnets:
            raise bad_request(f"Network {network['id']} has no subnet.", "NetworkRequiresSubnet")
        if network["router:external"] and not owns(context, network) and not network["shared"]:
            raise ForbiddenError(
                f"Servers cannot be attached to the external network {network['id']}.",
                type="ExternalNetworkAttachForbidden",
            )
        if request.fixed_ip is not None:
            ports.check_address(self.state, network, request.fixed_ip)

    async def create_port_for_server(
        self,
        context: RequestContext,
        request: PortRequest,
        plug: ServerPlug,
        security_group_ids: list[str] | None = None,
    ) -> Document:
        """Make (or take) a port for a server and bind it; returns the port's document.

        ``security_group_ids`` are those of a new port, None for the project's default one; see
        :meth:`find_security_group`. A port that was made here goes with :meth:`release_port`.
        """
        self.check_port_request(context, request)
        with self.state.change():
            if request.port_id is not None:
                port = self.state.get("port", request.port_id)
            else:
                body: dict[str, Any] = {"network_id": request.network_id}
                if request.fixed_ip is not None:
                    body["fixed_ips"] = [{"ip_address": request.fixed_ip}]
                if security_group_ids is not None:
                    network = self.state.get("network", str(request.network_id))
                    body["security_groups"] = (
                        security_group_ids if network["port_security_enabled"] else []
                    )
                values = for_create(PORT, context, body)
                port = ports.create(
                    self.state, context, {**values, "made_for_server": plug.server_id}
                )
            port = ports.change(self.state, port, self._bound(port, plug))
        await self.declarer.flush()
        return port

    async def release_port(self, port_id: str) -> None:
        """Remove a port that was made for its server, unbind any other; unknown ids are fine."""
        with self.state.change():
            port = self.state.all("port").get(port_id)
            if port is not None:
                self._release(port)
        await self.declarer.flush()

    async def release_server(self, server_id: str) -> None:
        """Release all ports of a server that is being deleted."""
        with self.state.change():
            for port in self.ports(server_id):
                self._release(port)
        await self.declarer.flush()

    def _bound(self, port: Document, plug: ServerPlug) -> Document:
        present = [int(other["plugged"]) for other in self.ports(plug.server_id)]
        changes: Document = {
            "device_id": plug.server_id,
            "device_owner": f"compute:{plug.availability_zone}",
            "binding:host_id": plug.host,
            "plugged": max(present, default=0) + 1,
        }
        if not port["dns_name"] and plug.hostname:
            changes["dns_name"] = plug.hostname
        return changes

    def _release(self, port: Document) -> None:
        if port.get("made_for_server") == port["device_id"]:
            ports.remove(self.state, port)
        else:
            free = {"device_id": "", "device_owner": "", "binding:host_id": ""}
            ports.change(self.state, port, free)

    def ports(self, server_id: str) -> list[Document]:
        """Return the documents of a server's ports, in the order in which it got them."""
        found = self.state.all("port").find(device_id=server_id)
        plugged = (port for port in found if ports.is_plugged(port))
        return sorted(plugged, key=lambda port: int(port["plugged"]))

    def fabric_port(self, port_id: str) -> Port:
        """Return a port as the fabric wants it, rules resolved; raises NotFoundError (404)."""
        return specifications.port(self.state, self.state.get("port", port_id))

    def addresses(self, server_id: str) -> server_views.AddressMap:
        """Return the server's ``addresses``: fixed and floating, by network name."""
        return server_views.addresses(self.state, self.ports(server_id))

    def network_data(self, server_id: str) -> dict[str, Any]:
        """Return the content of the server's ``network_data.json``."""
        return server_views.network_data(self.state, self.ports(server_id))

    def forwardings(self, server_id: str) -> list[dict[str, Any]]:
        """Return ``stoker:forwardings``: the host's addresses that lead to the server now."""
        ids = {
            floating_ip["id"]
            for port in self.ports(server_id)
            for floating_ip in self.state.all("floatingip").find(port_id=port["id"])
        }
        return server_views.forwardings(self.cloud.fabric.forwardings(), ids)

    def find_security_group(self, context: RequestContext, name_or_id: str) -> Document:
        """Return a group of the caller's project; raises NotFoundError (404), ConflictError
        (409) if several.

        The project's default group is made when it is missing.
        """
        with self.state.change():
            return security_groups.named(self.state, context, name_or_id)

    def security_groups(self, server_id: str) -> list[Document]:
        """Return the documents of all groups of the server's ports."""
        ids = dict.fromkeys(
            object_id for port in self.ports(server_id) for object_id in port["security_groups"]
        )
        return [self.state.get("security_group", object_id) for object_id in ids]

    async def add_security_group(self, server_id: str, group_id: str) -> None:
        """Put all ports of a server that have port security into a group."""
        with self.state.change():
            for port in self.ports(server_id):
                if port["port_security_enabled"] and group_id not in port["security_groups"]:
                    groups = [*port["security_groups"], group_id]
                    ports.change(self.state, port, {"security_groups": groups})
        await self.declarer.flush()

    async def remove_security_group(self, server_id: str, group_id: str) -> None:
        """Take all ports of a server out of a group; raises NotFoundError (404) where none is in
        it.
        """
        with self.state.change():
            inside = [p for p in self.ports(server_id) if group_id in p["security_groups"]]
            if not inside:
                raise not_found("security_group", group_id)
            for port in inside:
                groups = [
                    object_id for object_id in port["security_groups"] if object_id != group_id
                ]
                ports.change(self.state, port, {"security_groups": groups})
        await self.declarer.flush()

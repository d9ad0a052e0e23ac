"""Ports of other services of the cloud, as a load balancer has one for its address."""

import ipaddress

from msgspec.structs import replace

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.fabric.interface import Port, Rule
from localcloud.network.model.visibility import find
from localcloud.network.objects import ports
from localcloud.network.service import NetworkService
from localcloud.web.http import RequestContext


class ServicePorts:
    """Creates, plugs and removes ports on behalf of other services."""

    def __init__(self, cloud: Cloud) -> None:
        self._network = cloud.one(NetworkService)
        self._state = self._network.state

    def found(self, who: RequestContext, kind: str, object_id: str) -> Document:
        """Return an object of the network service that the caller sees; raises NotFoundError."""
        return find(self._state, who, kind, object_id)

    def subnet(self, subnet_id: str) -> Document | None:
        """Return a subnet, None where it is gone."""
        return self._state.all("subnet").get(subnet_id)

    def subnets(self, network_id: str) -> list[Document]:
        """Return the subnets of a network."""
        return self._state.subnets(network_id)

    def offers(self, subnet: Document, address: str | None) -> bool:
        """Return whether a subnet has this address, or any address that is free."""
        if address is not None:
            return ipaddress.ip_address(address) in ipaddress.ip_network(subnet["cidr"])
        return self._state.addresses(subnet["id"]).next_free() is not None

    async def create(self, project_id: str, network_id: str, values: Document) -> Document:
        """Make a port; raises ApiError where the addresses or the quota do not allow it."""
        with self._state.change():
            network = self._state.get("network", network_id)
            given = {**ports.defaults(project_id, network_id), **values}
            port = ports.insert(self._state, network, given)
        await self._network.declarer.flush()
        return port

    async def take(self, port_id: str, owner: str, device_id: str) -> None:
        """Say whose a port is from now on; one that is gone is left alone."""
        with self._state.change():
            port = self._state.all("port").get(port_id)
            if port is not None:
                changes = {"device_owner": owner, "device_id": device_id}
                ports.change(self._state, port, changes)
        await self._network.declarer.flush()

    async def remove(self, port_id: str) -> None:
        """Remove a port; unknown ids are fine."""
        with self._state.change():
            port = self._state.all("port").get(port_id)
            if port is not None:
                ports.remove(self._state, port)
        await self._network.declarer.flush()

    async def secure(self, port_id: str, groups: list[str]) -> None:
        """Put a port into exactly these security groups; a missing port is ignored."""
        with self._state.change():
            port = self._state.all("port").get(port_id)
            if port is not None and port["security_groups"] != groups:
                ports.change(self._state, port, {"security_groups": groups})
        await self._network.declarer.flush()

    async def plug(self, port_id: str, rules: tuple[Rule, ...] | None) -> Port:
        """Return a port as the fabric wants it, its network made.

        The rules take the place of those of its security groups, where any are given. Raises
        NotFoundError where the port is gone.
        """
        port = self._network.fabric_port(port_id)
        await self._network.declarer.use_network(port.network_id)
        return port if rules is None else replace(port, rules=rules)

"""The virtual cables: networks as bridges, routers as network namespaces of their own.

All bridges live in one namespace without any address, so that networks of different projects may
use the same addresses. Each router has its own namespace and so its own routing table.
"""

import ipaddress
import itertools
import os
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from localcloud.fabric.interface import Address, FabricError, Network, Router, RouterLeg
from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.kernel import Clone
from localcloud.fabric.links.filters import Filters, NoFilters, masquerade, no_way_out, outward
from localcloud.fabric.links.links import Links, set_sysctl
from localcloud.fabric.links.listening import open_tables

# The address under which the host's connections to floating addresses reach servers.
HOST_SOURCE = "100.64.0.1"

_ROUTE_PRIORITY = 100


@dataclass
class SwitchPorts:
    """A namespace with links into networks: a router's or a server's."""

    namespace: int
    links: Links
    filters: Filters | NoFilters
    names: dict[str, str] = field(default_factory=dict)  # link names by port id
    routes: set[tuple[str, str]] = field(default_factory=set)

    def close(self) -> None:
        """Release the namespace; it vanishes when no process is in it."""
        self.links.close()
        self.filters.close()
        os.close(self.namespace)


@dataclass
class _Network:
    network: Network
    bridge: int


class Switch:
    """Networks and routers. The namespace in which this object is made holds the bridges.

    ``open_filters`` gives the packet filter of the namespace that it is called in.
    """

    def __init__(self, open_filters: Callable[[], Filters | NoFilters]) -> None:
        self._open_filters = open_filters
        self._home = kernel.open_namespace("net")
        self._links = Links()
        self._networks: dict[str, _Network] = {}
        self._routers: dict[str, SwitchPorts] = {}
        self._ways_out: dict[str, tuple[int, int]] = {}
        self._numbers = itertools.count(1)

    def ensure_network(self, network: Network) -> None:
        """Make the bridge of a network; later changes of the MTU hold for new ports."""
        known = self._networks.get(network.id)
        if known is None:
            bridge = self._links.add_bridge(f"b{next(self._numbers)}", network.mtu)
            self._networks[network.id] = _Network(network, bridge)
        else:
            known.network = network

    def remove_network(self, network_id: str) -> None:
        """Remove the bridge; unknown ids are fine."""
        known = self._networks.pop(network_id, None)
        if known is not None:
            self._links.delete_index(known.bridge)

    def inside(self, cabling: SwitchPorts) -> AbstractContextManager[None]:
        """Be in the namespace of a cabling for the length of a ``with`` block."""
        return kernel.inside_network(cabling.namespace, self._home)

    def open_tables(self, cabling: SwitchPorts) -> list[int]:
        """Open the tables of listening sockets (v4, v6) of a namespace."""
        with self.inside(cabling):
            return open_tables()

    def new_namespace(self) -> SwitchPorts:
        """Make an empty network namespace with a working loopback."""
        try:
            kernel.unshare(Clone.NEWNET)
            links = Links()
            links.set_up("lo", up=True)
            return SwitchPorts(kernel.open_namespace("net"), links, self._open_filters())
        finally:
            kernel.setns(self._home, Clone.NEWNET)

    def attach(self, cabling: SwitchPorts, leg: RouterLeg, name: str) -> None:
        """Plug a new link ``name`` of the namespace into the network of a port."""
        known = self._networks.get(leg.network_id)
        if known is None:
            raise FabricError(
                f"port {leg.port_id}: network {leg.network_id} has not been made in the fabric"
            )
        peer = f"p{next(self._numbers)}"
        cabling.links.add_veth(name, leg.mac, known.network.mtu, peer, self._home)
        self._links.plug(peer, known.bridge)
        cabling.names[leg.port_id] = name
        self.address(cabling, leg)
        cabling.links.set_up(name, up=True)

    def detach(self, cabling: SwitchPorts, port_id: str) -> None:
        """Remove the link of a port from a namespace; unknown ids are fine."""
        name = cabling.names.pop(port_id, None)
        if name is not None:
            cabling.links.delete(name)

    def address(self, cabling: SwitchPorts, leg: RouterLeg) -> None:
        """Give the link of a port exactly the addresses of the port."""
        name = cabling.names[leg.port_id]
        desired = {
            ipaddress.ip_interface(f"{address.ip}/{address.prefix_length}")
            for address in leg.addresses
        }
        present = cabling.links.addresses(name)
        for address in present - desired:
            cabling.links.remove_address(name, address)
        for address in desired - present:
            cabling.links.add_address(name, address)

    def add_routes(self, cabling: SwitchPorts, addresses: tuple[Address, ...], name: str) -> None:
        """Add the gateways and host routes of a server's port; the link must be up.

        A server may be the gateway of its subnet itself: it has no route to itself.
        """
        priority = _ROUTE_PRIORITY + list(cabling.names.values()).index(name)
        for address in addresses:
            default = "::/0" if ":" in address.ip else "0.0.0.0/0"
            own = ("0.0.0.0", "::", address.ip)  # noqa: S104 - on-link routes, not listeners
            if address.gateway and address.gateway not in own:
                cabling.links.add_route(default, address.gateway, name, priority)
            for destination, hop in address.routes:
                if hop not in own:
                    cabling.links.add_route(destination, hop, name, priority)

    def ensure_router(self, router: Router) -> list[socket.socket]:
        """Bring the router's namespace to exactly these legs, gateway and routes.

        Returns the sockets of a new router for redirected traffic to the outside: a listener for
        TCP connections and a UDP socket for names.
        """
        opened: list[socket.socket] = []
        cabling = self._routers.get(router.id)
        if cabling is None:
            cabling = self._routers[router.id] = self._new_router()
            opened = self._open_ways_out(router.id, cabling)
        legs = list(router.legs) if router.enabled else []
        outer = router.gateway if router.enabled else None
        if outer is not None and not _lives_on_the_host(outer):
            legs.append(outer)
        desired = {leg.port_id for leg in legs}
        for port_id in set(cabling.names) - desired:
            self.detach(cabling, port_id)
        for leg in legs:
            if leg.port_id in cabling.names:
                self.address(cabling, leg)
            else:
                self.attach(cabling, leg, f"r{next(self._numbers)}")
        self._route(cabling, router, legs)
        if outer is not None and outer.port_id in cabling.names and router.snat:
            cabling.filters.apply(masquerade(cabling.names[outer.port_id]))
        if outer is not None and outer.port_id not in cabling.names:
            inner = _cidrs(legs) + [cidr for cidr, _ in router.routes if ":" not in cidr]
            cabling.filters.apply(outward(inner, *self._ways_out[router.id]))
        else:
            cabling.filters.apply(no_way_out())
        return opened

    def _open_ways_out(self, router_id: str, cabling: SwitchPorts) -> list[socket.socket]:
        with self.inside(cabling):
            connections = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
            questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        for opened in (connections, questions):
            opened.setblocking(False)
            # Only what the router redirects gets here: its namespace has no other way in.
            opened.bind(("0.0.0.0", 0))  # noqa: S104
        connections.listen(256)
        ports = connections.getsockname()[1], questions.getsockname()[1]
        self._ways_out[router_id] = ports
        return [connections, questions]

    def _new_router(self) -> SwitchPorts:
        cabling = self.new_namespace()
        with self.inside(cabling):
            set_sysctl("ipv4.ip_forward", "1")
            set_sysctl("ipv6.conf.all.forwarding", "1")
        cabling.links.add_address("lo", ipaddress.ip_interface(f"{HOST_SOURCE}/32"))
        return cabling

    def _route(self, cabling: SwitchPorts, router: Router, legs: list[RouterLeg]) -> None:
        desired = set(router.routes) if router.enabled else set()
        outer = router.gateway
        if outer is not None and outer.port_id in cabling.names:
            for address in outer.addresses:
                if address.gateway:
                    desired.add(("::/0" if ":" in address.ip else "0.0.0.0/0", address.gateway))
        for destination, hop in cabling.routes - desired:
            cabling.links.remove_route(destination, hop)
        for destination, hop in desired:
            name = _link_towards(cabling, legs, hop)
            if name is not None:
                cabling.links.add_route(destination, hop, name, _ROUTE_PRIORITY)
        cabling.routes = desired

    def remove_router(self, router_id: str) -> None:
        """Remove the router; unknown ids are fine."""
        cabling = self._routers.pop(router_id, None)
        if cabling is not None:
            for port_id in list(cabling.names):
                self.detach(cabling, port_id)
            cabling.close()

    def connect(self, router_id: str, address: str, port: int) -> socket.socket:
        """Start a TCP connection to a server from its router; the caller awaits its success."""
        cabling = self._routers.get(router_id)
        if cabling is None:
            raise FabricError(f"router {router_id} does not exist in the fabric")
        with self.inside(cabling):
            connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        connection.setblocking(False)
        try:
            connection.bind((HOST_SOURCE, 0))
            connection.connect_ex((address, port))
        except OSError:
            connection.close()
            raise
        return connection


def _cidrs(legs: list[RouterLeg]) -> list[str]:
    networks = (
        ipaddress.ip_network(f"{address.ip}/{address.prefix_length}", strict=False)
        for leg in legs
        for address in leg.addresses
    )
    return [str(network) for network in networks if network.version == 4]


def _lives_on_the_host(leg: RouterLeg) -> bool:
    # Floating addresses in 127/8 are addresses of the host's own loopback: no cable leads there.
    return any(ipaddress.ip_address(address.ip).is_loopback for address in leg.addresses)


def _link_towards(cabling: SwitchPorts, legs: list[RouterLeg], hop: str) -> str | None:
    target = ipaddress.ip_address(hop)
    for leg in legs:
        for address in leg.addresses:
            if target in ipaddress.ip_interface(f"{address.ip}/{address.prefix_length}").network:
                return cabling.names.get(leg.port_id)
    return None

"""Subnets: ranges of addresses in a network."""

from ipaddress import ip_address
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict, invalid
from localcloud.network.model import ipam, quotas
from localcloud.network.model.addresses import is_automatic
from localcloud.network.model.ipam import IPNetwork
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.network.objects import subnetpools
from localcloud.web.http import RequestContext

KIND = "subnet"
_UNUSED = object()


def _cidr(state: State, context: RequestContext, values: Document) -> tuple[str, str | None]:
    """Return the CIDR of a new subnet and the pool it comes from."""
    pool_id = values.get("subnetpool_id")
    cidr = values.get("cidr")
    if values.get("use_default_subnetpool"):
        if pool_id:
            raise bad_request("subnetpool_id and use_default_subnetpool exclude each other.")
        pool_id = subnetpools.default(state, context, values.get("ip_version") or 4)["id"]
    if pool_id is None:
        if cidr is None:
            raise bad_request("A subnet needs a cidr or a subnet pool.")
        if "prefixlen" in values:
            raise bad_request("cidr and prefixlen exclude each other.")
        return cidr, None
    pool = find(state, context, "subnetpool", pool_id)
    if values.get("ip_version") not in (None, pool["ip_version"]):
        raise bad_request(f"The subnet pool {pool_id} is of IP version {pool['ip_version']}.")
    if cidr is not None and "prefixlen" in values:
        raise bad_request("cidr and prefixlen exclude each other.")
    if cidr is not None:
        return subnetpools.claim(state, pool, ipam.network(cidr)), pool_id
    return subnetpools.allocate(state, pool, values.get("prefixlen"), values["project_id"]), pool_id


def _check_range(state: State, network: Document, net: IPNetwork, values: Document) -> None:
    if values.get("ip_version") not in (None, net.version):
        raise invalid(f"cidr '{net}' does not match the ip_version '{values['ip_version']}'.")
    if net.prefixlen == 0:
        raise invalid("A subnet cannot have a prefix length of 0.")
    if values["enable_dhcp"] and net.prefixlen > net.max_prefixlen - 2:
        raise invalid(f"The subnet {net} is too small for DHCP.")
    if values["enable_dhcp"] and (net.is_multicast or net.is_loopback):
        raise invalid(f"{net} cannot be served by DHCP: it is a multicast or loopback range.")
    for other in state.subnets(network["id"]):
        present = ipam.network(other["cidr"])
        if present.version == net.version and present.overlaps(net):
            raise invalid(
                f"Requested subnet with cidr: {net} for network: {network['id']} overlaps with"
                " another subnet."
            )


def _check_pool(state: State, network: Document, version: int, pool_id: str | None) -> None:
    """Raise the API's 400 where another subnet of the network is not of the same pool."""
    for other in state.subnets(network["id"]):
        if other["ip_version"] == version and other.get("subnetpool_id") != pool_id:
            raise bad_request(
                "Subnets hosted on the same network must be allocated from the same subnet pool.",
                "NetworkSubnetPoolAffinityError",
            )


def _check_modes(net: IPNetwork, values: Document) -> None:
    ra, mode = values["ipv6_ra_mode"], values["ipv6_address_mode"]
    if ra is None and mode is None:
        return
    if net.version == 4:
        raise invalid("IPv6 modes do not go with a subnet of IPv4.")
    if not values["enable_dhcp"]:
        raise invalid("IPv6 modes need enable_dhcp.")
    if ra is not None and mode is not None and ra != mode:
        raise invalid(f"ipv6_ra_mode {ra} and ipv6_address_mode {mode} differ.")
    if net.prefixlen != 64 and {"slaac", "dhcpv6-stateless"} & {ra, mode}:
        raise invalid(f"Automatic addresses need a prefix length of 64, {net} has not.")


def _check_gateway(net: IPNetwork, gateway: str | None) -> None:
    if gateway is None:
        return
    address = ip_address(gateway)
    if address.version != net.version:
        raise invalid(f"The gateway {gateway} and the subnet {net} differ in IP version.")
    if net.version == 4 and address in net and address not in ipam.host_range(net):
        raise invalid("Gateway is not valid on subnet.")


def _check_routes(net: IPNetwork, routes: list[dict[str, Any]]) -> None:
    for route in routes:
        versions = {
            ipam.network(route["destination"]).version,
            ip_address(route["nexthop"]).version,
        }
        if versions != {net.version}:
            raise invalid(f"The host route {route} is not of IP version {net.version}.")


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a subnet; raises ApiError for ranges that make no sense or overlap."""
    network = find(state, context, "network", values["network_id"])
    require_owner(context, network, "create_subnet")
    quotas.require(state, KIND, values["project_id"])
    cidr, pool_id = _cidr(state, context, values)
    net = ipam.network(cidr)
    _check_range(state, network, net, values)
    _check_pool(state, network, net.version, pool_id)
    _check_modes(net, values)
    slaac = values["ipv6_address_mode"] == "slaac" or values["ipv6_ra_mode"] == "slaac"
    gateway = values.get("gateway_ip", _UNUSED)
    if gateway is _UNUSED:
        gateway = str(ipam.host_range(net).first) if net.num_addresses > 1 or slaac else None
    _check_gateway(net, gateway)
    _check_routes(net, values["host_routes"])
    if values.get("allocation_pools"):
        ranges = ipam.pools(values["allocation_pools"])
        ipam.check_pools(net, gateway, ranges)
    else:
        ranges = ipam.default_pools(net, gateway)
    document = {k: v for k, v in values.items() if k not in ("prefixlen", "use_default_subnetpool")}
    created = state.create(
        KIND,
        {
            **document,
            "cidr": str(net),
            "ip_version": net.version,
            "gateway_ip": gateway,
            "allocation_pools": [pool.document() for pool in ranges],
            "subnetpool_id": pool_id,
        },
    )
    state.pending.network(network["id"])
    if is_automatic(created):
        _give_automatic_addresses(state, created, net)
    return created


def _give_automatic_addresses(state: State, subnet: Document, net: IPNetwork) -> None:
    """Note the addresses that the hosts which are there already make for themselves."""
    for port in list(state.all("port").find(network_id=subnet["network_id"])):
        if not port["device_owner"].startswith("network:") and port["ip_allocation"] != "none":
            address = ipam.eui64(net, port["mac_address"])
            fixed = {"subnet_id": subnet["id"], "ip_address": address}
            _set_addresses(state, port, [*port["fixed_ips"], fixed])


def _set_addresses(state: State, port: Document, fixed_ips: list[dict[str, str]]) -> None:
    state.update("port", port, {"fixed_ips": fixed_ips})
    state.pending.port(port["id"])
    for group in port["security_groups"]:
        state.pending.membership(group)


def update(state: State, context: RequestContext, subnet: Document, changes: Document) -> Document:
    """Change a subnet; raises ApiError where its ports forbid that."""
    net = ipam.network(subnet["cidr"])
    gateway = changes.get("gateway_ip", subnet["gateway_ip"])
    if gateway != subnet["gateway_ip"]:
        _check_gateway(net, gateway)
        _require_gateway_unused(state, subnet)
    if "allocation_pools" in changes:
        ranges = ipam.pools(changes["allocation_pools"])
        changes = {**changes, "allocation_pools": [pool.document() for pool in ranges]}
    else:
        ranges = ipam.pools(subnet["allocation_pools"])
    ipam.check_pools(net, gateway, ranges)
    _check_routes(net, changes.get("host_routes", []))
    changed = state.update(KIND, subnet, changes)
    for port_id in set(state.addresses(subnet["id"]).owners.values()):
        state.pending.port(port_id)
        port = state.get("port", port_id)
        if port["device_owner"] in ("network:router_interface", "network:router_gateway"):
            state.pending.router(port["device_id"])
    return changed


def _require_gateway_unused(state: State, subnet: Document) -> None:
    old = subnet["gateway_ip"]
    owner = None if old is None else state.addresses(subnet["id"]).owner(old)
    if owner is not None:
        raise conflict(
            "GatewayIpInUse", f"The gateway {old} of the subnet is in use by port {owner}."
        )


def delete(state: State, context: RequestContext, subnet: Document) -> None:
    """Remove a subnet; raises ApiError while ports have addresses in it."""
    for port_id in dict.fromkeys(state.addresses(subnet["id"]).owners.values()):
        port = state.get("port", port_id)
        if not is_automatic(subnet) or port["device_owner"].startswith("network:"):
            raise conflict(
                "SubnetInUse",
                f"Unable to complete operation on subnet {subnet['id']}: One or more ports have"
                " an IP allocation from this subnet.",
            )
        left = [fixed for fixed in port["fixed_ips"] if fixed["subnet_id"] != subnet["id"]]
        _set_addresses(state, port, left)
    state.delete(KIND, subnet)


def view(state: State, context: RequestContext, subnet: Document) -> Document:
    """Return the fields that the API adds to the document."""
    network = state.all("network").get(subnet["network_id"])
    return {"router:external": network is not None and network["router:external"]}

"""The ports of a server in the shapes that the compute service shows to users and guests."""

from collections.abc import Container, Sequence
from typing import Any

from localcloud.core.store import Document
from localcloud.fabric.interface import Forwarding
from localcloud.network.model import ipam
from localcloud.network.model.state import State

AddressMap = dict[str, list[dict[str, Any]]]


def addresses(state: State, ports: list[Document]) -> AddressMap:
    """Return fixed and floating addresses by the name of the network."""
    found: AddressMap = {}
    for port in ports:
        name = state.get("network", port["network_id"])["name"]
        entries = found.setdefault(name, [])
        floating = list(state.all("floatingip").find(port_id=port["id"]))
        for fixed in port["fixed_ips"]:
            entries.append(_address(port, fixed["ip_address"], "fixed"))
            entries.extend(
                _address(port, one["floating_ip_address"], "floating")
                for one in floating
                if one["fixed_ip_address"] == fixed["ip_address"]
            )
    return found


def _address(port: Document, ip: str, type_name: str) -> dict[str, Any]:
    return {
        "version": 6 if ":" in ip else 4,
        "addr": ip,
        "OS-EXT-IPS:type": type_name,
        "OS-EXT-IPS-MAC:mac_addr": port["mac_address"],
    }


def network_data(state: State, ports: list[Document]) -> dict[str, Any]:
    """Return the content of ``network_data.json`` for a server with these ports."""
    links: list[dict[str, Any]] = []
    networks: list[dict[str, Any]] = []
    resolvers: dict[str, None] = {}
    for port in ports:
        link = {
            "id": f"tap{port['id'][:11]}",
            "vif_id": port["id"],
            "type": "bridge",
            "mtu": state.get("network", port["network_id"])["mtu"],
            "ethernet_mac_address": port["mac_address"],
        }
        links.append(link)
        for fixed in port["fixed_ips"]:
            subnet = state.get("subnet", fixed["subnet_id"])
            entry = _guest_network(port, fixed, subnet)
            networks.append({"id": f"network{len(networks)}", "link": link["id"], **entry})
            resolvers.update(dict.fromkeys(subnet["dns_nameservers"]))
    services = [{"type": "dns", "address": address} for address in resolvers]
    return {"links": links, "networks": networks, "services": services}


def _guest_network(port: Document, fixed: dict[str, str], subnet: Document) -> dict[str, Any]:
    net = ipam.network(subnet["cidr"])
    routes = [
        {
            "network": str(ipam.network(route["destination"]).network_address),
            "netmask": str(ipam.network(route["destination"]).netmask),
            "gateway": route["nexthop"],
        }
        for route in subnet["host_routes"]
    ]
    if subnet["gateway_ip"]:
        any_address = "0.0.0.0" if net.version == 4 else "::"  # noqa: S104
        default = {"network": any_address, "netmask": any_address, "gateway": subnet["gateway_ip"]}
        routes.insert(0, default)
    return {
        "type": f"ipv{net.version}",
        "ip_address": fixed["ip_address"],
        "netmask": str(net.netmask),
        "routes": routes,
        "network_id": port["network_id"],
        "services": [{"type": "dns", "address": one} for one in subnet["dns_nameservers"]],
    }


def forwardings(found: Sequence[Forwarding], ids: Container[str]) -> list[dict[str, Any]]:
    """Return the forwardings of these floating IPs as users see them."""
    return [
        {
            "protocol": one.protocol,
            "host": one.host_ip,
            "port": one.host_port,
            "server_port": one.server_port,
        }
        for one in found
        if one.floating_ip_id in ids
    ]

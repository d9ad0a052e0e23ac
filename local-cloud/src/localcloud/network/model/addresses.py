"""The choice of a port's addresses in the subnets of its network."""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict, invalid
from localcloud.network.model import ipam
from localcloud.network.model.state import State

ROUTER_OWNERS = ("network:router_interface", "network:router_gateway")


def is_automatic(subnet: Document) -> bool:
    """Return whether hosts in the subnet give themselves addresses made from their MAC."""
    return subnet["ipv6_address_mode"] in ("slaac", "dhcpv6-stateless")


def _no_address(network_id: str) -> Exception:
    return conflict(
        "IpAddressGenerationFailure", f"No more IP addresses available on network {network_id}."
    )


def _serves(subnet: Document, device_owner: str) -> bool:
    types = subnet["service_types"]
    return not types or any(device_owner.startswith(type_name) for type_name in types)


class Assignment:
    """The addresses of one port, as they are being chosen."""

    def __init__(self, state: State, network_id: str, mac: str, device_owner: str) -> None:
        self._state = state
        self._network_id = network_id
        self._mac = mac
        self._device_owner = device_owner
        self._subnets = state.subnets(network_id)
        self._held: set[tuple[str, str]] = set()
        self.chosen: list[dict[str, str]] = []

    def keep(self, fixed_ips: Iterable[dict[str, str]]) -> None:
        """Note the addresses that the port has already and may have again."""
        self._held = {(f["subnet_id"], f["ip_address"]) for f in fixed_ips}

    def default(self) -> None:
        """Choose one address of each IP version that the network has, and all automatic ones."""
        for version in (4, 6):
            pooled = [
                s
                for s in self._subnets
                if s["ip_version"] == version
                and not is_automatic(s)
                and _serves(s, self._device_owner)
            ]
            if pooled and not any(self._from_pool(subnet) for subnet in pooled):
                raise _no_address(self._network_id)
        self.automatic()

    def automatic(self) -> None:
        """Choose the addresses made from the MAC in all subnets that have such, once."""
        have = {fixed["subnet_id"] for fixed in self.chosen}
        for subnet in self._subnets:
            if is_automatic(subnet) and subnet["id"] not in have:
                self._add(subnet, ipam.eui64(ipam.network(subnet["cidr"]), self._mac))

    def requested(self, wishes: list[dict[str, Any]]) -> None:
        """Choose the requested addresses, explicit ones first; raises ApiError."""
        for wish in wishes:
            if "ip_address" in wish:
                self._explicit(wish["ip_address"], wish.get("subnet_id"))
        for wish in wishes:
            if "ip_address" not in wish:
                if "subnet_id" not in wish:
                    raise invalid("IP allocation requires subnet_id or ip_address.")
                self._in_subnet(self._subnet(wish["subnet_id"]))

    def _subnet(self, object_id: str) -> Document:
        for subnet in self._subnets:
            if subnet["id"] == object_id:
                return subnet
        self._state.get("subnet", object_id)
        raise invalid(f"Subnet {object_id} is not one of network {self._network_id}.")

    def _explicit(self, address: str, subnet_id: str | None) -> None:
        if subnet_id is not None:
            subnet = self._subnet(subnet_id)
        else:
            found = [s for s in self._subnets if _inside(s, address)]
            if not found:
                raise bad_request(
                    f"IP address {address} is not a valid IP for any of the subnets on the"
                    " specified network.",
                    "InvalidIpForNetwork",
                )
            subnet = found[0]
        if not _inside(subnet, address) or _reserved(subnet, address):
            raise bad_request(
                f"IP address {address} is not a valid IP for the specified subnet.",
                "InvalidIpForSubnet",
            )
        held = (subnet["id"], address) in self._held
        router = self._device_owner in ROUTER_OWNERS
        automatic = (
            ipam.eui64(ipam.network(subnet["cidr"]), self._mac) if is_automatic(subnet) else ""
        )
        if is_automatic(subnet) and not held and not router and address != automatic:
            raise bad_request(
                f"Addresses in subnet {subnet['id']} are made from the MAC, {address} is not.",
                "AllocationOnAutoAddressSubnet",
            )
        self._add(subnet, address)

    def _in_subnet(self, subnet: Document) -> None:
        for kept_subnet, address in sorted(self._held):
            fixed = {"subnet_id": kept_subnet, "ip_address": address}
            if kept_subnet == subnet["id"] and fixed not in self.chosen:
                self._add(subnet, address)
                return
        if is_automatic(subnet) and self._device_owner not in ROUTER_OWNERS:
            self._add(subnet, ipam.eui64(ipam.network(subnet["cidr"]), self._mac))
        elif not self._from_pool(subnet):
            raise _no_address(self._network_id)

    def _from_pool(self, subnet: Document) -> bool:
        mine = {f["ip_address"] for f in self.chosen if f["subnet_id"] == subnet["id"]}
        address = self._state.addresses(subnet["id"]).next_free(mine)
        if address is not None:
            self.chosen.append({"subnet_id": subnet["id"], "ip_address": address})
        return address is not None

    def _add(self, subnet: Document, address: str) -> None:
        fixed = {"subnet_id": subnet["id"], "ip_address": address}
        taken = self._state.addresses(subnet["id"]).owner(address) is not None
        if fixed in self.chosen or (taken and (subnet["id"], address) not in self._held):
            raise conflict(
                "IpAddressAlreadyAllocated",
                f"IP address {address} already allocated in subnet {subnet['id']}",
            )
        self.chosen.append(fixed)


def _inside(subnet: Document, address: str) -> bool:
    found = ip_address(address)
    return bool(found.version == subnet["ip_version"] and found in ipam.network(subnet["cidr"]))


def _reserved(subnet: Document, address: str) -> bool:
    return ip_address(address) not in ipam.host_range(ipam.network(subnet["cidr"]))

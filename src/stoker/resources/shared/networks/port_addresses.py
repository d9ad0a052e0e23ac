"""Removes the addresses of a port temporarily, and restores them.

Neutron refuses to change an address that has a floating IP. So floating IPs are disassociated first
and associated last.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS, PORTS

# Bytes in the middle of an interface identifier that was derived from a MAC address.
_OF_HARDWARE_ADDRESS = b"\xff\xfe"
# Saved addresses: ``fixed_ips``, and ``floating_ips`` (floating IP -> fixed address).
Freed = Mapping[str, Any]


LEADS = "floating IP association"


def association_part(floating_ip: str) -> str:
    """Return the shared part for the association of a floating IP, with any port."""
    return f"{LEADS} {floating_ip}"


def associations(cloud: Any, floating_ip: str) -> list[str]:
    """Return the association of a floating IP as ``<floating IP>:<port>``, if it has one."""
    found = FLOATING_IPS.find(cloud, floating_ip) or {}
    return [f"{floating_ip}:{found['port_id']}"] if found.get("port_id") else []


def addresses_of(cloud: Any, port: Object) -> Freed:
    """Return the addresses of a port. Store them before calling :func:`free_addresses`."""
    leading = FLOATING_IPS.select(cloud, port_id=port["id"])
    return {
        "fixed_ips": [
            {"subnet_id": item["subnet_id"], "ip_address": item["ip_address"]}
            for item in port.get("fixed_ips") or []
        ],
        "floating_ips": {item["id"]: item.get("fixed_ip_address") for item in leading},
    }


def free_addresses(cloud: Any, port_id: str, freed: Freed) -> None:
    """Remove all addresses from a port. Safe to repeat; a deleted port is fine."""
    port = PORTS.find(cloud, port_id)
    if port is None or not port.get("fixed_ips"):
        return
    for floating_ip in freed["floating_ips"]:
        found = FLOATING_IPS.find(cloud, floating_ip)
        if found is not None and found.get("port_id") == port_id:
            FLOATING_IPS.update(cloud, floating_ip, {"port_id": None})
    PORTS.update(cloud, port_id, {"fixed_ips": []})


def give_addresses_back(cloud: Any, port_id: str, freed: Freed) -> None:
    """Restore the addresses of a port. Safe to repeat.

    A floating IP that was associated with another port in the meantime stays there.
    """
    port = PORTS.find(cloud, port_id)
    if port is None:
        return
    if not port.get("fixed_ips"):
        PORTS.update(cloud, port_id, {"fixed_ips": freed["fixed_ips"]})
    for floating_ip, address in freed["floating_ips"].items():
        found = FLOATING_IPS.find(cloud, floating_ip)
        if found is not None and not found.get("port_id"):
            body = {"port_id": port_id, "fixed_ip_address": address}
            FLOATING_IPS.update(cloud, floating_ip, body)


def is_derived(address: str) -> bool:
    """Return whether an IPv6 address was derived from the port's MAC address.

    Neutron assigns such addresses to every port in a SLAAC subnet, requested or not.
    """
    return ip_address(address).packed[11:13] == _OF_HARDWARE_ADDRESS

"""Takes the addresses of a port away for a while, and gives them back.

The network service refuses to change addresses that have floating IPs, so those are removed first
and restored last.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import FLOATING_IPS, PORTS

_OF_HARDWARE_ADDRESS = b"\xff\xfe"
"""In the middle of an interface identifier that was made of a hardware address."""
Freed = Mapping[str, Any]
"""``fixed_ips`` of a port, and ``floating_ips``: floating IP -> address that it led to."""


LEADS = "floating IP association"
"""The kind of parts that associations of floating IPs are."""


def association_part(floating_ip: str) -> str:
    """The association of a floating IP, whichever port it leads to."""
    return f"{LEADS} {floating_ip}"


def associations(cloud: Any, floating_ip: str) -> list[str]:
    """The association of a floating IP, as ``<floating IP>:<port>``, if it has one."""
    found = FLOATING_IPS.find(cloud, floating_ip) or {}
    return [f"{floating_ip}:{found['port_id']}"] if found.get("port_id") else []


def addresses_of(cloud: Any, port: Object) -> Freed:
    """What must be stored before :func:`free_addresses` is called."""
    leading = FLOATING_IPS.select(cloud, port_id=port["id"])
    return {
        "fixed_ips": [
            {"subnet_id": item["subnet_id"], "ip_address": item["ip_address"]}
            for item in port.get("fixed_ips") or []
        ],
        "floating_ips": {item["id"]: item.get("fixed_ip_address") for item in leading},
    }


def free_addresses(cloud: Any, port_id: str, freed: Freed) -> None:
    """Take all addresses from a port. Safe to repeat; a port that is gone is fine."""
    port = PORTS.find(cloud, port_id)
    if port is None or not port.get("fixed_ips"):
        return
    for floating_ip in freed["floating_ips"]:
        found = FLOATING_IPS.find(cloud, floating_ip)
        if found is not None and found.get("port_id") == port_id:
            FLOATING_IPS.update(cloud, floating_ip, {"port_id": None})
    PORTS.update(cloud, port_id, {"fixed_ips": []})


def give_addresses_back(cloud: Any, port_id: str, freed: Freed) -> None:
    """Restore the addresses. Safe to repeat; a floating IP that has moved elsewhere stays there."""
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
    """Return whether the service has made an IPv6 address of the port's hardware address.

    It gives such addresses to every port of a network with SLAAC, asked or not.
    """
    return ip_address(address).packed[11:13] == _OF_HARDWARE_ADDRESS

"""Ports that prevent the deletion of a network, a subnet or a security group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import PORTS
from stoker.schema.resource_type import Call, ObjectUser

# Ports with these owners are deleted with the network.
_OWN = frozenset({"network:dhcp", "network:distributed"})


def ports_in_network(call: Call) -> Sequence[ObjectUser]:
    """Return the ports of a network."""
    return _users(PORTS.select(call.cloud, network_id=call.object_id))


def ports_in_subnet(call: Call) -> Sequence[ObjectUser]:
    """Return the ports with an address of a subnet."""
    return _users(PORTS.select(call.cloud, fixed_ips=f"subnet_id={call.object_id}"))


def ports_with_group(call: Call) -> Sequence[ObjectUser]:
    """Return the ports with a security group."""
    ports = PORTS.select(call.cloud, security_groups=call.object_id)
    # Older services ignore the filter.
    return _users(each for each in ports if call.object_id in (each.get("security_groups") or ()))


def _users(ports: Iterable[Object]) -> Sequence[ObjectUser]:
    return [
        ObjectUser(_words(port), tuple(filter(None, (port["id"], port.get("device_id")))))
        for port in ports
        if port.get("device_owner") not in _OWN
    ]


def _words(port: Object) -> str:
    owner = f" of {port['device_id']}" if port.get("device_id") else ""
    return f"the port {port['id']}{owner}"

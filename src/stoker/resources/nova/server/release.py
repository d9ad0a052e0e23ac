"""Releases ports, addresses and volumes of a server for its replacement, and reclaims them.

A port, a fixed address and most volumes belong to one server at a time. Before the replacement is
created, named ports and volumes are detached, and own ports lose the addresses that the user chose.
The state before is recorded first, so that a rollback can restore it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collections import PORTS, SERVERS
from stoker.resources.base.rest import polling_pause
from stoker.resources.nova.server.interfaces import attach, detach, ports_of, unbind
from stoker.resources.nova.server.ports import nics, own_ports
from stoker.resources.nova.server.states import TASK
from stoker.resources.nova.server.volumes import held_volumes, let_go_of, take_again
from stoker.resources.shared.networks.port_addresses import (
    addresses_of,
    free_addresses,
    give_addresses_back,
)
from stoker.schema.resource_type import Call, Done, Outcome, Wait

RELEASED = "released"  # Key of the data: port -> None, or for an own port its previous addresses.
VOLUMES = "released_volumes"  # Key of the data: volume -> device.
_ASKED = "asked_to_detach"
_DETACHES = frozenset({"ACTIVE", "PAUSED", "SHUTOFF"})


def release(call: Call) -> Outcome:
    """Record the ports, addresses and volumes, then release them."""
    if RELEASED not in call.data:
        held, volumes = _held(call), held_volumes(call)
        if not held and not volumes:
            return Done()
        return Wait(after=0.0, data={**call.data, RELEASED: held, VOLUMES: volumes})
    held = call.data[RELEASED]
    left = _leave(call, held)
    if left:
        reason = f"waiting until the server has detached {', '.join(sorted(left))}"
        return Wait(polling_pause(call), data={**call.data, _ASKED: left}, reason=reason)
    for port_id, addresses in held.items():
        if addresses:
            free_addresses(call.cloud, port_id, addresses)
    still = let_go_of(call, call.data.get(VOLUMES, {})) if call.physical_id else []
    if still:
        reason = f"waiting until the server has detached {', '.join(sorted(still))}"
        return Wait(polling_pause(call), reason=reason)
    return Done()


def reclaim(call: Call) -> Outcome:
    """Restore the addresses, and attach ports and volumes again."""
    apart = (RELEASED, VOLUMES, _ASKED)
    data = {key: value for key, value in call.data.items() if key not in apart}
    if SERVERS.find(call.cloud, call.object_id) is None:
        return Done(data=data)
    tags = {
        str(nic.entry.get("port")): nic.entry.get("tag")
        for nic in nics(call.properties.get("networks"))
    }
    for port_id, addresses in call.data.get(RELEASED, {}).items():
        port = PORTS.find(call.cloud, port_id)
        if port is None:
            continue
        if addresses:
            give_addresses_back(call.cloud, port_id, addresses)
        if port.get("device_id") != call.object_id:
            attach(call, port_id, tags.get(port_id))
    missing = take_again(call, call.data.get(VOLUMES, {}))
    if missing:
        reason = f"waiting until the server has {', '.join(sorted(missing))} again"
        return Wait(polling_pause(call), reason=reason)
    return Done(data=data)


def _held(call: Call) -> dict[str, Any]:
    entries = [nic.entry for nic in nics(call.properties.get("networks"))]
    named = {entry["port"] for entry in entries if entry.get("port")}
    chosen = {entry["fixed_ip"] for entry in entries if entry.get("fixed_ip")}
    if not named and not chosen:
        return {}
    own = {port["id"]: port for port in own_ports(call).values()}
    present = {port["id"]: port for port in ports_of(call)} if call.physical_id else {}
    held: dict[str, Any] = {}
    for port_id, port in {**present, **own}.items():
        if named & {port_id, port.get("name")}:
            held[port_id] = None
        elif port_id in own and any(
            item["ip_address"] in chosen for item in port.get("fixed_ips") or []
        ):
            held[port_id] = addresses_of(call.cloud, port)
    return held


def _leave(call: Call, held: Mapping[str, Any]) -> Mapping[str, float | None]:
    """Detach ports; return those that are still attached."""
    if call.physical_id is None:
        return {}
    server = SERVERS.find(call.cloud, call.physical_id) or {}
    busy = server.get(TASK) or server.get("status") == "BUILD"
    if not busy and server.get("status") not in _DETACHES:
        for port_id in held:
            # Nova detaches nothing from a server in this status, so clear the device in Neutron.
            port = PORTS.find(call.cloud, port_id)
            if port is not None and port.get("device_id") == call.physical_id:
                unbind(call, port_id)
        return {}
    if busy:
        return dict.fromkeys(held, None)
    return detach(call, held, call.data.get(_ASKED, {}))

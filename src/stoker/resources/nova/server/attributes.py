"""Reads attributes and properties of live servers.

User data, files and scheduler hints are not among the properties: Nova does not show them,
or only to administrators.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from stoker.clouds.faults import CloudError
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import IMAGES, NETWORKS, PORTS, SERVERS, SUBNETS
from stoker.clouds.objects.security_groups import named_groups
from stoker.resources.base.rest import MARKER
from stoker.resources.nova.server.networks import attached_ports, live_networks
from stoker.resources.nova.server.states import ACTIVE, GONE
from stoker.resources.shared.text_values import as_texts
from stoker.schema.resource_type import Call
from stoker.schema.software import POLLING_METADATA

_CONSOLES = "2.6"
_TAGS = "2.26"
# Property -> field.
_PLAIN = {"name": "name", "key_name": "key_name", "diskConfig": "OS-DCF:diskConfig"}
_CONSOLE_KINDS = (
    ("novnc", "vnc"),
    ("spice-html5", "spice"),
    ("serial", "serial"),
    ("rdp-html5", "rdp"),
    ("webmks", "mks"),
)


def read_attributes(call: Call) -> dict[str, Any]:
    """Return all attributes of the server, ``show`` included."""
    server = SERVERS.get(call.cloud, call.object_id, microversion=_TAGS)
    addresses: Mapping[str, list[Object]] = server.get("addresses") or {}
    ids = _network_ids(call, addresses)
    plain = {name: [item["addr"] for item in items] for name, items in addresses.items()}
    return {
        "name": server.get("name"),
        "networks": _also_by_id(plain, ids),
        "addresses": _also_by_id(_with_ports(call, addresses), ids),
        "first_address": next((item["addr"] for items in addresses.values() for item in items), ""),
        "instance_name": server.get("OS-EXT-SRV-ATTR:instance_name"),
        "accessIPv4": server.get("accessIPv4", ""),
        "accessIPv6": server.get("accessIPv6", ""),
        "console_urls": _consoles(call, server),
        "os_collect_config": call.data.get(POLLING_METADATA, {}).get("os-collect-config", {}),
        "tags": [tag for tag in server.get("tags") or [] if not tag.startswith(MARKER)],
        "show": server,
    }


def _also_by_id(by_name: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """Return the entries under the names of networks, and again under their ids."""
    by_id = {ids[name]: items for name, items in by_name.items() if name in ids}
    return {**by_name, **by_id}


def _network_ids(call: Call, addresses: Mapping[str, Any]) -> dict[str, str]:
    ids = {}
    for name in addresses:
        found = NETWORKS.named(call.cloud, name)
        # Names of networks are not unique. Two networks of one name have no entry under their ids.
        if len(found) == 1:
            ids[name] = str(found[0]["id"])
    return ids


def _with_ports(call: Call, addresses: Mapping[str, list[Object]]) -> dict[str, list[Object]]:
    """Return the addresses, each with its port, subnets and network."""
    ports = PORTS.select(call.cloud, device_id=call.physical_id)
    by_mac = {str(port.get("mac_address")): port for port in ports}
    network, subnet = (cache(partial(each.find, call.cloud)) for each in (NETWORKS, SUBNETS))

    def extended(item: Object) -> Object:
        port = by_mac.get(str(item.get("OS-EXT-IPS-MAC:mac_addr")))
        if port is None:
            return {**item, "port": None, "subnets": None, "network": None}
        subnets = [subnet(address["subnet_id"]) for address in port.get("fixed_ips") or []]
        return {
            **item,
            "port": port["id"],
            "subnets": subnets,
            "network": network(port["network_id"]),
        }

    return {name: [extended(item) for item in items] for name, items in addresses.items()}


def _consoles(call: Call, server: Mapping[str, Any]) -> dict[str, str]:
    """Return the URL of the first type of console that the cloud offers, by type."""
    if server.get("status") != ACTIVE:
        return {}
    path = SERVERS.at(call.object_id, "/remote-consoles")
    for kind, protocol in _CONSOLE_KINDS:
        body = {"remote_console": {"protocol": protocol, "type": kind}}
        try:
            answer = SERVERS.ask(call.cloud, "POST", path, json=body, microversion=_CONSOLES)
        # Each cloud offers only some types of consoles, and refuses the others.
        except CloudError:
            continue
        return {kind: str(answer.get("remote_console", {}).get("url", ""))}
    return {}


def live_properties(call: Call) -> Mapping[str, Any] | None:
    """Return the properties of the live server; None if it does not exist."""
    server = SERVERS.find(call.cloud, call.object_id, microversion=_TAGS)
    if server is None or server.get("status") in GONE:
        return None
    specified = call.properties
    observed = {name: server[field] for name, field in _PLAIN.items() if field in server}
    observed["metadata"] = _as_specified(specified.get("metadata"), server.get("metadata") or {})
    for name in ("flavor", "image"):
        if server.get(name):
            observed[name] = server[name]["id"]
    if observed.get("image") != specified.get("image") and _is_restored(
        call, observed.get("image")
    ):
        del observed["image"]
    if "tags" in server:
        observed["tags"] = [tag for tag in server["tags"] if not tag.startswith(MARKER)]
    if specified.get("config_drive"):
        observed["config_drive"] = bool(server.get("config_drive"))
    if specified.get("availability_zone") and server.get("OS-EXT-AZ:availability_zone"):
        observed["availability_zone"] = _zone(specified, server)
    if specified.get("networks") is not None:
        observed["networks"] = live_networks(call)
    if specified.get("security_groups"):
        observed |= _groups(call)
    return observed


def _is_restored(call: Call, image_id: Any) -> bool:
    """Return whether the image comes from a restore, which is not drift.

    It is an image of a server, or was deleted in the meantime.
    """
    if image_id is None:
        return False
    image = IMAGES.find(call.cloud, str(image_id))
    return image is None or image.get("image_type") == "snapshot"


def _as_specified(
    specified: Mapping[str, Any] | None, present: Mapping[str, str]
) -> Mapping[str, Any]:
    return specified if specified is not None and as_texts(specified) == present else present


def _zone(specified: Mapping[str, Any], server: Object) -> str:
    """Return the zone. Users may also have named a host in it, as ``zone:host``."""
    desired, zone = str(specified["availability_zone"]), str(server["OS-EXT-AZ:availability_zone"])
    return desired if desired.partition(":")[0] == zone else zone


def _groups(call: Call) -> dict[str, Any]:
    """Return the security groups of the server's own ports; nothing without such ports."""
    ports = [
        port for port in attached_ports(call) if port.get("port_security_enabled") is not False
    ]
    found = sorted({group for port in ports for group in port.get("security_groups") or []})
    if not ports:
        return {}
    specified = call.properties["security_groups"]
    return {"security_groups": named_groups(call.cloud, specified, found)}

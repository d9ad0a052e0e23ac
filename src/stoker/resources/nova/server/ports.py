"""The ports of a server: those that the user names, and the server's own.

For each entry of ``networks`` with a network or subnet, a port is created here and not by Nova. So
its address is known immediately, it survives a rebuild, and a floating IP can be associated with
it. Its name contains the name of the server and the key of the entry, its description the server's
marker. So a repeated create finds the ports of the first attempt and uses them again.

Tested by tests/resource_types_openstack/test_server_networks.py.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.clouds.faults import CloudError, describe, is_conflict
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS, PORTS, SUBNETS
from stoker.clouds.objects.security_groups import group_ids
from stoker.clouds.objects.server_ports import is_for_server
from stoker.kernel.errors import RequestError
from stoker.resources.base.declare import records_in
from stoker.resources.base.rest import marker_text, rename_fields
from stoker.schema.quotas import FLAVOR
from stoker.schema.resource_type import Call

# Fields of an unused port. Members cannot delete one that belongs to a server.
UNBOUND = {"device_id": "", "device_owner": ""}
EXTRA_FIELDS = {"qos_policy": "qos_policy_id"}  # Property of a port -> field, where they differ.
_IDENTITY = ("network", "subnet", "fixed_ip", "port")
# Key of the data under which Heat lists the ports that it created, as JSON.
_LISTED = "internal_ports"


class Nic(Struct, frozen=True):
    """One entry of a server's networks."""

    key: str  # Digest of what cannot change on a port: equal keys mean the same port.
    entry: Mapping[str, Any]

    @property
    def is_own(self) -> bool:
        """Return whether the port is created for the server."""
        return not self.entry.get("port")


def allocation(networks: Sequence[Mapping[str, Any]] | None) -> str | None:
    """Return ``auto`` or ``none`` if the user leaves the networks to Nova, otherwise None."""
    for entry in networks or ():
        if entry.get("allocate_network"):
            return str(entry["allocate_network"])
    return None


def nics(networks: Sequence[Mapping[str, Any]] | None) -> list[Nic]:
    """Return the entries that stand for ports, in order."""
    if allocation(networks) is not None:
        return []
    seen: Counter[str] = Counter()
    found = []
    for entry in networks or ():
        extra = entry.get("port_extra_properties") or {}
        identity = [entry.get(name) for name in _IDENTITY] + [extra.get("mac_address")]
        text = json.dumps(identity)
        # Entries may be equal, as for two ports on one network, so count them.
        seen[text] += 1
        digest = hashlib.sha256(f"{text}{seen[text]}".encode()).hexdigest()[:8]
        found.append(Nic(digest, entry))
    return found


def quota_use(properties: Mapping[str, Any]) -> Mapping[str, int]:
    """Return one server of its flavor, and its own ports."""
    use = {"compute/instances": 1}
    flavor = properties.get("flavor")
    if isinstance(flavor, str):
        use[f"{FLAVOR}/{flavor}"] = 1
    use["network/port"] = sum(
        not each.get("port") for _, each in records_in(properties.get("networks"))
    )
    return use


def claim_listed_ports(call: Call) -> None:
    """Mark the ports that Heat created for the server. Do so while they name it as their device."""
    if _listed(call.data.get(_LISTED)):
        own_ports(call)


def own_ports(call: Call) -> dict[str, Object]:
    """Return the ports that were created for this server, by name."""
    own = _marked_ports(call)
    if _listed(call.data.get(_LISTED)) - {port["id"] for port in own.values()}:
        claim_ports(call)
        own = _marked_ports(call)
    return own


def _marked_ports(call: Call) -> dict[str, Object]:
    listed = PORTS.select(call.cloud, description=marker_text(call))
    return {port["name"]: port for port in listed if port.get("description") == marker_text(call)}


def port_name(call: Call, nic: Nic) -> str:
    """Return the name of the port for an entry."""
    return f"{call.physical_name}-port-{nic.key}"


def ensure_ports(
    call: Call, desired: Sequence[Nic], apart: Collection[str] = frozenset()
) -> list[str]:
    """Return the ports of the entries, in order; create missing ones. Safe to repeat.

    ``apart`` are ports that belong to other entries, whatever their names.
    """
    makes_ports = any(nic.is_own for nic in desired)
    present = own_ports(call) if makes_ports else {}
    present = {name: port for name, port in present.items() if port["id"] not in apart}
    groups = call.properties.get("security_groups")
    group_list = group_ids(call.cloud, groups) if groups and makes_ports else None
    ids = []
    for nic in desired:
        if not nic.is_own:
            ids.append(str(nic.entry["port"]))
            continue
        port = present.get(port_name(call, nic))
        if port is None:
            port = _make_port(call, _port_body(call, nic, group_list))
        ids.append(str(port["id"]))
    return ids


def _make_port(call: Call, body: Object) -> Object:
    try:
        return PORTS.create(call.cloud, body)
    except CloudError as fault:
        if is_conflict(fault):
            raise RequestError(describe(fault)) from fault  # A quota, or an occupied address.
        raise


def _port_body(call: Call, nic: Nic, groups: list[str] | None) -> Object:
    entry, extra = nic.entry, nic.entry.get("port_extra_properties") or {}
    network = entry.get("network") or SUBNETS.get(call.cloud, entry["subnet"])["network_id"]
    body: Object = {
        "name": port_name(call, nic),
        "description": marker_text(call),
        "network_id": network,
    }
    chosen = {name: entry.get(name) or None for name in ("subnet", "fixed_ip")}
    address = rename_fields(chosen, {"subnet": "subnet_id", "fixed_ip": "ip_address"})
    if extra.get("no_fixed_ips"):
        body["fixed_ips"] = []
    elif address:
        body["fixed_ips"] = [address]
    if groups is not None and extra.get("port_security_enabled") is not False:
        body["security_groups"] = groups
    return {**body, **extra_fields(extra)}


def extra_fields(extra: Mapping[str, Any]) -> Object:
    """Return the fields for ``port_extra_properties``."""
    apart = {"no_fixed_ips", "value_specs"}
    own = {name: value for name, value in extra.items() if name not in apart}
    body = rename_fields(own, EXTRA_FIELDS)
    if "allowed_address_pairs" in body:
        body["allowed_address_pairs"] = [
            rename_fields(pair) for pair in body["allowed_address_pairs"]
        ]
    return {**body, **(extra.get("value_specs") or {})}


def delete_own_ports(call: Call) -> None:
    """Delete the server's own ports, including ones that the user now names as entries."""
    entries = nics(call.properties.get("networks"))
    if not entries:
        return
    ports = list(own_ports(call).values())
    named = (str(nic.entry["port"]) for nic in entries if not nic.is_own)
    ports += [port for name in named if (port := PORTS.find(call.cloud, name)) and _is_made(port)]
    for port in ports:
        # A port that was given to the replacement by its id is deleted with that server.
        if port.get("device_id") in (None, "", call.physical_id):
            # Members cannot delete a port while it names a server as its device.
            if port.get("device_id"):
                PORTS.update(call.cloud, port["id"], UNBOUND)
            PORTS.delete(call.cloud, port["id"])


def _is_made(port: Object) -> bool:
    """Return whether a port was created for this server, or for one that it replaced."""
    return is_for_server(port)


def claim_ports(call: Call) -> None:
    """Mark the ports that were created for a server from Heat with the token of its resource.

    Only attached ports are updated: those that an earlier resource marked, and those that Heat
    lists in the adopted data. Safe to repeat.
    """
    if call.physical_id is None:
        return
    entries = nics(call.properties.get("networks"))
    named = {str(nic.entry["port"]) for nic in entries if not nic.is_own}
    listed, free = _listed(call.data.get(_LISTED)), [nic for nic in entries if nic.is_own]
    for port in sorted(
        PORTS.select(call.cloud, device_id=call.physical_id), key=lambda port: str(port["id"])
    ):
        if port["id"] in named or not (_is_made(port) or port["id"] in listed):
            continue
        fields: Object = {"description": marker_text(call)}
        nic = _entry_of(port, free)
        if nic is not None:
            free.remove(nic)
            fields["name"] = port_name(call, nic)
        PORTS.update(call.cloud, port["id"], fields)


def _listed(text: Any) -> set[str]:
    """Return the port ids in a list from Heat; an empty set for anything else."""
    try:
        entries = json.loads(text) if isinstance(text, str) else []
    except (ValueError, RecursionError):
        return set()
    known = entries if isinstance(entries, list) else []
    return {str(entry.get("id")) for entry in known if isinstance(entry, dict)}


def _entry_of(port: Object, free: list[Nic]) -> Nic | None:
    """Return the entry for an existing port, by its key or else by its network and address."""
    name = str(port.get("name", ""))
    for nic in free:
        if name.endswith(f"-port-{nic.key}"):
            return nic
    addresses = port.get("fixed_ips") or []
    subnets = {item.get("subnet_id") for item in addresses}
    chosen = {item.get("ip_address") for item in addresses}
    for nic in free:
        comparisons = (
            (nic.entry.get("network"), {port.get("network_id")}),
            (nic.entry.get("subnet"), subnets),
            (nic.entry.get("fixed_ip"), chosen),
        )
        if all(requested in found for requested, found in comparisons if requested):
            return nic
    return None


def has_addresses(networks: Sequence[Mapping[str, Any]] | None, server: Mapping[str, Any]) -> bool:
    """Return whether a server that is being built shows the final addresses of all its ports.

    Nova binds the ports early in a build. Addresses of networks that Nova chooses are not known to
    be complete, and floating IPs of entries are associated at the end.
    """
    desired = nics(networks)
    if server.get("status") != "BUILD" or any(nic.entry.get("floating_ip") for nic in desired):
        return False
    shown = (server.get("addresses") or {}).values()
    macs = {item.get("OS-EXT-IPS-MAC:mac_addr") for items in shown for item in items}
    return 0 < len(desired) <= len(macs)


def lead_floating_ips(call: Call, desired: Sequence[Nic], ports: Sequence[str]) -> None:
    """Associate floating IPs with the ports of their entries. Safe to repeat."""
    for nic, port in zip(desired, ports, strict=True):
        if nic.entry.get("floating_ip"):
            FLOATING_IPS.update(call.cloud, nic.entry["floating_ip"], {"port_id": port})


class HoldsPorts:
    """A type whose objects use the ports in their property ``networks``."""

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the named ports, with words for messages: only one resource can have each."""
        networks = properties.get("networks")
        entries = networks if isinstance(networks, list) else []
        ports = [each.get("port") for each in entries if isinstance(each, Mapping)]
        return {f"port {port}": f"the port {port}" for port in ports if isinstance(port, str)}

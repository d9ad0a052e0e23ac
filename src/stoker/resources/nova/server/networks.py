"""Updates the networks of a server.

Entries of ``networks`` and the attached ports go in. Ports that match an entry stay attached, with
their addresses, even if the entry was written in another form before. Ports that match no entry are
detached first, so that their addresses are free for the new ones. Each call makes one step and
returns ``Wait``, or None when the networks are as desired.

Called by :mod:`stoker.resources.nova.server.changes`. Tested by
tests/resource_types_openstack/test_server_networks.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import FLOATING_IPS, PORTS
from stoker.resources.base.declare import records_in
from stoker.resources.base.network_faults import AddressRequest, RequestsFixedAddresses
from stoker.resources.base.network_order import Others, subnets_of
from stoker.resources.base.rest import marker_text, polling_pause
from stoker.resources.nova.server.interfaces import attach, detach, ports_of, tags_of
from stoker.resources.nova.server.ports import (
    EXTRA_FIELDS,
    Nic,
    allocation,
    ensure_ports,
    extra_fields,
    lead_floating_ips,
    nics,
    own_ports,
    port_name,
)
from stoker.resources.shared.networks.port_addresses import LEADS, association_part
from stoker.schema.resource_type import Call, Outcome, Wait


def subnets_needed(networks: Any, others: Others) -> frozenset[str]:
    """Return the subnets on which the server's own ports get addresses."""
    dependencies: set[str] = set()
    for _, entry in records_in(networks):
        if not entry.get("port"):
            dependencies |= subnets_of(entry.get("network") or entry.get("uuid"), others)
    return frozenset(dependencies)


class RequestsOwnAddresses(RequestsFixedAddresses):
    """Finds the faults of the fixed addresses of a server's own ports."""

    def address_requests(self, properties: Mapping[str, Any]) -> Iterable[AddressRequest]:
        """Yield the requested fixed addresses."""
        for index, entry in records_in(properties.get("networks")):
            path = ("networks", index, "fixed_ip")
            network = entry.get("network") or entry.get("uuid")
            yield AddressRequest(path, network, entry.get("subnet"), entry.get("fixed_ip"))


class _Present(Struct, frozen=True):
    """The ports that the server has now."""

    attached: Mapping[str, Object]
    own: Mapping[str, Object]  # created for it, attached or not
    tags: Mapping[str, str]
    # The previous networks were empty, so Nova chose a network and created a port.
    chosen_by_cloud: bool

    @property
    def changeable(self) -> Mapping[str, Object]:
        """Return the ports that no other object uses."""
        return {**self.own, **self.attached} if self.chosen_by_cloud else self.own


def set_networks(call: Call, _asked: bool) -> Outcome | None:
    """Detach, create and attach ports as needed; None when the networks are as desired."""
    desired = nics(call.properties.get("networks"))
    present = _present(call, desired, call.update.previous.get("networks"))
    matched = _matched(call, desired, present)
    leaving = _leaving(call, present, set(matched.values()))
    left = detach(call, leaving, call.progress.get("leaving", {}))
    if left:
        reason = f"waiting until the server has detached {', '.join(sorted(left))}"
        return Wait(polling_pause(call), progress={"leaving": left}, reason=reason)
    ports = _ports(call, desired, matched, present)
    for nic, port_id in zip(desired, ports, strict=True):
        if port_id not in present.attached:
            attach(call, port_id, nic.entry.get("tag"))
        _adjust(call, nic, present.changeable.get(port_id))
    is_bare = not desired and not present.attached.keys() - set(leaving)
    if is_bare and allocation(call.properties.get("networks")) != "none":
        attach(call, None)
    _free_floating_ips(call, {*ports, *present.attached})
    lead_floating_ips(call, desired, ports)
    return None


class LeadsFloatingIPs:
    """A server whose networks may name floating IPs."""

    shares = frozenset({LEADS})

    def parts(self, call: Call) -> set[str]:
        """Return the associations of the floating IPs as shared parts."""
        entries = [nic.entry for nic in nics(call.properties.get("networks"))]
        named = [entry["floating_ip"] for entry in entries if entry.get("floating_ip")]
        return {association_part(floating_ip) for floating_ip in named}


def live_networks(call: Call) -> list[Mapping[str, Any]]:
    """Return the entries of the live networks. Additional ports become entries, too."""
    specified = call.properties.get("networks") or []
    desired = nics(specified)
    present = _present(call, desired, specified)
    if allocation(specified) is not None and bool(present.attached) is (
        allocation(specified) == "auto"
    ):
        return list(specified)
    matched = _matched(call, desired, present)
    entries = [
        _entry(call, nic.entry, present.attached[matched[nic.key]])
        for nic in desired
        if nic.key in matched
    ]
    others = sorted(present.attached.keys() - matched.values())
    return [*entries, *({"port": port_id} for port_id in others)]


def _entry(call: Call, specified: Mapping[str, Any], port: Object) -> Mapping[str, Any]:
    """Return an entry with the current values that others may have changed."""
    entry = dict(specified)
    if specified.get("floating_ip"):
        found = FLOATING_IPS.find(call.cloud, specified["floating_ip"])
        leads = found is not None and found.get("port_id") == port["id"]
        entry["floating_ip"] = specified["floating_ip"] if leads else None
    if specified.get("port_extra_properties"):
        names = {name: EXTRA_FIELDS.get(name, name) for name in specified["port_extra_properties"]}
        extra = {name: port[field] for name, field in names.items() if field in port}
        entry["port_extra_properties"] = {**specified["port_extra_properties"], **extra}
    return entry


def attached_ports(call: Call) -> list[Object]:
    """Return the attached ports that were created for the server."""
    present = _present(call, (), call.properties.get("networks"))
    return [port for port_id, port in present.attached.items() if port_id in present.changeable]


def _present(
    call: Call, desired: Sequence[Nic], before: Sequence[Mapping[str, Any]] | None
) -> _Present:
    tagged = any(nic.entry.get("tag") for nic in (*desired, *nics(before)))
    return _Present(
        attached={port["id"]: port for port in ports_of(call)},
        own={port["id"]: port for port in own_ports(call).values()},
        tags=tags_of(call) if tagged else {},
        chosen_by_cloud=not nics(before),
    )


def _matched(call: Call, desired: Sequence[Nic], present: _Present) -> dict[str, str]:
    """Match entries with attached ports; return the port of each entry, by its key."""
    free = dict(present.attached)
    found: dict[str, str] = {}
    for nic in sorted(desired, key=_looseness):
        fitting = [port for port in free.values() if _fits(nic.entry, port, present)]
        named = [port for port in fitting if port.get("name") == port_name(call, nic)]
        for port in (named or fitting)[:1]:
            found[nic.key] = port["id"]
            del free[port["id"]]
    return found


def _looseness(nic: Nic) -> int:
    """Return a sort key: entries that few ports can match choose first."""
    for rank, name in enumerate(("port", "fixed_ip", "subnet")):
        if nic.entry.get(name):
            return rank
    return 3


def _fits(entry: Mapping[str, Any], port: Object, present: _Present) -> bool:
    if present.tags.get(port["id"]) != (entry.get("tag") or None):
        return False
    if entry.get("port"):
        return bool(entry["port"] == port["id"])
    addresses = port.get("fixed_ips") or []
    extra = entry.get("port_extra_properties") or {}
    comparisons = (
        (entry.get("network"), {port.get("network_id")}),
        (entry.get("subnet"), {item.get("subnet_id") for item in addresses}),
        (entry.get("fixed_ip"), {item.get("ip_address") for item in addresses}),
        (extra.get("mac_address"), {port.get("mac_address")}),
    )
    if any(value and value not in specified for value, specified in comparisons):
        return False
    if extra.get("no_fixed_ips") and addresses:
        return False
    # Keep a port that the user created only if it occupies the requested address.
    return bool(port["id"] in present.changeable or entry.get("fixed_ip"))


def _leaving(call: Call, present: _Present, matched: set[str]) -> list[str]:
    """Return the ports to detach: own or named ones that no entry matches."""
    named = {str(nic.entry.get("port")) for nic in nics(call.update.previous.get("networks"))}
    networks = call.properties.get("networks")
    # Ports that Nova created are detached as soon as the user chooses networks.
    all_of_them = present.chosen_by_cloud and (nics(networks) or allocation(networks) == "none")
    return sorted(
        port_id
        for port_id in present.attached
        if port_id not in matched and (all_of_them or port_id in present.own or port_id in named)
    )


def _ports(
    call: Call, desired: Sequence[Nic], matched: Mapping[str, str], present: _Present
) -> list[str]:
    """Return the port of each entry, in order. Own ports without an entry are deleted."""
    missing = [nic for nic in desired if nic.key not in matched]
    names = {port_name(call, nic) for nic in missing}
    named = {str(nic.entry.get("port")) for nic in desired}
    stay = set(matched.values()) | named
    for port_id, port in present.own.items():
        if port_id not in stay and (port_id in present.attached or port["name"] not in names):
            PORTS.delete(call.cloud, port_id)
    ids = ensure_ports(call, missing, apart=stay)
    created = dict(zip((nic.key for nic in missing), ids, strict=True))
    return [matched.get(nic.key) or created[nic.key] for nic in desired]


def _adjust(call: Call, nic: Nic, port: Object | None) -> None:
    """Set the fields of an own port, and its name and marker."""
    if port is None or not nic.is_own:
        return
    fields = extra_fields(nic.entry.get("port_extra_properties") or {})
    fields.pop("mac_address", None)
    fields |= {"name": port_name(call, nic), "description": marker_text(call)}
    changed = {name: value for name, value in fields.items() if port.get(name) != value}
    if changed:
        PORTS.update(call.cloud, port["id"], changed)


def _free_floating_ips(call: Call, ports: set[str]) -> None:
    """Disassociate floating IPs that were only in the previous networks.

    Those that other resources of the stack associate stay.
    """
    before, now = (
        {nic.entry["floating_ip"] for nic in nics(networks) if nic.entry.get("floating_ip")}
        for networks in (call.update.previous.get("networks"), call.properties.get("networks"))
    )
    for address in sorted(before - now):
        if association_part(address) in call.shared:
            continue
        found = FLOATING_IPS.find(call.cloud, address)
        if found is not None and found.get("port_id") in ports:
            FLOATING_IPS.update(call.cloud, address, {"port_id": None})

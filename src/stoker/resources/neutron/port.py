"""OS::Neutron::Port: a port of a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import NETWORKS, PORTS, SUBNETS
from stoker.clouds.objects.security_groups import group_ids, named_groups
from stoker.clouds.objects.server_ports import is_for_server
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base.declare import records_in
from stoker.resources.base.network_faults import AddressRequest, RequestsFixedAddresses
from stoker.resources.base.network_order import NETWORK_NAMES, SUBNET_NAMES, Others, subnets_of
from stoker.resources.base.rest import Readiness, RestResource, rename_fields
from stoker.resources.neutron.port_properties import ATTRIBUTES, PROPERTIES
from stoker.resources.neutron.tags import tags_of
from stoker.resources.shared.networks.port_addresses import (
    addresses_of,
    free_addresses,
    give_addresses_back,
    is_derived,
)
from stoker.schema.resource_type import VALUES, Call, Done, Outcome, Wait
from stoker.schema.resource_type.neighbours import first_value

_APART = frozenset({"no_fixed_ips", "replacement_policy", "security_groups", "fixed_ips"})
# Key of the data: addresses of the port before they were released for a replacement.
_RELEASED = "released"


class Port(RequestsFixedAddresses, RestResource):
    """A port."""

    type_name = "OS::Neutron::Port"
    uses_early = frozenset({VALUES})
    description = "A port of a network, with its addresses and security groups."
    service = "network"
    collection = PORTS
    quota = "network/port"
    clear_values = {"port_security_enabled": True, "propagate_uplink_status": True, "dns_name": ""}
    readiness = Readiness(pending=frozenset({"BUILD"}))
    field_names = {"network": "network_id", "qos_policy": "qos_policy_id"}
    follow_up_requests = (tags_of(PORTS),)
    properties = PROPERTIES
    attributes = ATTRIBUTES

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the port's fields, except those that need a lookup in the cloud."""
        plain = {name: value for name, value in properties.items() if name not in _APART}
        body = super().fields(plain)
        if "allowed_address_pairs" in body:
            body["allowed_address_pairs"] = [
                rename_fields(pair) for pair in body["allowed_address_pairs"]
            ]
        return body

    def creation_body(self, call: Call) -> Object:
        """Return the fields of the new port."""
        body = super().creation_body(call)
        for empty in ("device_id", "device_owner"):
            if not body.get(empty):
                body.pop(empty, None)
        groups = call.properties.get("security_groups")
        if groups is not None:
            body["security_groups"] = group_ids(call.cloud, groups)
        addresses = _addresses(call.properties)
        if addresses is not None:
            body["fixed_ips"] = addresses
        return body

    def changed_fields(self, call: Call) -> Object:
        """Return the fields that an update sends; removed groups become the default group."""
        body = {
            name: value
            for name, value in super().changed_fields(call).items()
            if name not in _APART
        }
        if "allowed_address_pairs" in call.update.changed:
            body.setdefault("allowed_address_pairs", [])
            body["allowed_address_pairs"] = body["allowed_address_pairs"] or []
        if "security_groups" in call.update.changed:
            groups = call.properties.get("security_groups")
            body["security_groups"] = group_ids(
                call.cloud, ["default"] if groups is None else groups
            )
        if call.update.changed & {"fixed_ips", "no_fixed_ips"}:
            addresses = _addresses(call.properties)
            if addresses is not None:
                body["fixed_ips"] = addresses
        return body

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the port. The device is included only if the user gave it."""
        observed = super().properties_of(call, found)
        for name in ("device_id", "device_owner"):
            if not call.properties.get(name):
                observed.pop(name, None)
        groups = call.properties.get("security_groups")
        if groups is not None:
            observed["security_groups"] = named_groups(call.cloud, groups, found["security_groups"])
        addresses = [entry for entry in found["fixed_ips"] if not is_derived(entry["ip_address"])]
        observed["no_fixed_ips"] = not addresses
        observed["fixed_ips"] = [
            {"subnet": entry["subnet_id"], "ip_address": entry["ip_address"]} for entry in addresses
        ]
        return observed

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the replacement policy asks for a new port at every change."""
        return call.properties.get("replacement_policy") == "REPLACE_ALWAYS"

    def release(self, call: Call) -> Outcome:
        """Release the addresses if the user chose one, since no other port can use it."""
        port_id = call.physical_id or self.find(call)
        chosen = call.properties.get("fixed_ips") or []
        if port_id is None or not any(entry.get("ip_address") for entry in chosen):
            return Done()
        if _RELEASED not in call.data:
            port = PORTS.find(call.cloud, port_id)
            if port is None:
                return Done()
            record = addresses_of(call.cloud, port)
            return Wait(after=0.0, data={**call.data, _RELEASED: record})
        free_addresses(call.cloud, port_id, call.data[_RELEASED])
        return Done()

    def reclaim(self, call: Call) -> Outcome:
        """Restore the addresses of the port."""
        if call.physical_id is not None and _RELEASED in call.data:
            give_addresses_back(call.cloud, call.physical_id, call.data[_RELEASED])
        return Done(data={key: value for key, value in call.data.items() if key != _RELEASED})

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the port's own attributes. Network and subnets are read on demand."""
        own = super().attributes_of(call, found)
        return {name: value for name, value in own.items() if name not in {"network", "subnets"}}

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes, with the network and the subnets as objects."""
        read = dict(super().read(call))
        port = read["show"]
        ids = {address["subnet_id"] for address in port.get("fixed_ips") or []}
        found = (SUBNETS.find(call.cloud, subnet_id) for subnet_id in sorted(ids))
        read["subnets"] = [subnet for subnet in found if subnet is not None]
        read["network"] = NETWORKS.find(call.cloud, port["network_id"])
        return read

    def maker(self, shown: Mapping[str, Any]) -> str | None:
        """Return the router or service of a port that it has made, or the server of a stack."""
        owner = str(shown.get("device_owner") or "")
        if owner.startswith("network:"):
            return f"{owner.partition(':')[2]} {shown.get('device_id')}"
        if is_for_server(shown):
            return f"the server {shown.get('device_id')}, whose stack has made it"
        return None

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that ``fixed_ips`` and ``no_fixed_ips`` are not given together."""
        if properties.get("no_fixed_ips") is True and properties.get("fixed_ips"):
            message = "fixed_ips cannot be given together with no_fixed_ips"
            return [Diagnostic("invalid-port", message, ("fixed_ips",))]
        return []

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the subnets of the port's network, since the port gets an address from one of
        them."""
        return frozenset(subnets_of(first_value(properties, "network", "network_id"), others))

    def address_requests(self, properties: Mapping[str, Any]) -> Iterable[AddressRequest]:
        """Return the addresses in ``fixed_ips``."""
        network = first_value(properties, *NETWORK_NAMES)
        for index, entry in records_in(properties.get("fixed_ips")):
            subnet, address = first_value(entry, *SUBNET_NAMES), entry.get("ip_address")
            yield AddressRequest(("fixed_ips", index, "ip_address"), network, subnet, address)


def _addresses(properties: Mapping[str, Any]) -> list[Object] | None:
    """Return the requested addresses; None if the service is to choose."""
    if properties.get("no_fixed_ips"):
        return []
    desired = properties.get("fixed_ips")
    if not desired:
        return None
    return [rename_fields(entry, {"subnet": "subnet_id"}) for entry in desired]

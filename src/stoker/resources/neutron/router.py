"""OS::Neutron::Router: a router, with its gateway to an external network."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import ROUTERS
from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others, subnets_of
from stoker.resources.base.rest import Readiness, RestResource, rename_fields
from stoker.resources.neutron.agents import hosted_by
from stoker.resources.neutron.declarations import GATEWAY, IP_ADDRESS, gateway_part
from stoker.resources.neutron.tags import tags_of
from stoker.schema.properties import Attribute, Finder, Interruption, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import deprecated, hidden, since


class Router(RestResource):
    """A router."""

    type_name = "OS::Neutron::Router"
    description = "A router between subnets, and to an external network."
    service = "network"
    collection = ROUTERS
    quota = "network/router"
    shares = frozenset({GATEWAY})
    readiness = Readiness(pending=frozenset({"ALLOCATING"}))
    follow_up_requests = (
        tags_of(ROUTERS),
        hosted_by(ROUTERS, "l3_agent_ids", "l3-agents", "l3-routers"),
        hosted_by(ROUTERS, "l3_agent_id", "l3-agents", "l3-routers"),
    )

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "availability_zone_hints": declare.sequence(
            "Availability zones for the router's agents.",
            update_allowed=True,
            support=since("19.0.0"),
        ),
        "distributed": declare.boolean(
            "Whether the router is distributed over compute hosts. For administrators only.",
            support=since("2015.1"),
        ),
        "external_gateway_info": declare.mapping(
            "External gateway of the router.",
            update_allowed=True,
            interruption=Interruption("connections to external networks are interrupted"),
            entries={
                "enable_snat": declare.boolean(
                    "Whether source addresses are translated (SNAT).", update_allowed=True
                ),
                "external_fixed_ips": declare.records(
                    "Addresses of the gateway.",
                    update_allowed=True,
                    support=since("6.0.0"),
                    entries={
                        "ip_address": IP_ADDRESS,
                        "subnet": declare.by_name("neutron.subnet", "Subnet"),
                    },
                ),
                "network": declare.string(
                    "Network, by name or id.",
                    required=True,
                    update_allowed=True,
                    finder=Finder("network", "network"),
                ),
            },
        ),
        "ha": declare.boolean(
            "Whether the router is highly available. For administrators only.",
            support=since("2015.1"),
        ),
        "l3_agent_id": declare.string(
            "Agent that hosts the router.",
            update_allowed=True,
            support=hidden("6.0.0", deprecated("2015.1", was="2014.1")),
        ),
        "l3_agent_ids": declare.sequence(
            "Agents that host the router. For administrators only.",
            update_allowed=True,
            support=since("2015.1"),
            items=declare.string(),
        ),
        "name": declare.NAME,
        "tags": declare.tags("9.0.0"),
        "tenant_id": replace(declare.TENANT_ID, support=since("24.0.0")),
        "value_specs": declare.VALUE_SPECS,
    }
    attributes = {
        "admin_state_up": Attribute("Administrative state of the object.", type=Type.STRING),
        "external_gateway_info": Attribute("The router's gateway.", type=Type.MAP),
        "name": Attribute("Name of the object.", type=Type.STRING),
        "status": Attribute("Status of the object.", type=Type.STRING),
        "tenant_id": Attribute("Id of the project.", type=Type.STRING),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the router's fields, with the gateway as the service expects it."""
        body = super().fields(properties)
        if "external_gateway_info" in body:
            body["external_gateway_info"] = _gateway(body["external_gateway_info"])
        return body

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the router's fields, with the gateway in the form of properties."""
        observed = super().properties_of(call, found)
        observed["external_gateway_info"] = _gateway_info(found.get("external_gateway_info") or {})
        return observed

    def changed_fields(self, call: Call) -> Object:
        """Return the fields that an update sends; a removed gateway is cleared, unless it is a
        resource of the stack as well."""
        body = super().changed_fields(call)
        if "external_gateway_info" in body and not body["external_gateway_info"]:
            body["external_gateway_info"] = {}
            if gateway_part(call.object_id) in call.shared:
                del body["external_gateway_info"]
        return body

    def parts(self, call: Call) -> Collection[str]:
        """Return the gateway as shared part."""
        if call.physical_id is None or not call.properties.get("external_gateway_info"):
            return ()
        return {gateway_part(call.physical_id)}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the subnets of the external network, since the gateway gets an address from
        them."""
        gateway = properties.get("external_gateway_info")
        network = gateway.get("network") if isinstance(gateway, Mapping) else None
        return frozenset(subnets_of(network, others))


def _gateway(info: Mapping[str, Any]) -> Object:
    gateway: Object = {"network_id": info["network"]}
    if info.get("enable_snat") is not None:
        gateway["enable_snat"] = info["enable_snat"]
    if info.get("external_fixed_ips"):
        entries = info["external_fixed_ips"]
        gateway["external_fixed_ips"] = [
            rename_fields(entry, {"subnet": "subnet_id"}) for entry in entries
        ]
    return gateway


def _gateway_info(gateway: Object) -> Object:
    """Return a gateway in the form of properties."""
    names = {"network_id": "network", "enable_snat": "enable_snat"}
    info = {own: gateway[field] for field, own in names.items() if field in gateway}
    if "external_fixed_ips" in gateway:
        info["external_fixed_ips"] = [
            {"subnet": entry.get("subnet_id"), "ip_address": entry.get("ip_address")}
            for entry in gateway["external_fixed_ips"]
        ]
    return info

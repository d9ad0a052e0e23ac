"""OS::Neutron::Net: a network."""

from __future__ import annotations

from stoker.clouds.collections import NETWORKS
from stoker.resources.neutron.agents import hosted_by
from stoker.resources.neutron.tags import tags_of
from stoker.resources.rest import Readiness, RestResource
from stoker.schema.constraints import Custom
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import since


class Net(RestResource):
    """A network of the project."""

    type_name = "OS::Neutron::Net"
    description = "A network."
    service = "network"
    collection = NETWORKS
    readiness = Readiness(pending=frozenset({"BUILD"}))
    wire = {"qos_policy": "qos_policy_id"}
    extras = (
        tags_of(NETWORKS),
        hosted_by(NETWORKS, "dhcp_agent_ids", "dhcp-agents", "dhcp-networks"),
    )

    properties = {
        "admin_state_up": Property(Type.BOOLEAN, default=True, update_allowed=True),
        "availability_zone_hints": Property(Type.LIST, support=since("19.0.0")),
        "dhcp_agent_ids": Property(Type.LIST, update_allowed=True),
        "dns_domain": Property(
            Type.STRING,
            update_allowed=True,
            constraints=(Custom("dns_domain"),),
            support=since("7.0.0"),
        ),
        "name": Property(Type.STRING, update_allowed=True),
        "port_security_enabled": Property(
            Type.BOOLEAN, update_allowed=True, support=since("5.0.0")
        ),
        "qos_policy": Property(
            Type.STRING,
            update_allowed=True,
            constraints=(Custom("neutron.qos_policy"),),
            finder=Finder("network", "qos_policy"),
            support=since("6.0.0"),
        ),
        "shared": Property(Type.BOOLEAN, default=False, update_allowed=True),
        "tags": Property(
            Type.LIST, update_allowed=True, support=since("9.0.0"), items=Property(Type.STRING)
        ),
        "tenant_id": Property(Type.STRING),
        "value_specs": Property(Type.MAP, default={}, update_allowed=True),
    }
    attributes = {
        "admin_state_up": Attribute(type=Type.STRING),
        "l2_adjacency": Attribute(type=Type.BOOLEAN, support=since("9.0.0")),
        "mtu": Attribute(type=Type.INTEGER, support=since("5.0.0")),
        "name": Attribute(type=Type.STRING),
        "port_security_enabled": Attribute(type=Type.BOOLEAN, support=since("5.0.0")),
        "qos_policy_id": Attribute(type=Type.STRING, support=since("6.0.0")),
        "segments": Attribute(type=Type.LIST, support=since("11.0.0")),
        "status": Attribute(type=Type.STRING),
        "subnets": Attribute(type=Type.LIST),
        "tenant_id": Attribute(type=Type.STRING),
        "show": Attribute(type=Type.MAP, cached=False),
    }

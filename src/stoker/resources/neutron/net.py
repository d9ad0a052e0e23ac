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
    blanks = {"port_security_enabled": True, "dns_domain": ""}
    readiness = Readiness(pending=frozenset({"BUILD"}))
    wire = {"qos_policy": "qos_policy_id"}
    extras = (
        tags_of(NETWORKS),
        hosted_by(NETWORKS, "dhcp_agent_ids", "dhcp-agents", "dhcp-networks"),
    )

    properties = {
        "admin_state_up": Property(
            Type.BOOLEAN, "Whether the object is switched on.", default=True, update_allowed=True
        ),
        "availability_zone_hints": Property(
            Type.LIST, "Availability zones to prefer.", support=since("19.0.0")
        ),
        "dhcp_agent_ids": Property(
            Type.LIST,
            "Agents that serve DHCP on the network; an administrator's privilege.",
            update_allowed=True,
        ),
        "dns_domain": Property(
            Type.STRING,
            "DNS domain of the addresses.",
            update_allowed=True,
            constraints=(Custom("dns_domain"),),
            support=since("7.0.0"),
        ),
        "name": Property(
            Type.STRING,
            "Name of the object; without one the stack gives it a name.",
            update_allowed=True,
        ),
        "port_security_enabled": Property(
            Type.BOOLEAN,
            "Whether the service guards ports against forged addresses.",
            update_allowed=True,
            support=since("5.0.0"),
        ),
        "qos_policy": Property(
            Type.STRING,
            "Quality of service policy, by name or id.",
            update_allowed=True,
            constraints=(Custom("neutron.qos_policy"),),
            finder=Finder("network", "qos_policy"),
            support=since("6.0.0"),
        ),
        "shared": Property(
            Type.BOOLEAN, "Whether all projects may use it.", default=False, update_allowed=True
        ),
        "tags": Property(
            Type.LIST,
            "Tags of the object.",
            update_allowed=True,
            support=since("9.0.0"),
            items=Property(Type.STRING),
        ),
        "tenant_id": Property(
            Type.STRING,
            "Id of the project that is to own the object; an administrator's privilege.",
        ),
        "value_specs": Property(
            Type.MAP,
            "Further fields, passed to the service as they are.",
            default={},
            update_allowed=True,
        ),
    }
    attributes = {
        "admin_state_up": Attribute("Whether the object is switched on.", type=Type.STRING),
        "l2_adjacency": Attribute(
            "Whether all ports of the network are in one segment.",
            type=Type.BOOLEAN,
            support=since("9.0.0"),
        ),
        "mtu": Attribute("Largest packet in bytes.", type=Type.INTEGER, support=since("5.0.0")),
        "name": Attribute("Name of the object.", type=Type.STRING),
        "port_security_enabled": Attribute(
            "Whether the service guards ports against forged addresses.",
            type=Type.BOOLEAN,
            support=since("5.0.0"),
        ),
        "qos_policy_id": Attribute(
            "Id of the quality of service policy.", type=Type.STRING, support=since("6.0.0")
        ),
        "segments": Attribute("Segments of the network.", type=Type.LIST, support=since("11.0.0")),
        "status": Attribute("Status of the object.", type=Type.STRING),
        "subnets": Attribute("Subnets of the object.", type=Type.LIST),
        "tenant_id": Attribute("Id of the project.", type=Type.STRING),
        "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
    }

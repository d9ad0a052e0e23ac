"""What OS::Neutron::Port declares."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.schema.constraints import AllowedValues, Custom
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import Support, SupportStatus, since

PROPERTIES: Mapping[str, Property] = {
    "admin_state_up": Property(Type.BOOLEAN, default=True, update_allowed=True),
    "allowed_address_pairs": Property(
        Type.LIST,
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "ip_address": Property(
                    Type.STRING, required=True, constraints=(Custom("ip_or_cidr"),)
                ),
                "mac_address": Property(Type.STRING, constraints=(Custom("mac_addr"),)),
            },
        ),
    ),
    "binding:vnic_type": Property(
        Type.STRING,
        default="normal",
        update_allowed=True,
        constraints=(
            AllowedValues(
                [
                    "normal",
                    "direct",
                    "macvtap",
                    "direct-physical",
                    "baremetal",
                    "virtio-forwarder",
                    "smart-nic",
                ]
            ),
        ),
        support=since("2015.1"),
    ),
    "device_id": Property(Type.STRING, default="", update_allowed=True),
    "device_owner": Property(Type.STRING, default="", update_allowed=True),
    "dns_name": Property(
        Type.STRING, update_allowed=True, constraints=(Custom("dns_name"),), support=since("7.0.0")
    ),
    "fixed_ips": Property(
        Type.LIST,
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "ip_address": Property(Type.STRING, constraints=(Custom("ip_addr"),)),
                "subnet": Property(
                    Type.STRING,
                    constraints=(Custom("neutron.subnet"),),
                    finder=Finder("network", "subnet"),
                    support=since("2014.2"),
                ),
                "subnet_id": Property(
                    Type.STRING,
                    constraints=(Custom("neutron.subnet"),),
                    finder=Finder("network", "subnet"),
                    support=SupportStatus(
                        Support.HIDDEN,
                        "5.0.0",
                        previous=SupportStatus(Support.DEPRECATED, "2014.2"),
                    ),
                    renamed_to="subnet",
                ),
            },
        ),
    ),
    "mac_address": Property(Type.STRING, constraints=(Custom("mac_addr"),)),
    "name": Property(Type.STRING, update_allowed=True),
    "network": Property(
        Type.STRING,
        required=True,
        constraints=(Custom("neutron.network"),),
        finder=Finder("network", "network"),
        support=since("2014.2"),
    ),
    "network_id": Property(
        Type.STRING,
        constraints=(Custom("neutron.network"),),
        finder=Finder("network", "network"),
        support=SupportStatus(
            Support.HIDDEN, "5.0.0", previous=SupportStatus(Support.DEPRECATED, "2014.2")
        ),
        renamed_to="network",
    ),
    "no_fixed_ips": Property(
        Type.BOOLEAN, default=False, update_allowed=True, support=since("16.0.0")
    ),
    "port_security_enabled": Property(Type.BOOLEAN, update_allowed=True, support=since("5.0.0")),
    "propagate_uplink_status": Property(Type.BOOLEAN, update_allowed=True, support=since("15.0.0")),
    "qos_policy": Property(
        Type.STRING,
        update_allowed=True,
        constraints=(Custom("neutron.qos_policy"),),
        finder=Finder("network", "qos_policy"),
        support=since("6.0.0"),
    ),
    "replacement_policy": Property(
        Type.STRING,
        default="AUTO",
        update_allowed=True,
        constraints=(AllowedValues(["REPLACE_ALWAYS", "AUTO"]),),
        support=SupportStatus(
            Support.HIDDEN,
            "9.0.0",
            previous=SupportStatus(Support.DEPRECATED, "6.0.0", previous=since("2014.2")),
        ),
    ),
    "security_groups": Property(Type.LIST, update_allowed=True),
    "tags": Property(
        Type.LIST, update_allowed=True, support=since("9.0.0"), items=Property(Type.STRING)
    ),
    "value_specs": Property(Type.MAP, default={}, update_allowed=True),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "admin_state_up": Attribute(type=Type.STRING),
    "allowed_address_pairs": Attribute(type=Type.LIST),
    "device_id": Attribute(type=Type.STRING),
    "device_owner": Attribute(type=Type.STRING),
    "dns_assignment": Attribute(type=Type.MAP, support=since("7.0.0")),
    "fixed_ips": Attribute(type=Type.LIST),
    "mac_address": Attribute(type=Type.STRING),
    "name": Attribute(type=Type.STRING),
    "network": Attribute(type=Type.MAP, support=since("11.0.0")),
    "network_id": Attribute(type=Type.STRING),
    "port_security_enabled": Attribute(type=Type.BOOLEAN, support=since("5.0.0")),
    "propagate_uplink_status": Attribute(type=Type.BOOLEAN, support=since("15.0.0")),
    "qos_policy_id": Attribute(type=Type.STRING, support=since("6.0.0")),
    "security_groups": Attribute(type=Type.LIST),
    "status": Attribute(type=Type.STRING),
    "subnets": Attribute(type=Type.LIST),
    "tenant_id": Attribute(type=Type.STRING),
    "show": Attribute(type=Type.MAP, cached=False),
}

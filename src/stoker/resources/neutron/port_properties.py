"""What OS::Neutron::Port declares."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.schema.constraints import AllowedValues, Custom
from stoker.schema.properties import Attribute, Finder, Property, Type
from stoker.schema.support import Support, SupportStatus, since

PROPERTIES: Mapping[str, Property] = {
    "admin_state_up": Property(
        Type.BOOLEAN, "Whether the object is switched on.", default=True, update_allowed=True
    ),
    "allowed_address_pairs": Property(
        Type.LIST,
        "Further addresses that the port may send from.",
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "ip_address": Property(
                    Type.STRING,
                    "Address, or range where one is allowed.",
                    required=True,
                    constraints=(Custom("ip_or_cidr"),),
                ),
                "mac_address": Property(
                    Type.STRING, "Hardware address.", constraints=(Custom("mac_addr"),)
                ),
            },
        ),
    ),
    "binding:vnic_type": Property(
        Type.STRING,
        "Kind of the virtual interface.",
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
    "device_id": Property(
        Type.STRING, "Id of the device that uses the port.", default="", update_allowed=True
    ),
    "device_owner": Property(
        Type.STRING, "What kind of device uses the port.", default="", update_allowed=True
    ),
    "dns_name": Property(
        Type.STRING,
        "DNS name of the address.",
        update_allowed=True,
        constraints=(Custom("dns_name"),),
        support=since("7.0.0"),
    ),
    "fixed_ips": Property(
        Type.LIST,
        "Addresses that the port is to have.",
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "ip_address": Property(
                    Type.STRING,
                    "Address, or range where one is allowed.",
                    constraints=(Custom("ip_addr"),),
                ),
                "subnet": Property(
                    Type.STRING,
                    "Subnet, by name or id.",
                    constraints=(Custom("neutron.subnet"),),
                    finder=Finder("network", "subnet"),
                    support=since("2014.2"),
                ),
                "subnet_id": Property(
                    Type.STRING,
                    "Old name of subnet.",
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
    "mac_address": Property(Type.STRING, "Hardware address.", constraints=(Custom("mac_addr"),)),
    "name": Property(
        Type.STRING,
        "Name of the object; without one the stack gives it a name.",
        update_allowed=True,
    ),
    "network": Property(
        Type.STRING,
        "Network, by name or id.",
        required=True,
        constraints=(Custom("neutron.network"),),
        finder=Finder("network", "network"),
        support=since("2014.2"),
    ),
    "network_id": Property(
        Type.STRING,
        "Old name of network.",
        constraints=(Custom("neutron.network"),),
        finder=Finder("network", "network"),
        support=SupportStatus(
            Support.HIDDEN, "5.0.0", previous=SupportStatus(Support.DEPRECATED, "2014.2")
        ),
        renamed_to="network",
    ),
    "no_fixed_ips": Property(
        Type.BOOLEAN,
        "Whether the port is to have no address.",
        default=False,
        update_allowed=True,
        support=since("16.0.0"),
    ),
    "port_security_enabled": Property(
        Type.BOOLEAN,
        "Whether the service guards ports against forged addresses.",
        update_allowed=True,
        support=since("5.0.0"),
    ),
    "propagate_uplink_status": Property(
        Type.BOOLEAN,
        "Whether the state of the uplink is passed on.",
        update_allowed=True,
        support=since("15.0.0"),
    ),
    "qos_policy": Property(
        Type.STRING,
        "Quality of service policy, by name or id.",
        update_allowed=True,
        constraints=(Custom("neutron.qos_policy"),),
        finder=Finder("network", "qos_policy"),
        support=since("6.0.0"),
    ),
    "replacement_policy": Property(
        Type.STRING,
        "Whether every change makes a new port.",
        default="AUTO",
        update_allowed=True,
        constraints=(AllowedValues(["REPLACE_ALWAYS", "AUTO"]),),
        support=SupportStatus(
            Support.HIDDEN,
            "9.0.0",
            previous=SupportStatus(Support.DEPRECATED, "6.0.0", previous=since("2014.2")),
        ),
    ),
    "security_groups": Property(Type.LIST, "Security groups, by name or id.", update_allowed=True),
    "tags": Property(
        Type.LIST,
        "Tags of the object.",
        update_allowed=True,
        support=since("9.0.0"),
        items=Property(Type.STRING),
    ),
    "value_specs": Property(
        Type.MAP,
        "Further fields, passed to the service as they are.",
        default={},
        update_allowed=True,
    ),
}

ATTRIBUTES: Mapping[str, Attribute] = {
    "admin_state_up": Attribute("Whether the object is switched on.", type=Type.STRING),
    "allowed_address_pairs": Attribute(
        "Further addresses that the port may send from.", type=Type.LIST
    ),
    "device_id": Attribute("Id of the device that uses the port.", type=Type.STRING),
    "device_owner": Attribute("What kind of device uses the port.", type=Type.STRING),
    "dns_assignment": Attribute(
        "DNS names of the port's addresses.", type=Type.MAP, support=since("7.0.0")
    ),
    "fixed_ips": Attribute("Addresses that the port is to have.", type=Type.LIST),
    "mac_address": Attribute("Hardware address.", type=Type.STRING),
    "name": Attribute("Name of the object.", type=Type.STRING),
    "network": Attribute("The port's network.", type=Type.MAP, support=since("11.0.0")),
    "network_id": Attribute("Id of the network.", type=Type.STRING),
    "port_security_enabled": Attribute(
        "Whether the service guards ports against forged addresses.",
        type=Type.BOOLEAN,
        support=since("5.0.0"),
    ),
    "propagate_uplink_status": Attribute(
        "Whether the state of the uplink is passed on.", type=Type.BOOLEAN, support=since("15.0.0")
    ),
    "qos_policy_id": Attribute(
        "Id of the quality of service policy.", type=Type.STRING, support=since("6.0.0")
    ),
    "security_groups": Attribute("Ids of the security groups.", type=Type.LIST),
    "status": Attribute("Status of the object.", type=Type.STRING),
    "subnets": Attribute("Subnets of the object.", type=Type.LIST),
    "tenant_id": Attribute("Id of the project.", type=Type.STRING),
    "show": Attribute("The object as the service describes it.", type=Type.MAP, cached=False),
}

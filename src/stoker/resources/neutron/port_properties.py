"""Properties and attributes of OS::Neutron::Port."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.resources.base import declare
from stoker.resources.neutron.declarations import (
    IP_ADDRESS,
    NETWORK,
    NETWORK_ID,
    PORT_SECURITY,
    QOS_POLICY_ID,
)
from stoker.resources.shared.networks import ports
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.support import deprecated, hidden, since

_OWN: Mapping[str, Property] = {
    "device_id": declare.string(
        "Id of the device that uses the port.", default="", update_allowed=True
    ),
    "device_owner": declare.string(
        "Type of the device that uses the port.", default="", update_allowed=True
    ),
    "dns_name": declare.checked(
        "dns_name", "DNS name of the address.", update_allowed=True, support=since("7.0.0")
    ),
    "fixed_ips": declare.records(
        "Requested addresses of the port.",
        update_allowed=True,
        entries={
            "ip_address": IP_ADDRESS,
            "subnet": declare.by_name("neutron.subnet", "Subnet", support=since("2014.2")),
            "subnet_id": declare.old_name(
                "subnet", "neutron.subnet", hidden("5.0.0", deprecated("2014.2"))
            ),
        },
    ),
    "name": declare.NAME,
    "network": NETWORK,
    "network_id": NETWORK_ID,
    "replacement_policy": declare.choice(
        ["REPLACE_ALWAYS", "AUTO"],
        "Whether each change replaces the port.",
        default="AUTO",
        update_allowed=True,
        support=hidden("9.0.0", deprecated("6.0.0", was="2014.2")),
    ),
    "security_groups": declare.sequence("Security groups, by name or id.", update_allowed=True),
    "tags": declare.tags("9.0.0"),
}
PROPERTIES = dict(sorted({**ports.PROPERTIES, **_OWN}.items()))

ATTRIBUTES: Mapping[str, Attribute] = {
    "admin_state_up": Attribute("Administrative state of the object.", type=Type.STRING),
    "allowed_address_pairs": Attribute(
        "Additional addresses that the port may send from.", type=Type.LIST
    ),
    "device_id": Attribute("Id of the device that uses the port.", type=Type.STRING),
    "device_owner": Attribute("Type of the device that uses the port.", type=Type.STRING),
    "dns_assignment": Attribute(
        "DNS names of the port's addresses.", type=Type.MAP, support=since("7.0.0")
    ),
    "fixed_ips": Attribute("Addresses of the port.", type=Type.LIST),
    "mac_address": Attribute("MAC address.", type=Type.STRING),
    "name": Attribute("Name of the object.", type=Type.STRING),
    "network": Attribute("The port's network.", type=Type.MAP, support=since("11.0.0")),
    "network_id": Attribute("Id of the network.", type=Type.STRING),
    "port_security_enabled": PORT_SECURITY,
    "propagate_uplink_status": Attribute(
        "Propagate the link status of the physical port.",
        type=Type.BOOLEAN,
        support=since("15.0.0"),
    ),
    "qos_policy_id": QOS_POLICY_ID,
    "security_groups": Attribute("Ids of the security groups.", type=Type.LIST),
    "status": Attribute("Status of the object.", type=Type.STRING),
    "subnets": Attribute("Subnets of the object.", type=Type.LIST),
    "tenant_id": Attribute("Id of the project.", type=Type.STRING),
    "show": declare.SHOW,
}

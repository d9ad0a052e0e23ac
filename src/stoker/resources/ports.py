"""Ports, both those of OS::Neutron::Port and those that are created for a server."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.resources.declare import ADMIN_STATE_UP, VALUE_SPECS, by_name, checked, choice
from stoker.schema.properties import Property, Type
from stoker.schema.support import since

MAC_ADDRESS = checked("mac_addr", "Hardware address.")
PORT_SECURITY_ENABLED = Property(
    Type.BOOLEAN,
    "Whether the service drops traffic from forged addresses.",
    update_allowed=True,
    support=since("5.0.0"),
)
QOS_POLICY = by_name(
    "neutron.qos_policy",
    "Quality of service policy",
    update_allowed=True,
    support=since("6.0.0"),
)
PROPERTIES: Mapping[str, Property] = {
    "admin_state_up": ADMIN_STATE_UP,
    "allowed_address_pairs": Property(
        Type.LIST,
        "Additional addresses that the port may send from.",
        update_allowed=True,
        items=Property(
            Type.MAP,
            entries={
                "ip_address": checked(
                    "ip_or_cidr", "Address, or range where one is allowed.", required=True
                ),
                "mac_address": MAC_ADDRESS,
            },
        ),
    ),
    "binding:vnic_type": choice(
        [
            "normal",
            "direct",
            "macvtap",
            "direct-physical",
            "baremetal",
            "virtio-forwarder",
            "smart-nic",
        ],
        "Kind of the virtual interface.",
        default="normal",
        update_allowed=True,
        support=since("2015.1"),
    ),
    "mac_address": MAC_ADDRESS,
    "no_fixed_ips": Property(
        Type.BOOLEAN,
        "Create the port without an address.",
        default=False,
        update_allowed=True,
        support=since("16.0.0"),
    ),
    "port_security_enabled": PORT_SECURITY_ENABLED,
    "propagate_uplink_status": Property(
        Type.BOOLEAN,
        "Whether the port reports the status of its uplink.",
        update_allowed=True,
        support=since("15.0.0"),
    ),
    "qos_policy": QOS_POLICY,
    "value_specs": VALUE_SPECS,
}
"""The properties that both have."""

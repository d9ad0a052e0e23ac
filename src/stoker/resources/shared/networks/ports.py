"""Properties of ports, shared by OS::Neutron::Port and the ports of servers."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.resources.base import declare
from stoker.schema.properties import Property
from stoker.schema.support import since

MAC_ADDRESS = declare.checked("mac_addr", "MAC address.")
PORT_SECURITY_ENABLED = declare.boolean(
    "Drop traffic from addresses that the port does not own.",
    update_allowed=True,
    support=since("5.0.0"),
)
QOS_POLICY = declare.by_name(
    "neutron.qos_policy", "Quality of service policy", update_allowed=True, support=since("6.0.0")
)
PROPERTIES: Mapping[str, Property] = {
    "admin_state_up": declare.ADMIN_STATE_UP,
    "allowed_address_pairs": declare.records(
        "Additional addresses that the port may send from.",
        update_allowed=True,
        entries={
            "ip_address": declare.checked(
                "ip_or_cidr", "IP address, or CIDR range.", required=True
            ),
            "mac_address": MAC_ADDRESS,
        },
    ),
    "binding:vnic_type": declare.choice(
        [
            "normal",
            "direct",
            "macvtap",
            "direct-physical",
            "baremetal",
            "virtio-forwarder",
            "smart-nic",
        ],
        "Type of the virtual NIC.",
        default="normal",
        update_allowed=True,
        support=since("2015.1"),
    ),
    "mac_address": MAC_ADDRESS,
    "no_fixed_ips": declare.boolean(
        "Create the port without an address.",
        default=False,
        update_allowed=True,
        support=since("16.0.0"),
    ),
    "port_security_enabled": PORT_SECURITY_ENABLED,
    "propagate_uplink_status": declare.boolean(
        "Propagate the link status of the physical port.",
        update_allowed=True,
        support=since("15.0.0"),
    ),
    "qos_policy": QOS_POLICY,
    "value_specs": declare.VALUE_SPECS,
}

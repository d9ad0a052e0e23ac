"""OS::Neutron::IPsecPolicy: how the traffic of a VPN is wrapped."""

from __future__ import annotations

from stoker.clouds.collections import collection
from stoker.resources.base import declare
from stoker.resources.neutron.vpn_policies import (
    ATTRIBUTES,
    VPNPolicy,
    authentication,
    encryption,
    group,
    lifetime,
)
from stoker.schema.properties import Attribute, Type


class IPsecPolicy(VPNPolicy):
    """An IPsec policy."""

    type_name = "OS::Neutron::IPsecPolicy"
    description = "How the traffic of a VPN is wrapped."
    collection = collection(
        "network",
        "ipsecpolicy",
        path="/vpn/ipsecpolicies",
        plural="ipsecpolicies",
        words="IPsec policy",
    )

    properties = {
        "auth_algorithm": authentication(update_allowed=False),
        "description": declare.DESCRIPTION,
        "encapsulation_mode": declare.choice(
            ["tunnel", "transport"], "Whether whole packets are wrapped.", default="tunnel"
        ),
        "encryption_algorithm": encryption(update_allowed=False),
        "lifetime": lifetime(update_allowed=False),
        "name": declare.NAME,
        "pfs": group(update_allowed=False),
        "transform_protocol": declare.choice(
            ["esp", "ah", "ah-esp"], "Protocol of the wrapped packets.", default="esp"
        ),
    }
    attributes = {
        **ATTRIBUTES,
        "encapsulation_mode": Attribute("Whether whole packets are wrapped.", Type.STRING),
        "transform_protocol": Attribute("Protocol of the wrapped packets.", Type.STRING),
    }

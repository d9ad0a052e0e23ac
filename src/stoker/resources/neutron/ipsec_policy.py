"""OS::Neutron::IPsecPolicy: encryption and encapsulation of VPN traffic."""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
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
    description = "Encryption and encapsulation of VPN traffic."
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
            ["tunnel", "transport"],
            "Encapsulation of whole packets or only of payloads.",
            default="tunnel",
        ),
        "encryption_algorithm": encryption(update_allowed=False),
        "lifetime": lifetime(update_allowed=False),
        "name": declare.NAME,
        "pfs": group(update_allowed=False),
        "transform_protocol": declare.choice(
            ["esp", "ah", "ah-esp"], "Protocol of the encapsulated packets.", default="esp"
        ),
    }
    attributes = {
        **ATTRIBUTES,
        "encapsulation_mode": Attribute(
            "Encapsulation of whole packets or only of payloads.", Type.STRING
        ),
        "transform_protocol": Attribute("Protocol of the encapsulated packets.", Type.STRING),
    }

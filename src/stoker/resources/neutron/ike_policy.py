"""OS::Neutron::IKEPolicy: the key exchange of a VPN."""

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


class IKEPolicy(VPNPolicy):
    """An IKE policy."""

    type_name = "OS::Neutron::IKEPolicy"
    description = "Key exchange between the two sites of a VPN."
    collection = collection(
        "network", "ikepolicy", path="/vpn/ikepolicies", plural="ikepolicies", words="IKE policy"
    )

    properties = {
        "auth_algorithm": authentication(update_allowed=True),
        "description": declare.DESCRIPTION,
        "encryption_algorithm": encryption(update_allowed=True),
        "ike_version": declare.choice(
            ["v1", "v2"], "Version of the key exchange.", default="v1", update_allowed=True
        ),
        "lifetime": lifetime(update_allowed=True),
        "name": declare.NAME,
        "pfs": group(update_allowed=True),
        "phase1_negotiation_mode": declare.choice(
            ["main"], "Mode of the key exchange.", default="main"
        ),
    }
    attributes = {
        **ATTRIBUTES,
        "ike_version": Attribute("Version of the key exchange.", Type.STRING),
        "phase1_negotiation_mode": Attribute("Mode of the key exchange.", Type.STRING),
    }

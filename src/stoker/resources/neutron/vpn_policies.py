"""What the two kinds of policies of a VPN have in common."""

from __future__ import annotations

from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Attribute, Property, Type

_ENCRYPTIONS = [
    "3des",
    "aes-128",
    "aes-192",
    "aes-256",
    "aes-128-ccm-8",
    "aes-192-ccm-8",
    "aes-256-ccm-8",
    "aes-128-ccm-12",
    "aes-192-ccm-12",
    "aes-256-ccm-12",
    "aes-128-ccm-16",
    "aes-192-ccm-16",
    "aes-256-ccm-16",
    "aes-128-gcm-8",
    "aes-192-gcm-8",
    "aes-256-gcm-8",
    "aes-128-gcm-12",
    "aes-192-gcm-12",
    "aes-256-gcm-12",
    "aes-128-gcm-16",
    "aes-192-gcm-16",
    "aes-256-gcm-16",
    "aes-128-ctr",
    "aes-192-ctr",
    "aes-256-ctr",
]
_GROUPS = [
    "group2",
    "group5",
    "group14",
    "group15",
    "group16",
    "group17",
    "group18",
    "group19",
    "group20",
    "group21",
    "group22",
    "group23",
    "group24",
    "group25",
    "group26",
    "group27",
    "group28",
    "group29",
    "group30",
    "group31",
]
_AUTHENTICATIONS = ["sha1", "sha256", "sha384", "sha512", "aes-xcbc", "aes-cmac"]


def encryption(*, update_allowed: bool) -> Property:
    """How traffic is encrypted."""
    words = "Algorithm by which the traffic is encrypted."
    return declare.choice(_ENCRYPTIONS, words, default="aes-128", update_allowed=update_allowed)


def authentication(*, update_allowed: bool) -> Property:
    """How both sides prove what they are."""
    words = "Algorithm by which both sides prove what they are."
    return declare.choice(_AUTHENTICATIONS, words, default="sha1", update_allowed=update_allowed)


def group(*, update_allowed: bool) -> Property:
    """How keys are kept apart."""
    words = "Group by which each key is independent of the others."
    return declare.choice(_GROUPS, words, default="group5", update_allowed=update_allowed)


def lifetime(*, update_allowed: bool) -> Property:
    """How long keys last."""
    return declare.mapping(
        "How long the keys last.",
        update_allowed=update_allowed,
        entries={
            "units": declare.choice(
                ["seconds", "kilobytes"], "What is counted.", default="seconds"
            ),
            "value": declare.integer("So many of them.", default=3600),
        },
    )


ATTRIBUTES = {
    "auth_algorithm": Attribute("Algorithm by which both sides prove what they are.", Type.STRING),
    "description": Attribute("Description of the object.", Type.STRING),
    "encryption_algorithm": Attribute("Algorithm that encrypts the traffic.", Type.STRING),
    "lifetime": Attribute("How long the keys last.", Type.MAP),
    "name": Attribute("Name of the object.", Type.STRING),
    "pfs": Attribute("Group by which each key is independent of the others.", Type.STRING),
    "tenant_id": Attribute("Id of the project.", Type.STRING),
    "show": declare.SHOW,
}


class VPNPolicy(RestResource):
    """A policy of a VPN."""

    service = "network"
    extension = "vpnaas"
    clear_values = {"description": ""}

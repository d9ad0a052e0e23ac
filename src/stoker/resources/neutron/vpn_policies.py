"""Base of the two types of VPN policies."""

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
    """Declare the encryption algorithm."""
    words = "Encryption algorithm."
    return declare.choice(_ENCRYPTIONS, words, default="aes-128", update_allowed=update_allowed)


def authentication(*, update_allowed: bool) -> Property:
    """Declare the authentication algorithm."""
    words = "Authentication algorithm."
    return declare.choice(_AUTHENTICATIONS, words, default="sha1", update_allowed=update_allowed)


def group(*, update_allowed: bool) -> Property:
    """Declare the group for perfect forward secrecy."""
    words = "Diffie-Hellman group for perfect forward secrecy."
    return declare.choice(_GROUPS, words, default="group5", update_allowed=update_allowed)


def lifetime(*, update_allowed: bool) -> Property:
    """Declare the lifetime of keys."""
    return declare.mapping(
        "Lifetime of the keys.",
        update_allowed=update_allowed,
        entries={
            "units": declare.choice(
                ["seconds", "kilobytes"], "Unit of the lifetime.", default="seconds"
            ),
            "value": declare.integer("Value of the lifetime.", default=3600),
        },
    )


ATTRIBUTES = {
    "auth_algorithm": Attribute("Authentication algorithm.", Type.STRING),
    "description": Attribute("Description of the object.", Type.STRING),
    "encryption_algorithm": Attribute("Encryption algorithm.", Type.STRING),
    "lifetime": Attribute("Lifetime of the keys.", Type.MAP),
    "name": Attribute("Name of the object.", Type.STRING),
    "pfs": Attribute("Diffie-Hellman group for perfect forward secrecy.", Type.STRING),
    "tenant_id": Attribute("Id of the project.", Type.STRING),
    "show": declare.SHOW,
}


class VPNPolicy(RestResource):
    """A policy of a VPN."""

    service = "network"
    extension = "vpnaas"
    clear_values = {"description": ""}

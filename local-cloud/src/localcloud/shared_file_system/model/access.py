"""Access rules: the supported ones, and the access that they grant to a client."""

import base64
import re
import secrets
import struct
import time
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.fabric.interface import Face
from localcloud.web.http import BadRequestError

LEVELS = ("rw", "ro")
_BY_PROTOCOL = {
    "NFS": frozenset({"ip"}),
    "CIFS": frozenset({"ip", "user"}),
    "CEPHFS": frozenset({"cephx"}),
}
PROTOCOLS = tuple(_BY_PROTOCOL)  # those that shares can have; each takes rules of its own kinds
_IN_FORCE = frozenset({"active", "updating", "queued_to_update"})
_USER = re.compile(r"""[^"/\\\[\]:;|=,+*?<>\x00-\x1f]{4,255}""")
_COMMON_NAME = re.compile(r".{1,64}")
_CEPH = re.compile(r"[\x21-\x7e]+")
_Network = IPv4Network | IPv6Network


class Client(Struct, frozen=True):
    """The client of a share: a server, as the share sees it."""

    addresses: frozenset[str]
    user: str = ""
    secret: str = ""


def check(kind: str, who: str, *, with_ipv6: bool) -> None:
    """Raise BadRequestError for a rule that cannot be understood."""
    if kind == "ip":
        _check_address(who, with_ipv6)
    elif kind == "user":
        if not _USER.fullmatch(who):
            raise BadRequestError(
                "Invalid user or group name. Must be 4-255 characters and consist of alphanumeric "
                'characters and exclude special characters "/\\[]:;|=,+*?<>'
            )
    elif kind == "cert":
        if not _COMMON_NAME.fullmatch(who.strip()):
            raise BadRequestError("Invalid CN (common name). Must be 1-64 chars long.")
    elif kind == "cephx":
        if not _CEPH.fullmatch(who) or "." in who or who == "manila":
            raise BadRequestError(
                "Invalid Ceph ID. Ceph IDs must consist of ASCII printable characters without "
                "periods, and 'manila' is taken."
            )
    else:
        raise BadRequestError("Only 'ip', 'user', 'cert' or 'cephx' access types are supported.")


def _check_address(who: str, with_ipv6: bool) -> None:
    try:
        network = ip_network(who)
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    if network.version == 6 and not with_ipv6:
        raise BadRequestError(f"Expected 4 octets in {str(network.network_address)!r}")


def is_served(protocol: str, rule: Document) -> bool:
    """Return whether shares of a protocol support a rule."""
    return rule["access_type"] in _BY_PROTOCOL[protocol] and rule["access_level"] in LEVELS


def same(rule: Document, kind: str, who: str) -> bool:
    """Return whether a rule is about this client."""
    if rule["access_type"] != kind:
        return False
    if kind == "ip":
        return ip_network(rule["access_to"]) == ip_network(who)
    return bool(rule["access_to"] == who)


def new_key() -> str:
    """Return a key in the form of those of Ceph."""
    secret = secrets.token_bytes(16)
    head = struct.pack("<HIIH", 1, int(time.time()), 0, len(secret))
    return base64.b64encode(head + secret).decode()


def face(rules: Iterable[Document], client: Client) -> Face:
    """Return the access that the rules of a share grant to a client.

    Of rules for networks the narrowest counts, as in the kernel's NFS server.
    """
    found = {Face.CLOSED}
    in_force = [rule for rule in rules if rule["state"] in _IN_FORCE]
    for address in client.addresses:
        networks = [(ip_network(r["access_to"]), r) for r in in_force if r["access_type"] == "ip"]
        fitting = [(network, rule) for network, rule in networks if _holds(network, address)]
        if fitting:
            found.add(_face(max(fitting, key=lambda pair: pair[0].prefixlen)[1]))
    for rule in in_force:
        named = bool(client.user) and rule["access_to"] == client.user
        kind = rule["access_type"]
        if named and kind == "user":
            found.add(_face(rule))
        if named and kind == "cephx" and secrets.compare_digest(rule["access_key"], client.secret):
            found.add(_face(rule))
    return next(face for face in (Face.WRITE, Face.READ, Face.CLOSED) if face in found)


def _holds(network: _Network, address: str) -> bool:
    known = ip_address(address)
    return known.version == network.version and known in network


def _face(rule: Document) -> Face:
    return Face.WRITE if rule["access_level"] == "rw" else Face.READ

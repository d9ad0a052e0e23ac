"""Permitted sources of images, so that the cloud does not connect to private addresses.

A user who creates an image chooses its URL, and the user may be a server. So only the Internet is
permitted, the addresses that every server reaches, and those that the owner of the cloud allows.
"""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from localcloud.core.settings import Settings
from localcloud.fabric.interface import Forwarding

_LONGEST = 2048
_PORTS = {"http": 80, "https": 443}
_TRANSLATED = ip_network("64:ff9b::/96")  # IPv6 addresses that stand for IPv4 ones
Address = IPv4Address | IPv6Address


class FetchError(Exception):
    """The fetch failed. The text gives the reason."""


class Sources:
    """Decides which URLs may be fetched."""

    def __init__(self, settings: Settings, forwardings: Callable[[], Sequence[Forwarding]]) -> None:
        self._own = set(settings.addresses)
        self._forwardings = forwardings
        self._allowed = settings.image_hosts

    def parsed(self, uri: object) -> SplitResult | None:
        """Return the parts of an address from which an image may come, as far as that shows."""
        if not isinstance(uri, str) or len(uri) > _LONGEST:
            return None
        if not all("!" <= sign <= "~" for sign in uri):
            return None
        try:
            parts = urlsplit(uri)
            host, port = parts.hostname, port_of(parts)
        except (ValueError, KeyError):
            return None
        if not host or parts.username is not None:
            return None
        try:
            literal = ip_address(host)
        except ValueError:
            return parts
        return parts if self.is_allowed(host, literal, port) else None

    def is_allowed(self, host: str, address: Address, port: int) -> bool:
        """Return whether connections to this address of a host are allowed."""
        if (str(address), port) in self._own or self._is_of_server(address, port):
            return True
        return _is_public(address) or _is_named(host, address, self._allowed)

    def _is_of_server(self, address: Address, port: int) -> bool:
        # Floating IPs lie in the range of the loopback: what a server does not listen on there
        # is the machine's own.
        place = (str(address), port)
        return any((each.host_ip, each.host_port) == place for each in self._forwardings())


def port_of(parts: SplitResult) -> int:
    """Return the port of an address; raises KeyError for other schemes than HTTP's."""
    usual = _PORTS[parts.scheme]
    return usual if parts.port is None else parts.port


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is not None or address in _TRANSLATED:
            return False
    return address.is_global and not address.is_multicast


def _is_named(host: str, address: Address, allowed: Sequence[str]) -> bool:
    for entry in allowed:
        try:
            network = ip_network(entry, strict=False)
        except ValueError:
            name = host.lower().rstrip(".")
            if name == entry.lower() or (entry.startswith(".") and name.endswith(entry.lower())):
                return True
            continue
        if address.version == network.version and address in network:
            return True
    return False

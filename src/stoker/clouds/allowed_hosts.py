"""Checks which hosts the service may connect to if a user chose the address.

Public hosts are allowed, and others that the operator lists: for templates by URL, and for services
of other clouds.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any

from stoker.kernel.lazy import lazy

# Networks whose addresses contain an IPv4 address in their last bits.
_CARRIERS = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
# Networks whose addresses lead to IPv4 addresses that are not part of them.
_TUNNELS = (IPv6Network("64:ff9b:1::/48"), IPv6Network("2002::/16"), IPv6Network("2001::/32"))
# Protocol networks that older versions of Python consider public.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"))

Address = IPv4Address | IPv6Address


@dataclass(frozen=True)
class AllowedHosts:
    """Hosts that are allowed although they are not public: networks, addresses and names.

    A name that starts with a dot allows all names below it.
    """

    entries: tuple[str, ...] = ()

    @lazy
    def _networks(self) -> tuple[Any, ...]:
        return tuple(network for entry in self.entries if (network := _network(entry)) is not None)

    @lazy
    def _names(self) -> frozenset[str]:
        return frozenset(entry.lower() for entry in self.entries if _network(entry) is None)

    def allows(self, host: str, address: Address) -> bool:
        """Return whether the service may connect to this address of the host."""
        name = host.lower().rstrip(".")
        parents = {name[at:] for at, character in enumerate(name) if character == "."}
        listed = any(address in network for network in self._networks)
        return listed or not self._names.isdisjoint({name, *parents}) or is_public(address)


def is_public(address: Address) -> bool:
    """Return whether an address is public, including an IPv4 address that it contains."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        if inner is None and any(address in network for network in _CARRIERS):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if any(address in network for network in _TUNNELS):
            return False
    elif any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def _network(entry: str) -> Any:
    """Return the network of an entry, or None for the name of a host."""
    try:
        return ip_network(entry, strict=False)
    except ValueError:
        return None

"""Address arithmetic: pools of a subnet, allocated addresses, and prefixes out of larger ones.

This module knows only values. The ports that own the addresses are recorded elsewhere.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import pairwise

from msgspec import Struct

from localcloud.network.errors import bad_request, conflict

IPNetwork = IPv4Network | IPv6Network
IPAddress = IPv4Address | IPv6Address


class Pool(Struct, frozen=True):
    """A range of addresses, both ends included."""

    first: IPAddress
    last: IPAddress

    def __contains__(self, address: IPAddress) -> bool:
        return int(self.first) <= int(address) <= int(self.last)

    def document(self) -> dict[str, str]:
        """Return the range as the API shows it."""
        return {"start": str(self.first), "end": str(self.last)}


def network(cidr: str) -> IPNetwork:
    """Return the network of a CIDR that has been checked already."""
    return ip_network(cidr, strict=False)


def pools(documents: Iterable[Mapping[str, str]]) -> list[Pool]:
    """Return the ranges of a subnet's ``allocation_pools``."""
    return [Pool(ip_address(d["start"]), ip_address(d["end"])) for d in documents]


def as_prefix(address: str) -> str:
    """Return an address or CIDR as a CIDR without host bits."""
    if "/" in address:
        return str(network(address))
    return f"{address}/{128 if ':' in address else 32}"


def contains(outer: IPNetwork, inner: IPNetwork) -> bool:
    """Return whether one network lies within another one."""
    if isinstance(outer, IPv4Network):
        return isinstance(inner, IPv4Network) and inner.subnet_of(outer)
    return isinstance(inner, IPv6Network) and inner.subnet_of(outer)


def host_range(subnet: IPNetwork) -> Pool:
    """Return the addresses that hosts may have: not those of the network and of all hosts."""
    first, last = int(subnet.network_address), int(subnet.broadcast_address)
    if subnet.num_addresses > 2:
        first += 1
        last -= 1 if subnet.version == 4 else 0
    kind = type(subnet.network_address)
    return Pool(kind(first), kind(last))


def default_pools(subnet: IPNetwork, gateway: str | None) -> list[Pool]:
    """Return the host addresses without the gateway: one range, or two around it."""
    hosts = host_range(subnet)
    if gateway is None or ip_address(gateway) not in hosts:
        return [hosts]
    kind, at = type(hosts.first), int(ip_address(gateway))
    found = []
    if at > int(hosts.first):
        found.append(Pool(hosts.first, kind(at - 1)))
    if at < int(hosts.last):
        found.append(Pool(kind(at + 1), hosts.last))
    return found


def check_pools(subnet: IPNetwork, gateway: str | None, found: Sequence[Pool]) -> None:
    """Raise the API's error where a range is reversed, outside, overlapping or has the gateway."""
    hosts = host_range(subnet)
    for pool in found:
        label = f"{pool.first}-{pool.last}"
        if pool.first.version != subnet.version or pool.last.version != subnet.version:
            raise bad_request(
                f"The allocation pool {label} and the subnet {subnet} differ in IP version.",
                "InvalidAllocationPool",
            )
        if int(pool.first) > int(pool.last):
            raise bad_request(
                f"The allocation pool {label} ends before it starts.", "InvalidAllocationPool"
            )
        if pool.first not in hosts or pool.last not in hosts:
            raise bad_request(
                f"The allocation pool {label} spans beyond the subnet cidr {subnet}.",
                "OutOfBoundsAllocationPool",
            )
        if gateway is not None and ip_address(gateway) in pool:
            raise conflict(
                "GatewayConflictWithAllocationPools",
                f"Gateway ip {gateway} conflicts with allocation pool {label}.",
            )
    ordered = sorted(found, key=lambda pool: int(pool.first))
    for one, other in pairwise(ordered):
        if int(other.first) <= int(one.last):
            raise conflict(
                "OverlappingAllocationPools",
                f"Found overlapping allocation pools: {one.first}-{one.last}"
                f" {other.first}-{other.last} for subnet {subnet}.",
            )


def pool_size(found: Iterable[Pool]) -> int:
    """Return how many addresses the ranges have together."""
    return sum(int(pool.last) - int(pool.first) + 1 for pool in found)


def eui64(subnet: IPNetwork, mac: str) -> str:
    """Return the address that an interface gives itself in an IPv6 subnet (SLAAC)."""
    parts = [int(part, 16) for part in mac.split(":")]
    parts[0] ^= 2
    suffix = int.from_bytes(bytes([*parts[:3], 0xFF, 0xFE, *parts[3:]]), "big")
    return str(IPv6Address(int(subnet.network_address) | suffix))


def free_prefix(
    prefixes: Iterable[IPNetwork], used: Iterable[IPNetwork], length: int
) -> IPNetwork | None:
    """Return the first free network of the length within the prefixes, or None.

    Linear in the number of used networks, however large the prefixes are.
    """
    taken = sorted(used, key=lambda net: int(net.network_address))
    for prefix in sorted(prefixes, key=lambda net: int(net.network_address)):
        if length < prefix.prefixlen:
            continue
        size = 1 << (prefix.max_prefixlen - length)
        at = int(prefix.network_address)
        for net in taken:
            first, last = int(net.network_address), int(net.broadcast_address)
            if last < at:
                continue
            if first >= at + size:
                break
            at = -(-(last + 1) // size) * size
        if at + size - 1 <= int(prefix.broadcast_address):
            return ip_network((type(prefix.network_address)(at), length))
    return None


@dataclass
class SubnetAddresses:
    """Allocated addresses of one subnet, and their owners.

    The lowest free address of the pools is found in amortised logarithmic time. Each pool has a
    cursor, below which every address was allocated once, and released addresses wait in a heap.
    """

    ranges: Sequence[Pool]
    owners: dict[int, str] = field(default_factory=dict)  # owner by the number of the address

    def __post_init__(self) -> None:
        self._cursors = [int(pool.first) for pool in self.ranges]
        self._released: list[int] = []
        self._waiting: set[int] = set()

    def owner(self, address: str) -> str | None:
        """Return who has the address, or None."""
        return self.owners.get(int(ip_address(address)))

    def take(self, address: str, owner: str) -> None:
        """Record the owner of an address, within the pools or not."""
        self.owners[int(ip_address(address))] = owner

    def release(self, address: str) -> None:
        """Forget the owner of an address."""
        number = int(ip_address(address))
        self.owners.pop(number, None)
        for pool, cursor in zip(self.ranges, self._cursors, strict=True):
            inside = int(pool.first) <= number < cursor
            if inside and number not in self._waiting:
                heapq.heappush(self._released, number)
                self._waiting.add(number)

    def next_free(self, excluded: AbstractSet[str] = frozenset()) -> str | None:
        """Return the lowest free address of the pools that is not excluded, or None."""
        avoid = {int(ip_address(address)) for address in excluded}
        number = self._from_released(avoid)
        if number is None:
            number = self._from_cursors(avoid)
        return None if number is None else str(type(self.ranges[0].first)(number))

    def _from_released(self, avoid: AbstractSet[int]) -> int | None:
        skipped = []
        found = None
        while self._released and found is None:
            number = heapq.heappop(self._released)
            if number in self.owners:
                self._waiting.discard(number)
                continue
            skipped.append(number)
            if number not in avoid:
                found = number
        for number in skipped:
            heapq.heappush(self._released, number)
        return found

    def _from_cursors(self, avoid: AbstractSet[int]) -> int | None:
        for at, pool in enumerate(self.ranges):
            last = int(pool.last)
            cursor = self._cursors[at]
            while cursor <= last and cursor in self.owners:
                cursor += 1
            self._cursors[at] = cursor
            while cursor <= last:
                if cursor not in self.owners and cursor not in avoid:
                    return cursor
                cursor += 1
        return None

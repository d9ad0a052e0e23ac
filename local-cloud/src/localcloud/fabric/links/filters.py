"""The packet filter of a server: security group rules as nftables, without the ``nft`` program.

The filter lives in the server's own network namespace. That namespace belongs to the fabric's
user namespace while the server's processes run in a user namespace below it, so that root in a
server cannot change it. A change replaces the whole table in one transaction: no packet meets a
half-built filter, and connections that were allowed stay (connection tracking).
"""

import ipaddress
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from localcloud.fabric.interface import Direction, FabricError, Port, Rule
from localcloud.fabric.links.netlink import (
    NETLINK_NETFILTER,
    NLM_F_APPEND,
    NLM_F_CREATE,
    Netlink,
    attribute,
    be32,
    nested,
    text,
)

_SUBSYSTEM = 10 << 8
_NEWTABLE, _DELTABLE, _NEWCHAIN, _NEWRULE, _NEWSET, _NEWELEMENTS = (
    _SUBSYSTEM | kind for kind in (0, 2, 3, 6, 9, 12)
)
_BATCH_BEGIN, _BATCH_END = 16, 17
_INET, _IPV4, _IPV6 = 1, 2, 10
_IIFNAME, _OIFNAME, _NFPROTO, _L4PROTO = 6, 7, 15, 16
_NETWORK, _TRANSPORT = 1, 2
_EQUAL, _AT_LEAST, _AT_MOST = 0, 5, 3
_HOOK_PREROUTING, _HOOK_INPUT, _HOOK_OUTPUT, _HOOK_POSTROUTING = 0, 1, 3, 4
_DROP, _ACCEPT = 0, 1
_ESTABLISHED, _RELATED = 2, 4
_NEIGHBOUR_DISCOVERY = range(133, 138)
_TABLE = "security-groups"
_ANONYMOUS_CONSTANT = 1 | 2  # a set of one rule, which does not change
_MOST_ELEMENTS = 1000  # in one message: the length of an attribute has 16 bits

_NUMBERS = {"icmp": 1, "tcp": 6, "udp": 17}
_WITH_PORTS = {6, 17, 33, 132, 136}
_ICMP = {1, 58}
Message = tuple[int, int, bytes]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def protocol_number(name: str | None, version: int) -> int | None:
    """The IP protocol of a rule; ``icmp`` means ICMPv6 in a rule for IPv6.

    Raises FabricError for a name that is unknown.
    """
    if name is None:
        return None
    if name == "icmp" and version == 6:
        return 58
    if name not in _NUMBERS and not name.isdecimal():
        raise FabricError(f"a security group rule has the unknown protocol {name}")
    return _NUMBERS.get(name) or int(name)


def permits(rules: tuple[Rule, ...] | None, source: str, tcp_port: int) -> bool:
    """Return whether these rules let a TCP connection from ``source`` in."""
    if rules is None:
        return True
    address = ipaddress.ip_address(source)
    return any(
        rule.direction is Direction.INGRESS
        and rule.ethertype == f"IPv{address.version}"
        and protocol_number(rule.protocol, address.version) in (None, 6)
        and (rule.port_min is None or rule.port_min <= tcp_port)
        and (rule.port_max is None or tcp_port <= rule.port_max)
        and (
            rule.remotes is None
            or any(address in ipaddress.ip_network(cidr, strict=False) for cidr in rule.remotes)
        )
        for rule in rules
    )


def _expression(name: str, *attributes: bytes) -> bytes:
    return nested(1, text(1, name), nested(2, *attributes))


def _value(data: bytes) -> bytes:
    return attribute(1, data)


def _compare(operator: int, data: bytes) -> bytes:
    return _expression("cmp", be32(1, 1), be32(2, operator), nested(3, _value(data)))


def _meta(key: int, data: bytes) -> bytes:
    return _expression("meta", be32(1, 1), be32(2, key)) + _compare(_EQUAL, data)


def _interface(key: int, name: str) -> bytes:
    return _meta(key, name.encode().ljust(16, b"\0"))


def _load(base: int, offset: int, length: int) -> bytes:
    return _expression("payload", be32(1, 1), be32(2, base), be32(3, offset), be32(4, length))


def _between(low: int, high: int, width: str) -> bytes:
    if low == high:
        return _compare(_EQUAL, struct.pack(width, low))
    return _compare(_AT_LEAST, struct.pack(width, low)) + _compare(
        _AT_MOST, struct.pack(width, high)
    )


def _offset(network: Network, source: bool) -> int:
    """Return where a packet of this version has the address."""
    return (12 if source else 16) if network.version == 4 else (8 if source else 24)


def _within(network: Network, source: bool) -> bytes:
    if network.prefixlen == 0:
        return b""
    size = 4 if network.version == 4 else 16
    address, mask = network.network_address.packed, network.netmask.packed
    loaded = _load(_NETWORK, _offset(network, source), size)
    return loaded + _masked(mask) + _compare(_EQUAL, address)


def _masked(mask: bytes) -> bytes:
    zeros = bytes(len(mask))
    sizes = be32(1, 1) + be32(2, 1) + be32(3, len(mask))
    return _expression("bitwise", sizes, nested(4, _value(mask)), nested(5, _value(zeros)))


def _verdict(code: int) -> bytes:
    return _expression("immediate", be32(1, 0), nested(2, nested(2, be32(1, code))))


_KNOWN_CONNECTION = (
    _expression("ct", be32(1, 1), be32(2, 0))
    + _masked(struct.pack("=I", _ESTABLISHED | _RELATED))
    + _expression("cmp", be32(1, 1), be32(2, 1), nested(3, _value(bytes(4))))
)


_DISCOVERY = (
    _meta(_L4PROTO, b"\x3a")
    + _load(_TRANSPORT, 0, 1)
    + _between(_NEIGHBOUR_DISCOVERY[0], _NEIGHBOUR_DISCOVERY[-1], "=B")
)


def _ports(rule: Rule, protocol: int) -> bytes:
    if rule.port_min is None and rule.port_max is None:
        return b""
    if protocol in _ICMP:
        kind = (
            b""
            if rule.port_min is None
            else _load(_TRANSPORT, 0, 1) + _between(rule.port_min, rule.port_min, "=B")
        )
        code = (
            b""
            if rule.port_max is None
            else _load(_TRANSPORT, 1, 1) + _between(rule.port_max, rule.port_max, "=B")
        )
        return kind + code
    if protocol not in _WITH_PORTS:
        return b""
    low = 1 if rule.port_min is None else rule.port_min
    high = 65535 if rule.port_max is None else rule.port_max
    return _load(_TRANSPORT, 2, 2) + _between(low, high, ">H")


class AddressSets:
    """The sets of addresses in the rules of a transaction: a lookup takes as long in any of them.

    ``messages`` make the sets, and must precede the rules.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._number = 0

    def contains(self, networks: Sequence[Network], source: bool) -> bytes:
        """Return the match of packets from, or to, one of these addresses of one version."""
        self._number += 1
        is_v4 = networks[0].version == 4
        size, key_type = (4, 7) if is_v4 else (16, 8)
        name, number = text(2, "__set%d"), self._number
        frame = struct.pack(">BBH", _INET, 0, 0) + text(1, _TABLE)
        flags = be32(3, _ANONYMOUS_CONSTANT) + be32(4, key_type) + be32(5, size)
        self.messages.append((_NEWSET, NLM_F_CREATE, frame + name + flags + be32(10, number)))
        for start in range(0, len(networks), _MOST_ELEMENTS):
            keys = (network.network_address.packed for network in networks[start:][:_MOST_ELEMENTS])
            elements = nested(3, *(nested(1, nested(1, _value(key))) for key in keys))
            body = frame + name + elements + be32(4, number)
            self.messages.append((_NEWELEMENTS, NLM_F_CREATE, body))
        lookup = _expression("lookup", text(1, "__set%d"), be32(2, 1), be32(4, number))
        return _load(_NETWORK, _offset(networks[0], source), size) + lookup


@lru_cache(maxsize=4096)
def _network(cidr: str) -> Network:
    return ipaddress.ip_network(cidr, strict=False)


def expressions(rule: Rule, link: str, sets: AddressSets) -> Iterator[bytes]:
    """The nftables rules of one security group rule: one for all remote addresses, which may be the
    members of a large group, and one for each other remote CIDR.
    """
    version = 6 if rule.ethertype == "IPv6" else 4
    inward = rule.direction is Direction.INGRESS
    match = _interface(_IIFNAME if inward else _OIFNAME, link)
    match += _meta(_NFPROTO, bytes([socket.AF_INET6 if version == 6 else socket.AF_INET]))
    protocol = protocol_number(rule.protocol, version)
    tail = _verdict(_ACCEPT)
    if protocol is not None:
        tail = _meta(_L4PROTO, bytes([protocol])) + _ports(rule, protocol) + tail
    remotes = ("::/0" if version == 6 else "0.0.0.0/0",) if rule.remotes is None else rule.remotes
    networks = [network for network in map(_network, remotes) if network.version == version]
    hosts = [network for network in networks if network.prefixlen == network.max_prefixlen]
    if len(hosts) > 1:
        yield match + sets.contains(list(dict.fromkeys(hosts)), source=inward) + tail
        networks = [network for network in networks if network.prefixlen < network.max_prefixlen]
    for network in networks:
        yield match + _within(network, source=inward) + tail


def _table(kind: int, family: int, name: str, flags: int = 0) -> Message:
    return kind, flags, struct.pack(">BBH", family, 0, 0) + text(1, name) + be32(2, 0)


def _chain(family: int, table: str, name: str, hook: int, policy: int, kind: str) -> Message:
    priority = -100 if kind == "nat" and hook != _HOOK_POSTROUTING else 0
    where = nested(4, be32(1, hook), attribute(2, struct.pack(">i", priority)))
    body = text(1, table) + text(3, name) + where + be32(5, policy) + text(7, kind)
    return _NEWCHAIN, NLM_F_CREATE, struct.pack(">BBH", family, 0, 0) + body


def _rule(family: int, table: str, chain: str, match: bytes) -> Message:
    body = text(1, table) + text(2, chain) + nested(4, match)
    return _NEWRULE, NLM_F_CREATE | NLM_F_APPEND, struct.pack(">BBH", family, 0, 0) + body


def _replacement(family: int, table: str) -> list[Message]:
    return [
        _table(_NEWTABLE, family, table, NLM_F_CREATE),
        _table(_DELTABLE, family, table),
        _table(_NEWTABLE, family, table, NLM_F_CREATE),
    ]


def messages(ports: Mapping[str, Port]) -> list[Message]:
    """The transaction that makes the filter of a server whose links have these ports."""
    made = _replacement(_INET, _TABLE)
    for chain, hook, key in (
        ("ingress", _HOOK_INPUT, _IIFNAME),
        ("egress", _HOOK_OUTPUT, _OIFNAME),
    ):
        made.append(_chain(_INET, _TABLE, chain, hook, _DROP, "filter"))
        unfiltered = [link for link, port in ports.items() if port.rules is None]
        links = [_interface(key, link) for link in ("lo", *unfiltered)]
        for match in (*links, _KNOWN_CONNECTION, _DISCOVERY):
            made.append(_rule(_INET, _TABLE, chain, match + _verdict(_ACCEPT)))
    sets = AddressSets()
    rules = [
        _rule(_INET, _TABLE, rule.direction.value, match)
        for link, port in ports.items()
        for rule in port.rules or ()
        for match in expressions(rule, link, sets)
    ]
    return [*made, *sets.messages, *rules]


class Filters:
    """The packet filter of the network namespace in which this object was made."""

    redirects = True  # connections can be redirected

    def __init__(self) -> None:
        self._netlink = Netlink(NETLINK_NETFILTER)

    def close(self) -> None:
        """Close the socket; the filter stays with its namespace."""
        self._netlink.close()

    def apply(self, made: list[Message]) -> None:
        """Put a transaction into effect; OSError, and no change, when the kernel refuses."""
        self._netlink.transaction(made, _BATCH_BEGIN, _BATCH_END)


class NoFilters:
    """Replaces the packet filter that the kernel lacks: everything passes."""

    redirects = False

    def close(self) -> None:
        """Nothing to close."""

    def apply(self, made: list[Message]) -> None:
        """Nothing to put into effect."""


def _redirect(port: int) -> bytes:
    target = _expression("immediate", be32(1, 1), nested(2, _value(struct.pack(">H", port))))
    return target + _expression("redir", be32(1, 1))


class Redirect(Struct, frozen=True):
    """A redirect of packets for ``target`` to ``listener`` on the server's own loopback."""

    target: str  # a CIDR
    port: int | None  # the destination port; None for every one
    listener: int
    protocol: str = "tcp"


def redirections(redirects: Sequence[Redirect]) -> list[Message]:
    """Redirect the connections that a server itself makes; replaces all earlier redirections."""
    table, chain = "redirections", "output"
    made: list[Message] = []
    for family, version in ((_IPV4, 4), (_IPV6, 6)):
        rules = [
            _rule(family, table, chain, _redirected(redirect, network))
            for redirect in redirects
            if (network := ipaddress.ip_network(redirect.target)).version == version
        ]
        if rules:
            made += _replacement(family, table)
            made.append(_chain(family, table, chain, _HOOK_OUTPUT, _ACCEPT, "nat"))
            made += rules
    return made


def _redirected(redirect: Redirect, network: Network) -> bytes:
    match = _meta(_L4PROTO, bytes([_NUMBERS[redirect.protocol]])) + _within(network, source=False)
    if redirect.port is not None:
        match += _load(_TRANSPORT, 2, 2) + _between(redirect.port, redirect.port, ">H")
    return match + _redirect(redirect.listener)


def outward(inner: list[str], tcp_port: int, dns_port: int) -> list[Message]:
    """Send TCP and DNS that pass a router, to other places than ``inner``, to its own sockets."""
    table, chain = "outward", "prerouting"
    made = [
        *_replacement(_IPV4, table),
        _chain(_IPV4, table, chain, _HOOK_PREROUTING, _ACCEPT, "nat"),
    ]
    for cidr in inner:
        match = _within(ipaddress.IPv4Network(cidr), source=False) + _verdict(_ACCEPT)
        made.append(_rule(_IPV4, table, chain, match))
    dns = _meta(_L4PROTO, b"\x11") + _load(_TRANSPORT, 2, 2) + _between(53, 53, ">H")
    made.append(_rule(_IPV4, table, chain, dns + _redirect(dns_port)))
    made.append(_rule(_IPV4, table, chain, _meta(_L4PROTO, b"\x06") + _redirect(tcp_port)))
    return made


def no_way_out() -> list[Message]:
    """Undo :func:`outward`."""
    return [_table(_NEWTABLE, _IPV4, "outward", NLM_F_CREATE), _table(_DELTABLE, _IPV4, "outward")]


def masquerade(link: str) -> list[Message]:
    """Give packets that leave a router through ``link`` the router's own address."""
    match = _interface(_OIFNAME, link) + _expression("masq")
    table, chain = "gateway", "postrouting"
    return [
        *_replacement(_IPV4, table),
        _chain(_IPV4, table, chain, _HOOK_POSTROUTING, _ACCEPT, "nat"),
        _rule(_IPV4, table, chain, match),
    ]

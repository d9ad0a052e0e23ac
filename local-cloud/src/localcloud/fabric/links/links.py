"""Links, addresses and routes of one network namespace, over rtnetlink."""

import errno
import ipaddress
import socket
import struct
from pathlib import Path

from localcloud.fabric.links.netlink import (
    NETLINK_ROUTE,
    NLM_F_CREATE,
    NLM_F_DUMP,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    Netlink,
    attribute,
    nested,
    parse_attributes,
    text,
    u32,
)

_NEWLINK, _DELLINK, _GETLINK = 16, 17, 18
_NEWADDR, _DELADDR, _GETADDR = 20, 21, 22
_NEWROUTE, _DELROUTE = 24, 25
_IFLA_ADDRESS, _IFLA_IFNAME, _IFLA_MTU = 1, 3, 4
_IFLA_MASTER, _IFLA_LINKINFO, _IFLA_NET_NS_FD = 10, 18, 28
_IFLA_NUM_TX_QUEUES, _IFLA_NUM_RX_QUEUES = 31, 32
_INFO_KIND, _INFO_DATA = 1, 2
_VETH_INFO_PEER = 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_RTA_DST, _RTA_OIF, _RTA_GATEWAY, _RTA_PRIORITY = 1, 4, 5, 6
_IFF_UP = 1
_IFA_F_NODAD = 2
_RTNH_F_ONLINK = 4
# By default, links have a queue for each processor, and the kernel removes all but one later. It
# then waits until no processor uses them, which takes longer than everything else.
_ONE_QUEUE = (u32(_IFLA_NUM_TX_QUEUES, 1), u32(_IFLA_NUM_RX_QUEUES, 1))


def _link(index: int = 0, flags: int = 0, change: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, change)


def _family(version: int) -> int:
    return socket.AF_INET if version == 4 else socket.AF_INET6


class Links:
    """The links of the network namespace in which this object was made."""

    def __init__(self) -> None:
        self._netlink = Netlink(NETLINK_ROUTE)

    def close(self) -> None:
        """Close the socket."""
        self._netlink.close()

    def index(self, name: str) -> int | None:
        """The number of the link, or None when there is no such link."""
        try:
            (answer,) = self._netlink.ask(_GETLINK, _link() + text(_IFLA_IFNAME, name))
        except OSError as error:
            if error.errno == errno.ENODEV:
                return None
            raise
        return int(struct.unpack_from("=i", answer, 4)[0])

    def _known(self, name: str) -> int:
        index = self.index(name)
        assert index is not None, name
        return index

    def add_bridge(self, name: str, mtu: int) -> int:
        """Make a bridge that is up, and return its number."""
        body = (
            _link(flags=_IFF_UP, change=_IFF_UP)
            + text(_IFLA_IFNAME, name)
            + u32(_IFLA_MTU, mtu)
            + nested(_IFLA_LINKINFO, text(_INFO_KIND, "bridge"))
        )
        self._netlink.request(_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL)
        return self._known(name)

    def add_veth(self, name: str, mac: str, mtu: int, peer: str, peer_namespace: int) -> None:
        """Make a pair of links, both down: ``name`` here and ``peer`` in another namespace."""
        far = nested(
            _VETH_INFO_PEER,
            _link(),
            text(_IFLA_IFNAME, peer),
            u32(_IFLA_MTU, mtu),
            *_ONE_QUEUE,
            u32(_IFLA_NET_NS_FD, peer_namespace),
        )
        body = (
            _link()
            + text(_IFLA_IFNAME, name)
            + attribute(_IFLA_ADDRESS, bytes.fromhex(mac.replace(":", "")))
            + u32(_IFLA_MTU, mtu)
            + b"".join(_ONE_QUEUE)
            + nested(_IFLA_LINKINFO, text(_INFO_KIND, "veth"), nested(_INFO_DATA, far))
        )
        self._netlink.request(_NEWLINK, body, NLM_F_CREATE | NLM_F_EXCL)

    def plug(self, name: str, master: int) -> None:
        """Put a link into a bridge and bring it up."""
        index = self._known(name)
        body = _link(index, _IFF_UP, _IFF_UP) + u32(_IFLA_MASTER, master)
        self._netlink.request(_NEWLINK, body)

    def set_up(self, name: str, up: bool) -> None:
        """Bring a link up or down."""
        index = self._known(name)
        self._netlink.request(_NEWLINK, _link(index, _IFF_UP if up else 0, _IFF_UP))

    def delete(self, name: str) -> None:
        """Remove a link; an unknown name is fine."""
        index = self.index(name)
        if index is not None:
            self._netlink.request(_DELLINK, _link(index))

    def delete_index(self, index: int) -> None:
        """Remove the link with this number."""
        self._netlink.request(_DELLINK, _link(index))

    def addresses(self, name: str) -> set[ipaddress.IPv4Interface | ipaddress.IPv6Interface]:
        """The addresses of a link, without link-local ones."""
        index = self.index(name)
        found = set()
        for answer in self._netlink.ask(_GETADDR, struct.pack("=BBBBI", 0, 0, 0, 0, 0), NLM_F_DUMP):
            _, length, _, _, holder = struct.unpack_from("=BBBBI", answer)
            attributes = parse_attributes(answer[8:])
            raw = attributes.get(_IFA_LOCAL) or attributes[_IFA_ADDRESS]
            address = ipaddress.ip_interface((raw, length))
            if holder == index and not (address.version == 6 and address.is_link_local):
                found.add(address)
        return found

    def add_address(
        self, name: str, address: ipaddress.IPv4Interface | ipaddress.IPv6Interface
    ) -> None:
        """Give a link an address; one that it has is fine."""
        self._change_address(_NEWADDR, name, address, NLM_F_CREATE | NLM_F_REPLACE)

    def remove_address(
        self, name: str, address: ipaddress.IPv4Interface | ipaddress.IPv6Interface
    ) -> None:
        """Take an address off a link."""
        self._change_address(_DELADDR, name, address, 0)

    def _change_address(
        self,
        kind: int,
        name: str,
        address: ipaddress.IPv4Interface | ipaddress.IPv6Interface,
        flags: int,
    ) -> None:
        index = self._known(name)
        length = address.network.prefixlen
        header = struct.pack("=BBBBI", _family(address.version), length, _IFA_F_NODAD, 0, index)
        raw = address.ip.packed
        body = header + attribute(_IFA_LOCAL, raw) + attribute(_IFA_ADDRESS, raw)
        self._netlink.request(kind, body, flags)

    def add_route(self, destination: str, gateway: str, name: str, priority: int) -> None:
        """Route a CIDR through a next hop that is reached over the link ``name``."""
        index = self._known(name)
        body = _route(destination, gateway) + u32(_RTA_OIF, index) + u32(_RTA_PRIORITY, priority)
        self._netlink.request(_NEWROUTE, body, NLM_F_CREATE | NLM_F_REPLACE)

    def remove_route(self, destination: str, gateway: str) -> None:
        """Remove a route; one that went away with its link is fine."""
        try:
            self._netlink.request(_DELROUTE, _route(destination, gateway))
        except OSError as error:
            if error.errno not in (errno.ESRCH, errno.ENODEV):
                raise


def _route(destination: str, gateway: str) -> bytes:
    network = ipaddress.ip_network(destination, strict=False)
    hop = ipaddress.ip_address(gateway)
    table_main, proto_static, scope_universe, type_unicast = 254, 4, 0, 1
    header = struct.pack(
        "=BBBBBBBBI",
        _family(network.version),
        network.prefixlen,
        0,
        0,
        table_main,
        proto_static,
        scope_universe,
        type_unicast,
        _RTNH_F_ONLINK,
    )
    target = attribute(_RTA_DST, network.network_address.packed)
    return header + target + attribute(_RTA_GATEWAY, hop.packed)


def set_sysctl(name: str, value: str) -> None:
    """Set a network option (``ipv4.ip_forward``) of the current network namespace."""
    Path("/proc/sys/net", name.replace(".", "/")).write_text(value)

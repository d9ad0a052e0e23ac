"""The sockets of appliances: made in one namespace, used in another."""

import socket
from contextlib import suppress

from localcloud.fabric.interface import ListenAccess

_BACKLOG = 1024


def make_socket(door: ListenAccess, address: str) -> socket.socket:
    """Return a socket that does not block, in the namespace that this process is in."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Name the protocol: asyncio sets TCP_NODELAY only on sockets whose protocol is IPPROTO_TCP.
    kind, protocol = socket.SOCK_STREAM, socket.IPPROTO_TCP
    if door in (ListenAccess.RECEIVE, ListenAccess.SEND):
        kind, protocol = socket.SOCK_DGRAM, socket.IPPROTO_UDP
    elif door is ListenAccess.PING:
        kind = socket.SOCK_DGRAM
        protocol = socket.IPPROTO_ICMPV6 if ":" in address else socket.IPPROTO_ICMP
    made = socket.socket(family, kind | socket.SOCK_CLOEXEC, protocol)
    made.setblocking(False)
    return made


def use_socket(made: socket.socket, door: ListenAccess, place: tuple[str, int]) -> None:
    """Bind or connect a socket; a connection may still be under way. Raises OSError."""
    if door is ListenAccess.LISTEN:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(_BACKLOG)
    elif door is ListenAccess.RECEIVE:
        made.bind(place)
    elif door is ListenAccess.PING:
        made.connect((place[0], 0))
    else:
        with suppress(BlockingIOError):
            made.connect(place)

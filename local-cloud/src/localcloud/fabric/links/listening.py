"""The TCP ports that programs of a network namespace listen on, as the kernel knows them.

:func:`open_tables` is called inside the namespace, in the fabric process. The cloud gets the
descriptors, and reads them with :func:`listening_ports`. A table is a netlink socket through which
the kernel is asked for listening sockets. If the kernel has no ``inet_diag``, it is the table in
/proc, which takes thirty times as long: the kernel searches all of its memory for other sockets.
"""

import ipaddress
import itertools
import os
import socket
import stat
import struct
from collections.abc import Iterator, Sequence

from localcloud.fabric.links.netlink import NETLINK_SOCK_DIAG, NLM_F_DUMP, Netlink

_TABLE_BYTES = 1 << 20
# What the kernel gives of a table at a time, and more than any of its rows takes.
_PAGE_BYTES, _ROW_BYTES = os.sysconf("SC_PAGE_SIZE"), 256
_LISTENING = b"0A"
_SOCK_DIAG = 20  # the kernel's SOCK_DIAG_BY_FAMILY
_TCP_LISTEN = 10
_MOST_SOCKETS = 5000
_PORT_AND_ADDRESS = struct.Struct(">4xH2x16s")  # of struct inet_diag_msg
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
Listening = tuple[str, int]  # an address as in a table, and a port


def as_in_table(address: str) -> str:
    """Return an address as the tables in /proc write it: hexadecimal words in host byte order."""
    return _in_words(ipaddress.ip_address(address).packed)


def _in_words(packed: bytes) -> str:
    words = (packed[at : at + 4][::-1] for at in range(0, len(packed), 4))
    return b"".join(words).hex().upper()


def open_tables() -> list[int]:
    """Open the tables (v4, v6) of the namespace that this process is in."""
    try:
        asking = [Netlink(NETLINK_SOCK_DIAG) for _ in _FAMILIES]
        for each, family in zip(asking, _FAMILIES, strict=True):
            list(_sockets(each, family))
    except OSError:
        names = ("tcp", "tcp6")
        return [os.open(f"/proc/self/net/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in names]
    return [each.detach() for each in asking]


def listening_ports(tables: Sequence[int], addresses: frozenset[str]) -> set[int]:
    """Return the ports that are listened on at one of these addresses, given as in a table."""
    rows = (_read(table, family) for table, family in zip(tables, _FAMILIES, strict=False))
    return {port for address, port in itertools.chain(*rows) if address in addresses}


def _read(table: int, family: int) -> Sequence[Listening]:
    if not stat.S_ISSOCK(os.fstat(table).st_mode):
        return list(_rows(table))
    asking = Netlink(NETLINK_SOCK_DIAG, table)
    try:
        return list(_sockets(asking, family))
    finally:
        asking.detach()


def _sockets(asking: Netlink, family: int) -> Iterator[Listening]:
    """Ask the kernel for the listening sockets of a namespace."""
    query = struct.pack("=BBBxI48x", family, socket.IPPROTO_TCP, 0, 1 << _TCP_LISTEN)
    size = 4 if family == socket.AF_INET else 16
    for number, found in enumerate(asking.answers(_SOCK_DIAG, query, NLM_F_DUMP)):
        if number < _MOST_SOCKETS:
            port, address = _PORT_AND_ADDRESS.unpack_from(found)
            yield _in_words(address[:size]), port


def _rows(table: int) -> Iterator[Listening]:
    for line in _first_part(table).splitlines()[1:]:
        fields = line.split(maxsplit=4)
        if len(fields) > 3 and fields[3] == _LISTENING:
            address, _, port = fields[1].decode().partition(":")
            yield address, int(port, 16)


def _first_part(table: int) -> bytes:
    """Return the rows of the listening sockets in a table of /proc.

    The kernel returns a page at a time, and the listening sockets first. To read the end of the
    table costs as much as the whole table. So a page with room for another row counts as the last.
    """
    content = b""
    while len(content) < _TABLE_BYTES:
        page = os.pread(table, _TABLE_BYTES, len(content))
        content += page
        if len(page) < _PAGE_BYTES - _ROW_BYTES:
            break
        if not any(row.split(maxsplit=4)[3:4] == [_LISTENING] for row in page.splitlines()):
            break
    return content

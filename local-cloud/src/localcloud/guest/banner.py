"""The first lines of a boot on the console, as a kernel would print them."""

import fcntl
import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

_SIOCGIFADDR = 0x8915
_V6_TABLE = Path("/proc/net/if_inet6")


def banner() -> bytes:
    """Print the start of the boot: kernel, host name, and the addresses of each link."""
    began = time.monotonic()
    system = os.uname()
    lines = [
        f"Linux version {system.release} {system.machine}",
        f"Processors: {len(os.sched_getaffinity(0))}",
        f"Host name: {system.nodename}",
        *(f"{name}: {address}" for name, address in _addresses()),
    ]
    stamped = (f"[{time.monotonic() - began:12.6f}] {line}\n" for line in lines)
    return "".join(stamped).encode()


def _addresses() -> Iterator[tuple[str, str]]:
    links = [name for _, name in socket.if_nameindex() if name != "lo"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for name in links:
            request = struct.pack("256s", name.encode())
            try:
                answer = fcntl.ioctl(asking, _SIOCGIFADDR, request)
            except OSError:
                continue
            yield name, socket.inet_ntoa(answer[20:24])
    table = _V6_TABLE.read_text().splitlines() if _V6_TABLE.exists() else []
    for packed, *_, name in map(str.split, table):
        if name in links:
            yield name, socket.inet_ntop(socket.AF_INET6, bytes.fromhex(packed))

"""The fabric that this machine allows."""

import ipaddress
from collections.abc import Sequence
from pathlib import Path

from localcloud.fabric.interface import Fabric
from localcloud.fabric.namespaces import NamespaceFabric
from localcloud.fabric.plain import PlainFabric
from localcloud.fabric.start import start_owner


def _reached_as(host: str) -> str:
    """The address under which a service that listens at ``host`` is reached on the host."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)


def fabric_for(
    state: Path,
    services: Sequence[tuple[str, int]],
    floating: Sequence[str] = ("127.24.4.0/24",),
) -> Fabric:
    """Return the fabric on namespaces, or that of plain processes where those are refused.

    ``state`` is a directory for the built-in image; it must lie on the file system of the disks.
    ``services`` are the host's (address, port) pairs that servers reach under the same address.
    ``floating`` are the CIDRs of floating addresses: servers reach those of others too.

    Why it is the latter is said first in its ``capabilities.lacks``. Forks the fabric process: to
    be called from the main thread, before the process has other threads, secrets or an event loop.
    """
    reached = tuple(dict.fromkeys((_reached_as(host), port) for host, port in services))
    state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    state.mkdir(exist_ok=True)
    process = start_owner(
        {
            "state": str(state.resolve()),
            "probe_only": False,
            "services": reached,
            "floating": floating,
        }
    )
    if process.findings.capabilities.isolated:
        return NamespaceFabric(process, reached)
    process.channel.close()
    process.wait()
    return PlainFabric(process.findings.capabilities.lacks)

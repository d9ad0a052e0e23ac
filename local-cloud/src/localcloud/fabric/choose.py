"""The fabric that this machine allows."""

import os
from collections.abc import Sequence
from ipaddress import ip_network

from localcloud.fabric.interface import Fabric
from localcloud.fabric.no_fabric import NoFabric
from localcloud.fabric.process.namespaces import NamespaceFabric
from localcloud.fabric.process.plain import PlainFabric
from localcloud.fabric.process.start import OwnerStart

_REFUSED = "No server is started, because servers cannot be isolated on this machine: {reason}."
_REMEDY = (
    " Where you trust all templates, their user data can run without isolation, with all rights of"
    " the user who runs the cloud: stoker serve --without-isolation"
)
_NOT_FOR_ROOT = " Root runs no servers without isolation: start the cloud as another user."


def fabric_on(start: OwnerStart, *, without_isolation: bool = False) -> Fabric:
    """Return the fabric on namespaces; where those are refused, a fabric that starts no servers.

    Servers are plain processes if the user has chosen servers ``without_isolation``. Waits for the
    findings of the fabric process.
    """
    process = start.complete()
    if process.findings.capabilities.isolated:
        return NamespaceFabric(process)
    process.channel.close()
    process.wait()
    third = ip_network(process.floating[0])[0].packed[2] if process.floating else 0
    lacks = process.findings.capabilities.lacks
    return without_namespaces(lacks, third, is_allowed=without_isolation, is_root=os.geteuid() == 0)


def without_namespaces(
    lacks: Sequence[str], third: int, *, is_allowed: bool, is_root: bool
) -> Fabric:
    """Return the fabric of a machine that has no namespaces; ``lacks`` say why.

    User data runs on the machine itself only if the user ``is_allowed`` to do so by their own word,
    and never as root. ``third`` is the byte of the addresses of a fabric of plain processes.
    """
    if is_allowed and not is_root:
        return PlainFabric(lacks, third)
    reason = _REFUSED.format(reason=lacks[0].rstrip("."))
    return NoFabric(reason + (_NOT_FOR_ROOT if is_root else _REMEDY))

"""The fabric that this machine allows."""

from ipaddress import ip_network

from localcloud.fabric.interface import Fabric
from localcloud.fabric.namespaces import NamespaceFabric
from localcloud.fabric.plain import PlainFabric
from localcloud.fabric.start import OwnerStart


def fabric_on(start: OwnerStart) -> Fabric:
    """Return the fabric on namespaces, or that of plain processes where those are refused.

    Why it is the latter is said first in its ``capabilities.lacks``. Waits for what the fabric
    process finds out.
    """
    process = start.complete()
    if process.findings.capabilities.isolated:
        return NamespaceFabric(process)
    process.channel.close()
    process.wait()
    third = ip_network(process.floating[0])[0].packed[2] if process.floating else 0
    return PlainFabric(process.findings.capabilities.lacks, third)

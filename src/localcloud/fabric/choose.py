"""The fabric that this machine allows."""

from collections.abc import Callable, Sequence
from pathlib import Path

from localcloud.fabric.interface import Exit, Fabric, FabricError
from localcloud.fabric.namespaces import NamespaceFabric
from localcloud.fabric.plain import PlainFabric


async def start_fabric(
    state: Path,
    services: Sequence[tuple[str, int]],
    on_exit: Callable[[Exit], None],
    floating: Sequence[str] = ("127.24.4.0/24",),
) -> Fabric:
    """Start and return the fabric on namespaces, or of plain processes where those are refused.

    Why it is the latter is the first sentence of its ``capabilities.lacks``. The parameters are
    those of :class:`NamespaceFabric`.
    """
    fabric = NamespaceFabric(state, services, floating)
    try:
        await fabric.start(on_exit)
    except FabricError:
        plain = PlainFabric(fabric.capabilities.lacks)
        await plain.start(on_exit)
        return plain
    return fabric

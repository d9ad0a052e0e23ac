"""The answer of a fabric that cannot run commands in its servers."""

from collections.abc import Sequence

from localcloud.fabric.interface import FabricError


async def refuse(
    server_id: str, command: Sequence[str], user: str, descriptors: Sequence[int]
) -> None:
    """Say that there are no namespaces to run a command in."""
    raise FabricError(
        "commands run in servers with namespaces of their own alone;"
        ' "stoker doctor" says what this machine lacks'
    )

"""Freezes servers while a copy of their disks is made."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from localcloud.fabric.interface import Fabric


@asynccontextmanager
async def still(fabric: Fabric, server_ids: Iterable[str]) -> AsyncIterator[None]:
    """Keep these servers from writing, so that a copy is consistent."""
    frozen = list(server_ids)
    try:
        for server_id in frozen:
            await fabric.pause(server_id, True)
        yield
    finally:
        for server_id in frozen:
            await fabric.pause(server_id, False)

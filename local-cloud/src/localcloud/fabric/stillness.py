"""Servers that stand still while a copy is made of what they write to."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from localcloud.fabric.interface import Fabric


@asynccontextmanager
async def still(fabric: Fabric, server_ids: Iterable[str]) -> AsyncIterator[None]:
    """Keep these servers from writing: what is copied is of one moment."""
    frozen = list(server_ids)
    try:
        for server_id in frozen:
            await fabric.pause(server_id, True)
        yield
    finally:
        for server_id in frozen:
            await fabric.pause(server_id, False)

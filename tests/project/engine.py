"""An engine with a store and without a cloud."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.engine import CALLER, Bench

from stoker.resources.base.registry import Registry

__all__ = ["CALLER", "running_engine"]


@asynccontextmanager
async def running_engine(directory: Path, types: Registry) -> AsyncIterator[Bench]:
    """The engine inside the block."""
    engine = Bench(directory, types)
    try:
        yield engine
    finally:
        await engine.dispatch.close()
        engine.opened.close()

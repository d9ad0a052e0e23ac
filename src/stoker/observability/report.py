"""Reports of the service about itself, for operators and for Prometheus."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from stoker import __version__
from stoker.engine.model.interfaces import Store, StoreError
from stoker.kernel.clock import Clock
from stoker.kernel.lazy import LazyModule
from stoker.kernel.load import Load
from stoker.observability.counts import Counts

exposition = LazyModule("stoker.observability.exposition")

_PATIENCE = 5.0  # seconds after which an unresponsive database counts as unreachable


class Work(Struct, frozen=True):
    """The stacks that a process drives, and the distribution of the work."""

    driven: int  # stacks that this process drives at the moment
    due: int  # stacks that could be driven now, and wait for an engine
    engines_up: int
    engines_down: int  # engines of the last day without reports


@dataclass(slots=True)
class Report:
    """Combines the reports of all parts. Lives on the event loop."""

    counts: Counts
    clock: Clock
    store: Store
    commits: Callable[[], tuple[int, float]]  # number of transactions, and seconds that they took
    loads: Callable[[], Mapping[str, Load]]  # by service of the cloud
    pauses: Callable[[], Mapping[str, Any]]
    reencrypting: Callable[[], bool]
    work: Callable[[], Awaitable[Work]]
    connections: dict[str, Callable[[], int]] = field(default_factory=dict)  # by interface

    async def metrics(self) -> str:
        """The text that Prometheus reads. Raises StoreError, or TimeoutError."""
        transactions, seconds = self.commits()
        async with asyncio.timeout(_PATIENCE):
            open_, size = await self._open_operations(), await self.store.database_size()
            work = await self.work()
        return await asyncio.to_thread(
            _text,
            self.counts,
            open_operations=open_,
            database_bytes=size,
            transactions=transactions,
            transaction_seconds=seconds,
            loads=self.loads(),
            connections=self._connections(),
            pauses=self.pauses(),
            work=work,
            texts_left=self.reencrypting(),
        )

    async def details(self) -> Mapping[str, Any]:
        """Return an overview for operators; ``fault`` names the broken part."""
        details: dict[str, Any] = {
            "version": __version__,
            "event_loop": self.pauses(),
            "connections": self._connections(),
            "cloud": {
                service: {"places": load.places, "waiting": load.waiting, "pause": load.pause}
                for service, load in self.loads().items()
            },
            "reencrypting": self.reencrypting(),
        }
        try:
            async with asyncio.timeout(_PATIENCE):
                open_, size = await self._open_operations(), await self.store.database_size()
                work = await self.work()
        except (StoreError, TimeoutError) as fault:
            return {**details, "fault": f"the database does not answer: {fault or 'in time'}"}
        operations = {
            status: {"count": count, "oldest_seconds": round(age, 1)}
            for status, (count, age) in open_.items()
        }
        database = {"bytes": size}
        return {**details, "operations": operations, "database": database, "work": asdict(work)}

    async def _open_operations(self) -> Mapping[str, tuple[int, float]]:
        now = self.clock.now()
        found = await self.store.open_operations()
        return {status: (count, max(now - first, 0.0)) for status, (count, first) in found.items()}

    def _connections(self) -> dict[str, int]:
        return {interface: count() for interface, count in self.connections.items()}


def _text(counts: Counts, **state: Any) -> str:
    """Return the metrics as text. The first call takes 0.1 s longer, because it loads modules."""
    text: str = exposition.exposition(counts, exposition.Snapshot(**state))
    return text

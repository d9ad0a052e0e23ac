"""The engine of this very process, as the list of services shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stoker.api.ports import EngineView
from stoker.kernel.clock import Clock
from stoker.kernel.ids import Ids

REPORT_INTERVAL = 60
"""Seconds in which clients expect an engine to report; this one is asked itself."""


class OwnEngine:
    """Answers for an engine that runs where it is asked: it is up whenever it can answer."""

    def __init__(self, clock: Clock, ids: Ids, host: str) -> None:
        self._clock = clock
        now = clock.now()
        self._view = EngineView(
            id=ids.uuid(),
            engine_id=ids.uuid(),
            host=host,
            binary="heat-engine",
            topic="engine",
            report_interval=REPORT_INTERVAL,
            created_at=now,
            updated_at=now,
            up=True,
        )

    async def __call__(self) -> Sequence[EngineView]:
        """The one engine."""
        return [replace(self._view, updated_at=self._clock.now())]

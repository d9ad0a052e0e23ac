"""The engine of this process, for the list of services."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.api.ports import EngineView
from stoker.kernel.clock import Clock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace


class OwnEngine:
    """Returns the engine of the same process, which is up whenever this is called."""

    def __init__(self, clock: Clock, ids: RandomIds, host: str) -> None:
        self._clock = clock
        now = clock.now()
        self._view = EngineView(
            id=ids.uuid(), engine_id=ids.uuid(), host=host, created_at=now, updated_at=now, up=True
        )

    async def __call__(self) -> Sequence[EngineView]:
        """Return the only engine."""
        return [replace(self._view, updated_at=self._clock.now())]

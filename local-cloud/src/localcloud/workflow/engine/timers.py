"""Continues executions at the times that their tasks name."""

import asyncio
from collections.abc import Callable

from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import ENDED


class Timers:
    """The next due time of each execution."""

    def __init__(self, state: State, soon: Callable[[str], None]) -> None:
        self._state = state
        self._soon = soon
        self._wakes: dict[str, asyncio.Task[None]] = {}

    def set(self, execution_id: str) -> None:
        """Wait for the earliest time that a task of the execution names, if any."""
        if old := self._wakes.pop(execution_id, None):
            old.cancel()
        times = [
            time
            for task in self._state.open_tasks(execution_id)
            if task["state"] not in ENDED
            for time in (task["due"], task["expires"])
            if time is not None
        ]
        if times:
            wake = asyncio.get_running_loop().create_task(self._wake(execution_id, min(times)))
            self._wakes[execution_id] = wake

    async def stop(self) -> None:
        """Cancel all waits."""
        waiting = list(self._wakes.values())
        for wake in waiting:
            wake.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _wake(self, execution_id: str, time: float) -> None:
        # 1 ms later, so that the clock has passed the time when the task compares them.
        await self._state.cloud.clock.sleep(max(0.0, time - self._state.moment()) + 0.001)
        self._wakes.pop(execution_id, None)
        self._soon(execution_id)

"""Scheduling of stacks in a process: on its own, or together with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from stoker.api.own_engine import OwnEngine
from stoker.api.ports import Engines
from stoker.dispatch.in_process import InProcess
from stoker.engine.model.interfaces import Dispatcher, Ports
from stoker.observability.report import Work
from stoker.server.leader_tasks import SingletonTask

ForeignHandler = Callable[[Sequence[str]], None]
"""Handles the ids of a notification that another process has sent."""


class StackScheduler(Protocol):
    """Drives stacks, or lets other processes drive them."""

    ports: Ports
    dispatcher: Dispatcher
    engines: Engines

    async def start(
        self,
        tasks: Sequence[SingletonTask],
        handlers: Mapping[str, ForeignHandler],
        share: Callable[[int], None],
    ) -> None:
        """Start.

        ``tasks`` run in exactly one process. ``handlers`` are called with notifications of their
        kind, and ``share`` with the number of engines.
        """

    async def work(self) -> Work:
        """Return the load of this process and the number of engines. Raises StoreError."""

    async def close(self) -> None:
        """End, and release the driven stacks for other processes, or for the next start."""


class StandaloneScheduler(StackScheduler):
    """One process for everything."""

    def __init__(self, ports: Ports, host: str) -> None:
        self.ports = ports
        self.dispatcher = self._dispatch = InProcess(ports)
        self.engines = OwnEngine(ports.clock, ports.ids, host)
        self._tasks: Sequence[SingletonTask] = ()

    async def start(
        self,
        tasks: Sequence[SingletonTask],
        handlers: Mapping[str, ForeignHandler],
        share: Callable[[int], None],
    ) -> None:
        """Resume the work that an earlier process left unfinished."""
        await self._dispatch.recover()
        self._tasks = tasks
        for task in tasks:
            task.start()

    async def work(self) -> Work:
        """Return the load of the only process: nothing waits."""
        return Work(self._dispatch.under_way, due=0, engines_up=1, engines_down=0)

    async def close(self) -> None:
        """Stop driving; everything stays as it is stored."""
        await self._dispatch.close()
        for task in self._tasks:
            await task.close()

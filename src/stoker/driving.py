"""How a process has stacks driven: by itself alone, or together with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from stoker.api.own_engine import OwnEngine
from stoker.api.ports import Engines
from stoker.dispatch.duties import Duty
from stoker.dispatch.in_process import InProcess
from stoker.engine.model.interfaces import Dispatcher, Ports
from stoker.metrics.report import Work

Hear = Callable[[Sequence[str], bool], None]
"""Takes what news are about, and whether this process has told them itself."""


class Driving(Protocol):
    """What drives stacks, or has them driven."""

    ports: Ports
    dispatcher: Dispatcher
    engines: Engines

    async def start(
        self,
        duties: Sequence[Duty],
        heard_by: Mapping[str, Hear],
        share: Callable[[int], None],
    ) -> None:
        """Begin. ``duties`` are done once in all processes; ``heard_by`` says who is told what
        others have written, and ``share`` is told how many engines there are.
        """

    async def work(self) -> Work:
        """What this process drives, and how the work is shared. Raises StoreFault."""

    async def close(self) -> None:
        """End, and leave what is driven to others, or to the next start."""


class Alone(Driving):
    """One process for everything."""

    def __init__(self, ports: Ports, host: str) -> None:
        self.ports = ports
        self.dispatcher = self._dispatch = InProcess(ports)
        self.engines = OwnEngine(ports.clock, ports.ids, host)
        self._duties: Sequence[Duty] = ()

    async def start(
        self,
        duties: Sequence[Duty],
        heard_by: Mapping[str, Hear],
        share: Callable[[int], None],
    ) -> None:
        """Go on with what an earlier process left unfinished."""
        await self._dispatch.recover()
        self._duties = duties
        for duty in duties:
            duty.start()

    async def work(self) -> Work:
        """There is nobody to share with: nothing waits."""
        return Work(self._dispatch.under_way, due=0, engines_up=1, engines_down=0)

    async def close(self) -> None:
        """Stop driving; everything stays as it is stored."""
        await self._dispatch.close()
        for duty in self._duties:
            await duty.close()

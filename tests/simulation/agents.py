"""The agent on the server of the simulation: it outlives engines, and applies each config once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from stoker.kernel.errors import RequestError
from stoker.schema.software import SoftwareConfig
from tests.simulation.world import CALLER, EngineLife, World

SERVER = "server"
_PAUSE = 0.7
_TAKES = 1.3  # seconds that the agent needs for a config


@dataclass
class Applied:
    """The agent's state on its disk."""

    # By config: the resource, the action and the value that it was applied for.
    runs: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)


class Agent:
    """Polls for deployments, applies the new ones, and reports until it is answered."""

    def __init__(self, world: World, engine: EngineLife, applied: Applied) -> None:
        self._world = world
        self._engine = engine
        self._applied = applied
        self._generation = engine.generation

    @property
    def _alive(self) -> bool:
        return self._world.generation == self._generation

    async def work(self) -> None:
        """Continue for ever."""
        while self._alive:
            await asyncio.sleep(_PAUSE)
            try:
                await self._look()
            except RequestError:
                continue
            except Exception:
                if not self._world.disk.failed:
                    raise

    async def _told(self) -> list[SoftwareConfig]:
        return list(await self._engine.service.software.metadata(CALLER, SERVER))

    async def _look(self) -> None:
        for config in await self._told():
            inputs = {entry["name"]: entry.get("value") for entry in config.inputs}
            if not self._alive or config.id in self._applied.reported:
                continue
            name, action = inputs["deploy_resource_name"], inputs["deploy_action"]
            if config.id not in self._applied.runs:
                self._applied.runs[config.id] = (name, action, str(inputs.get("value")))
                await asyncio.sleep(_TAKES)
            # a report does not say what it is about: one that comes late would count for another
            if self._alive and config in await self._told():
                await self._report(name, config)

    async def _report(self, name: str, config: SoftwareConfig) -> None:
        engine = self._engine
        address = await engine.operations.find(CALLER, "stack")
        details = {"deploy_status_code": 0, "deploy_stdout": config.id}
        await engine.signals.signal(CALLER, address, name, details)
        self._applied.reported.add(config.id)

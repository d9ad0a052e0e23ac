"""A stack in the simulated world without trouble, for tests of single rules."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from stoker.engine.model.interfaces import Dispatcher, Ports
from stoker.engine.model.records import Event, Operation, Resource, Stack
from stoker.engine.model.requests import Caller, EventQuery, StackRequest
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.values import replace
from stoker.store.store import SqlStore
from tests.simulation.world import CALLER, EngineLife, World


def template(resources: Mapping[str, Any], **sections: Any) -> dict[str, Any]:
    """A template with these resources."""
    return {"heat_template_version": "2018-08-31", "resources": dict(resources), **sections}


def thing(depends_on: str | None = None, **properties: Any) -> dict[str, Any]:
    """An object of the simulated cloud."""
    body: dict[str, Any] = {"type": "Sim::Thing", "properties": properties}
    if depends_on is not None:
        body["depends_on"] = depends_on
    return body


class Seen(Finder):
    """Finds one stack, as it was when it was seen."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack

    async def at(self, caller: Caller, address: StackAddress) -> Stack:
        """The stack."""
        return self._stack


class Deaf(Dispatcher):
    """Starts and wakes no driver."""

    def wake(self, stack_id: str) -> None:
        """Nothing."""

    def wake_parent(self, parent_id: str, stack_id: str) -> None:
        """Nothing."""


class Lab:
    """One stack, one engine, a cloud that gives no trouble. Time is virtual."""

    def __init__(self, engine: EngineLife, world: World) -> None:
        self.engine = engine
        self.world = world
        self.cloud = world.cloud

    async def create(self, wanted: Mapping[str, Any], **request: Any) -> StackAddress:
        """Create the stack ``stack`` and wait for the end."""
        address = await self.begin_create(wanted, **request)
        await self.engine.dispatch.idle()
        return address

    async def begin_create(self, wanted: Mapping[str, Any], **request: Any) -> StackAddress:
        """Create the stack ``stack``, do not wait."""
        body = StackRequest(name="stack", template=deepcopy(wanted), **request)
        return await self.engine.operations.create(CALLER, body)

    async def update(self, wanted: Mapping[str, Any], **request: Any) -> None:
        """Update the stack and wait for the end."""
        await self.begin_update(wanted, **request)
        await self.engine.dispatch.idle()

    async def begin_update(self, wanted: Mapping[str, Any], **request: Any) -> None:
        """Update the stack, do not wait."""
        address = await self.engine.operations.find(CALLER, "stack")
        body = StackRequest(template=deepcopy(wanted), **request)
        await self.engine.operations.update(CALLER, address, body)

    async def delete(self, *, express: bool = False) -> None:
        """Delete the stack and wait for the end."""
        address = await self.engine.operations.find(CALLER, "stack")
        await self.engine.operations.delete(CALLER, address, express=express)
        await self.engine.dispatch.idle()

    async def act(self, action: str) -> None:
        """Do an action on the stack and wait for the end."""
        await self.begin_act(action)
        await self.engine.dispatch.idle()

    async def begin_act(self, action: str) -> None:
        """Do an action on the stack, do not wait."""
        address = await self.engine.operations.find(CALLER, "stack")
        await self.engine.operations.act(CALLER, address, action)

    async def stack(self) -> Stack:
        """The stack's row."""
        found = await self.engine.ports.store.find_stack(CALLER.project_id, "stack")
        assert found is not None
        return found

    async def status(self) -> str:
        """Return the status of the stack, as the API joins it."""
        stack = await self.stack()
        return f"{stack.action}_{stack.status}"

    async def rows(self) -> dict[str, Resource]:
        """The rows that stand for resources now, by name."""
        rows = await self.engine.ports.store.resources((await self.stack()).id)
        return {row.name: row for row in rows if row.replaced_by is None}

    async def events(self) -> list[Event]:
        """All events, oldest first."""
        return list(await self.engine.ports.store.events([(await self.stack()).id], EventQuery()))

    async def history(self) -> list[str]:
        """The events of resources as ``name ACTION_STATUS``, oldest first."""
        return [
            f"{event.resource_name} {event.action}_{event.status}"
            for event in await self.events()
            if event.resource_id is not None
        ]

    async def operations(self) -> list[Operation]:
        """The operations that have not ended."""
        return list(await self.engine.ports.store.operations((await self.stack()).id))

    def as_seen(self, stack: Stack) -> Operations:
        """Operations for a caller whose request was read when the stack was still like this."""
        return Operations(self.engine.ports, Seen(stack), self.engine.dispatch)

    def apart(self, **changes: Any) -> Ports:
        """The ports of another engine on the same rows: it hears nothing of this one's commits."""
        world = self.world
        store = SqlStore(world.database, world.cipher, world.disk)
        return replace(self.engine.ports, store=store, **changes)

    def unheard(self, **changes: Any) -> Operations:
        """Operations of an engine that drives nothing."""
        ports = self.apart(**changes)
        return Operations(ports, Finder(ports), Deaf())

    async def pass_time(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)


def in_lab(story: Any, seed: int = 1, *, notifies: bool = False) -> Any:
    """Run ``async story(lab)`` in a fresh world and return its result."""
    world = World(seed, notifies=notifies)
    world.cloud.trouble = 0.0
    world.mailbox = None  # notifications stay where tests read them
    return world.live(lambda engine: story(Lab(engine, world)))

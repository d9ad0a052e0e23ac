"""An engine that dies at any moment leaves resources at their hooks, and clears count once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator

import pytest

from stoker.engine.model.records import Event
from stoker.engine.model.requests import EventQuery, StackRequest
from stoker.kernel.errors import RequestError
from tests.engine_world import template, thing
from tests.hooks.breakpoints import hooks
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

EVERY = ["pre-create", "post-create", "pre-update", "post-update", "pre-delete", "post-delete"]
FIRST = template({"a": thing(value="one"), "b": thing(value="one", fixed="x", depends_on="a")})
SECOND = template({"a": thing(value="two"), "b": thing(value="one", fixed="y", depends_on="a")})
ENVIRONMENT = hooks(a=EVERY, b=EVERY)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


class User:
    """Creates a stack, changes it, deletes it, and clears every hook once; outlives engines."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.stack_id = ""
        self.done = 0

    async def act(self, engine: EngineLife) -> list[Event]:
        """Continue with the remaining work; return the events at the end."""
        while self.done < 3:
            with contextlib.suppress(RequestError):
                await self._ask(engine)
            while await engine.ports.store.operations(self.stack_id):
                await self._clear(engine)
                await asyncio.sleep(1)
            self.done += 1
        return list(await engine.ports.store.events([self.stack_id], EventQuery()))

    async def _ask(self, engine: EngineLife) -> None:
        """Send the request, unless an engine that has died has recorded it."""
        known = await engine.ports.store.find_stack(CALLER.project_id, "stack")
        body = StackRequest(
            name="stack", template=(FIRST, SECOND)[self.done % 2], environment=ENVIRONMENT
        )
        if self.done == 0:
            if known is None:
                await engine.operations.create(CALLER, body)
            self.stack_id = (await engine.operations.find(CALLER, "stack")).id
        elif known is not None and self.done == 1 and known.action == "CREATE":
            if known.requested is None:
                await engine.operations.update(CALLER, known.address, body)
        elif known is not None and self.done == 2:
            await engine.operations.delete(CALLER, known.address)

    async def _clear(self, engine: EngineLife) -> None:
        """Clear the hooks at which resources wait; an acknowledged clear is not repeated."""
        stack = await engine.ports.store.stack(self.stack_id)
        assert stack is not None
        for row in await engine.ports.store.resources(self.stack_id):
            hook = row.hook.get("at")
            if hook is not None:
                with contextlib.suppress(RequestError):
                    details = {"unset_hook": hook}
                    await engine.signals.signal(CALLER, stack.address, row.name, details)


def hooks_told(events: list[Event]) -> list[tuple[str, str]]:
    return [(e.resource_name, e.reason) for e in events if "Hook" in e.reason]


def tale(name: str, *passed: str) -> list[tuple[str, str]]:
    return [
        (name, reason)
        for hook in passed
        for reason in (
            f"{hook.partition('-')[2].upper()} paused until Hook {hook} is cleared",
            f"Hook {hook} is cleared",
        )
    ]


EXPECTED = [
    *tale("a", "pre-create", "post-create"),
    *tale("b", "pre-create", "post-create"),
    *tale("a", "pre-update", "post-update"),
    *tale("b", "pre-update", "pre-create", "post-create", "pre-delete", "post-delete"),
    *tale("b", "pre-delete", "post-delete"),
    *tale("a", "pre-delete", "post-delete"),
]


def dies(after: int) -> bool:
    """Play the tale; return whether the engine was killed after that many turns."""
    world = World(1)
    world.cloud.trouble = 0.0
    user = User(world)
    events = world.live(user.act, Kill(after, returns=False))
    died = events is None
    if died:
        events = world.live(user.act)
    assert events is not None
    assert hooks_told(events) == EXPECTED, f"killed after {after} turns"
    assert world.cloud.objects == {}
    return died


def test_hooks_are_reached_once_despite_kills() -> None:
    assert sum(dies(after) for after in range(5, 900, 61)) > 6


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_hooks_are_reached_once_despite_all_kills(part: int) -> None:
    assert sum(dies(after) for after in range(5 + part, 900, 4)) > 100

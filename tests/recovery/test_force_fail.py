"""An operation that makes no progress is ended, with a reason, whatever its rows contain."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from stoker.engine.model.requests import StackRequest
from stoker.engine.operations import crash_loop
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.store.schema import tables
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.loop import VirtualLoop
from tests.simulation.scenario import Kill
from tests.simulation.types import Types
from tests.simulation.world import CALLER, EngineLife, World


class Deadly(ManagedType):
    """A type whose create kills its engine."""

    type_name = "Sim::Deadly"

    def create(self, call: Call) -> Outcome:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.kill_after = loop.turns
        return Wait(after=1)

    def delete(self, call: Call) -> Outcome:
        return Done()


class DeadlyTypes(Types):
    def __init__(self) -> None:
        super().__init__()
        self._types["Sim::Deadly"] = Deadly()


def test_operation_that_kills_its_engine_is_abandoned() -> None:
    world = World(1, types=DeadlyTypes())
    world.cloud.trouble = 0.0

    async def begin(engine: EngineLife) -> None:
        wanted = template({"a": thing(), "d": {"type": "Sim::Deadly", "properties": {}}})
        await engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        await engine.dispatch.idle()

    async def go_on(engine: EngineLife) -> tuple[str, str]:
        await engine.dispatch.idle()
        lab = Lab(engine, world)
        return await lab.status(), (await lab.stack()).reason

    assert world.live(begin) is None
    lives, outcome = 1, None
    while outcome is None:
        outcome = world.live(go_on)
        lives += 1
        assert lives < 12
    assert outcome[0] == "CREATE_FAILED"
    assert "abandoned" in outcome[1]

    async def delete(engine: EngineLife) -> None:
        await Lab(engine, world).delete()

    world.live(delete)
    assert world.cloud.objects == {}


@pytest.mark.parametrize("life", [0.2, 1, 3, 8, 20])
def test_operation_of_repeatedly_killed_engine_is_kept(life: float) -> None:
    """Nothing comes of the deaths of others, however little it gets on meanwhile."""
    world = World(3)
    world.cloud.trouble = 0.0

    async def begin(engine: EngineLife) -> None:
        wanted = template({"a": thing(slow=1000)})
        await engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        await asyncio.sleep(life)

    async def short(engine: EngineLife) -> None:
        await asyncio.sleep(life)

    async def end(engine: EngineLife) -> str:
        await engine.dispatch.idle()
        return await Lab(engine, world).status()

    world.live(begin)
    for _ in range(30):
        world.live(short)
    assert world.live(end) == "CREATE_COMPLETE"


DAMAGE: Mapping[str, Any] = {
    "a resource's properties": (tables.resources, {"properties": "gAAAA-damaged"}),
    "a resource's data": (tables.resources, {"data": "{broken"}),
    "a resource's status": (tables.resources, {"status": "NONSENSE"}),
    "a resource's lists": (tables.resources, {"requires": "[[["}),
    "the stack's credentials": (tables.stacks, {"credentials": "gAAAA-damaged"}),
    "the stack's tags": (tables.stacks, {"tags": "{"}),
    "the plan": (tables.operations, {"plan": "{broken"}),
    "the operation's request": (tables.operations, {"request": "{broken"}),
    "the input": (tables.contents, {"body": "gAAAA-damaged"}),
    "the parameters": (tables.inputs, {"parameters": "{broken"}),
}


@pytest.mark.parametrize("what", sorted(DAMAGE))
def test_damaged_rows_end_operation_and_allow_delete(what: str) -> None:
    table, values = DAMAGE[what]
    world = World(5)
    world.cloud.trouble = 0.0

    async def begin(engine: EngineLife) -> None:
        wanted = template({"a": thing(slow=50), "b": thing(depends_on="a")})
        await engine.operations.create(CALLER, StackRequest(name="stack", template=wanted))
        await asyncio.sleep(5)

    async def end(engine: EngineLife) -> tuple[str, str]:
        async with asyncio.timeout(3000):
            await engine.dispatch.idle()
        lab = Lab(engine, world)
        return await lab.status(), (await lab.stack()).reason

    async def delete(engine: EngineLife) -> str:
        lab = Lab(engine, world)
        stack = await lab.stack()
        await lab.delete()
        gone = await engine.ports.store.stack(stack.id)
        assert gone is not None
        return f"{gone.action}_{gone.status} {gone.reason}"

    world.live(begin, Kill(100_000, returns=False))
    with world.database.begin() as connection:
        connection.execute(sa.update(table).values(**values))
    outcome = world.live(end)
    assert outcome is not None
    assert not outcome[0].endswith("IN_PROGRESS")
    assert world.live(delete) == "DELETE_COMPLETE Stack DELETE completed successfully"
    assert world.cloud.objects == {}


@pytest.mark.parametrize(
    ("kind", "key"),
    [("OS::Heat::ResourceGroup", "resource_def"), ("OS::Heat::AutoScalingGroup", "resource")],
)
def test_unknown_member_type_is_named_when_found_late(kind: str, key: str) -> None:
    async def story(lab: Lab) -> None:
        member = {"type": "Sim::Thingg", "properties": {"value": {"get_attr": ["a", "value"]}}}
        late = {"get_attr": ["a", "value"]}  # the number of reads decides whether the rows are read
        sizes = {"count": late} if key == "resource_def" else {"min_size": late, "max_size": 2}
        group = {"type": kind, "properties": {**sizes, key: member}}
        await lab.create(template({"a": thing(value="1"), "g": group}))
        stack = await lab.stack()
        assert await lab.status() == "CREATE_FAILED"
        assert "Sim::Thingg" in stack.reason
        assert (await lab.events())[-1].time - stack.created_at < 10

    in_lab(story)


NESTED = {"inner.yaml": json.dumps(template({"wait": thing(slow=1000)}))}
PROGRESS = {f"t{n}": thing(f"t{n - 1}" if n else None, slow=1) for n in range(60)}
LIVES = {
    "3 s": [3.0],
    "8 s": [8.0],
    "irregular": [6.0, 6.0, 8.0, 12.0, 21.0],
    "irregular and short": [4.0, 5.0, 6.0, 9.0, 19.0],
}


async def create_nested(engine: EngineLife) -> None:
    """A nested stack that waits, in a parent that progresses."""
    wanted = template({**PROGRESS, "inner": {"type": "inner.yaml"}})
    request = StackRequest(name="stack", template=wanted, files=NESTED)
    await engine.operations.create(CALLER, request)


@pytest.mark.parametrize("lives", LIVES)
@pytest.mark.parametrize("in_order", [True, False])
def test_waiting_nested_stack_is_not_blamed_for_restarts(lives: str, in_order: bool) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def live(engine: EngineLife) -> None:
        await asyncio.sleep(next(seconds))
        if in_order:
            await engine.dispatch.close()

    async def begin(engine: EngineLife) -> None:
        await create_nested(engine)
        await live(engine)

    async def end(engine: EngineLife) -> str:
        await engine.dispatch.idle()
        return await Lab(engine, world).status()

    seconds = itertools.cycle(LIVES[lives])
    world.live(begin)
    for _ in range(30):
        world.live(live)
    assert world.live(end) == "CREATE_COMPLETE"


def test_orderly_stops_do_not_count_as_crashes() -> None:
    """Each life ends when a start has just been counted."""
    world = World(3)
    world.cloud.trouble = 0.0

    async def live(engine: EngineLife) -> None:
        await asyncio.sleep(next(seconds))
        await engine.dispatch.close()

    async def begin(engine: EngineLife) -> None:
        await create_nested(engine)
        await live(engine)

    async def end(engine: EngineLife) -> str:
        await engine.dispatch.idle()
        return await Lab(engine, world).status()

    seconds = itertools.cycle([3.0, 3.0, 3.0, 15.0, 65.0])
    world.live(begin)
    for _ in range(10):
        world.live(live)
    assert world.live(end) == "CREATE_COMPLETE"


def test_delete_ends_backoff_of_suspected_stack() -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def begin(engine: EngineLife) -> None:
        await create_nested(engine)
        await asyncio.sleep(1)

    async def short(engine: EngineLife) -> None:
        await asyncio.sleep(1.5)

    async def delete(engine: EngineLife) -> float:
        began = world.time()
        await Lab(engine, world).delete()
        return world.time() - began

    world.live(begin)
    with pytest.MonkeyPatch.context() as patch:
        # each start counts but the last, which waits for long
        patch.setattr(crash_loop, "BACKOFF_SECONDS", {3: 0.5, 4: 3600.0})
        for _ in range(5):
            world.live(short)
        took = world.live(delete)
    assert took is not None
    assert took < 60
    assert world.cloud.objects == {}

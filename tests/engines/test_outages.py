"""Accepted requests are carried out after an outage of all engines or of the database.

Time is virtual. The time limit of all stacks is one minute, and each outage is longer.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.values import replace
from tests.engine_world import template, thing
from tests.simulation.crew import TAKEN_OVER_AFTER, Crew
from tests.simulation.world import CALLER, World

MINUTE = 60.0
OUTAGE = 3 * MINUTE
FLAT = {"net": thing(value="a"), "slow": thing("net", value="a", slow=1)}
FOREVER = {"net": thing(value="b"), "slow": thing("net", value="b", fixed="b", slow=600)}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def request(resources: dict[str, Any], *, rollback: bool = False) -> StackRequest:
    """A flat stack, and a nested one of the same resources."""
    nested = {"inner": {"type": "inner.yaml"}}
    return StackRequest(
        name="stack",
        template=template({**resources, **nested}),
        files={"inner.yaml": json.dumps(template(resources))},
        timeout_mins=1,
        disable_rollback=not rollback,
    )


def in_crew(story: Callable[[Crew], Awaitable[None]], engines: int = 3) -> None:
    world = World(1)

    async def life() -> None:
        await story(Crew(world, engines=engines))

    world.live_together(life)


async def engines_are_away(crew: Crew) -> None:
    crew.stop_engines("never")
    await asyncio.sleep(OUTAGE)


async def database_is_away(crew: Crew) -> None:
    now = crew.world.time()
    crew.world.disk.away = (now, now + OUTAGE)
    await asyncio.sleep(OUTAGE + 1)


OUTAGES = [engines_are_away, database_is_away]


async def is_back(crew: Crew) -> None:
    """All engines run again, and nothing is left to do."""
    if not crew.engines:
        crew.start_engines()
    await asyncio.wait_for(crew.api.idle(), 10 * MINUTE)


async def shown(crew: Crew) -> Stack | None:
    return await crew.api.ports.store.find_stack(CALLER.project_id, "stack")


async def created(crew: Crew) -> Stack:
    stack = await crew.api.operations.create(CALLER, request(FLAT))
    await crew.api.idle()
    return stack


async def update(crew: Crew, *, rollback: bool) -> None:
    address = await crew.api.operations.find(CALLER, "stack")
    await crew.api.operations.update(CALLER, address, request(FOREVER, rollback=rollback))


async def delete(crew: Crew) -> None:
    address = await crew.api.operations.find(CALLER, "stack")
    await crew.api.operations.delete(CALLER, address)


@pytest.mark.parametrize("outage", OUTAGES)
def test_update_past_deadline_rolls_back_after_outage(
    outage: Callable[[Crew], Awaitable[None]],
) -> None:
    async def story(crew: Crew) -> None:
        await created(crew)
        await update(crew, rollback=True)
        await asyncio.sleep(4)
        await outage(crew)
        await is_back(crew)
        stack = await shown(crew)
        assert stack is not None
        assert f"{stack.action}_{stack.status}" == "ROLLBACK_COMPLETE"
        values = {each.properties["value"] for each in crew.world.cloud.objects.values()}
        assert values == {"a"}

    in_crew(story)


@pytest.mark.parametrize("seconds", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("outage", OUTAGES)
def test_rollback_cut_off_by_an_outage_is_completed(
    outage: Callable[[Crew], Awaitable[None]], seconds: float
) -> None:
    async def story(crew: Crew) -> None:
        await created(crew)
        await update(crew, rollback=True)
        await asyncio.sleep(MINUTE + seconds)
        await outage(crew)
        await is_back(crew)
        stack = await shown(crew)
        assert stack is not None
        assert f"{stack.action}_{stack.status}" == "ROLLBACK_COMPLETE"

    in_crew(story)


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("outage", OUTAGES)
def test_delete_cut_off_by_an_outage_is_completed(
    outage: Callable[[Crew], Awaitable[None]], seconds: float
) -> None:
    async def story(crew: Crew) -> None:
        await created(crew)
        await delete(crew)
        await asyncio.sleep(seconds)
        await outage(crew)
        await is_back(crew)
        assert await shown(crew) is None
        assert crew.world.cloud.objects == {}

    in_crew(story)


@pytest.mark.parametrize("waits_seconds", [1.0, OUTAGE])
def test_delete_accepted_without_engines_is_carried_out(waits_seconds: float) -> None:
    async def story(crew: Crew) -> None:
        await created(crew)
        await update(crew, rollback=True)
        await asyncio.sleep(4)
        await engines_are_away(crew)
        await delete(crew)
        await asyncio.sleep(waits_seconds)
        await is_back(crew)
        assert await shown(crew) is None
        assert crew.world.cloud.objects == {}

    in_crew(story)


def test_create_accepted_without_engines_has_its_whole_time() -> None:
    async def story(crew: Crew) -> None:
        crew.stop_engines()
        stack = await crew.api.operations.create(CALLER, request(FLAT))
        await asyncio.sleep(OUTAGE)
        await is_back(crew)
        found = await shown(crew)
        assert found is not None
        assert found.id == stack.id
        assert f"{found.action}_{found.status}" == "CREATE_COMPLETE"

    in_crew(story)


@pytest.mark.parametrize("kills", [0, 2, 3, 4])
def test_orderly_ends_of_engines_delay_nothing(kills: int) -> None:
    """An engine that stops in order releases a stack immediately, suspected or not."""

    async def story(crew: Crew) -> None:
        body = request({"wait": thing(slow=300)})
        body = replace(body, timeout_mins=60)
        await crew.api.operations.create(CALLER, body)
        for _ in range(kills):
            # so early after it was taken over that the stack has not been left for a pause
            await asyncio.sleep(TAKEN_OVER_AFTER + 1.5)
            crew.engines[0].kill("never")
        for _ in range(12):
            await asyncio.sleep(9)
            leaving = crew.engines[0]
            leaving.leave()
            await asyncio.sleep(1)
            assert not leaving.alive
        await is_back(crew)
        stack = await shown(crew)
        assert stack is not None
        assert f"{stack.action}_{stack.status}" == "CREATE_COMPLETE"

    in_crew(story, engines=1)


def test_update_without_rollback_times_out_after_an_outage() -> None:
    async def story(crew: Crew) -> None:
        await created(crew)
        await update(crew, rollback=False)
        await asyncio.sleep(4)
        await engines_are_away(crew)
        began = crew.world.time()
        await is_back(crew)
        found = await shown(crew)
        assert found is not None
        assert f"{found.action}_{found.status}" == "UPDATE_FAILED"
        assert "timed out" in found.reason
        assert crew.world.time() - began < MINUTE

    in_crew(story)

"""Batches of a group's members: one after another, with pauses that outlive engines."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.records import Event
from stoker.engine.model.requests import EventQuery, ResourceQuery


def group(value: str, pause: float = 0, count: int = 3, **member: Any) -> dict[str, Any]:
    """A template with a group whose members change one after another."""
    body = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {
            "count": count,
            "resource_def": {"type": "Sim::Thing", "properties": {"value": value, **member}},
        },
        "update_policy": {"rolling_update": {"max_batch_size": 1, "pause_time": pause}},
    }
    return template({"g": body})


async def member_events(lab: Lab) -> list[Event]:
    """The updates of members, oldest first."""
    [nested] = await lab.engine.ports.store.children((await lab.stack()).id)
    events = await lab.engine.ports.store.events([nested.id], EventQuery())
    return [e for e in events if e.resource_id is not None and e.action == "UPDATE"]


def test_batch_starts_when_previous_one_is_complete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(group("old"))
        await lab.update(group("new"))
        told = [f"{e.resource_name} {e.status}" for e in await member_events(lab)]
        assert told == [f"{n} {s}" for n in "012" for s in ("IN_PROGRESS", "COMPLETE")]

    in_lab(story)


def test_batches_are_no_dependencies_and_no_members() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(group("old"))
        await lab.update(group("new", pause=5))
        views = await lab.engine.views.resources(CALLER, address, ResourceQuery(nested_depth=1))
        assert sorted(view.name for view in views) == ["0", "1", "2", "g"]
        assert not any(view.required_by for view in views)

    in_lab(story)


def test_a_pause_lies_between_two_batches() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(group("old"))
        await lab.update(group("new", pause=40))
        begun = [e.time for e in await member_events(lab) if e.status == "IN_PROGRESS"]
        assert begun[1] - begun[0] >= 40
        assert 40 <= begun[2] - begun[1] < 45

    in_lab(story)


def test_unchanged_members_are_followed_by_no_pause() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(group("old"))
        await lab.update(group("old", pause=40, slow=1))
        before = (await lab.events())[-1].time
        await lab.update(group("old", pause=4000, slow=1))
        assert (await lab.events())[-1].time - before < 10

    in_lab(story)


def test_a_failed_batch_is_the_last_one() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(group("old"))
        await lab.update(group("new", fail="update"))
        assert await lab.status() == "UPDATE_FAILED"
        assert {event.resource_name for event in await member_events(lab)} == {"0"}

    in_lab(story)


@pytest.mark.parametrize("turns", range(20, 200, 12))
def test_pause_interrupted_by_a_crash_does_not_restart(turns: int) -> None:
    world = World(turns)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(group("old", count=2))

    async def change(engine: EngineLife) -> None:
        await Lab(engine, world).update(group("new", pause=1000, count=2))

    async def look(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        await engine.dispatch.idle()
        await lab.update(group("new", pause=1000, count=2))
        told = {(e.resource_name, e.status): e.time for e in await member_events(lab)}
        assert 1000 <= told["1", "IN_PROGRESS"] - told["0", "COMPLETE"] < 1020

    world.live(make)
    world.live(change, Kill(turns, returns=False))
    world.live(look)

"""A clock that is set back does not make the service wait until it shows the former time again."""

from __future__ import annotations

from typing import Any

from stoker.engine.execution.session import StackRows
from tests.engine_world import Lab, in_lab, template
from tests.simulation.world import World

HOUR = 3600.0


def set_back(world: Any) -> None:
    """Set the clock back by an hour; pauses of the event loop are not concerned."""
    time = world.time
    world.time = lambda: time() - HOUR


def test_action_starts_again_after_clock_change() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {"type": "Sim::Thing"}}))
        [row] = (await lab.rows()).values()
        started_at = row.action_started_at or 0.0
        rows = StackRows(lab.engine.ports, await lab.stack(), [row])
        assert rows.started_at(row, started_at + 10) == started_at
        assert rows.started_at(row, started_at - HOUR) == started_at - HOUR
        assert rows.started_at(row, started_at - HOUR + 5) == started_at - HOUR
        assert rows.started_at(row, started_at + 20) == started_at

    in_lab(story)


def test_pause_between_batches_is_not_longer_than_given() -> None:
    group = {
        "type": "OS::Heat::ResourceGroup",
        "update_policy": {"batch_create": {"max_batch_size": 1, "pause_time": 60}},
        "properties": {"count": 2, "resource_def": {"type": "Sim::Thing"}},
    }

    world = World(1)
    world.cloud.trouble = 0.0

    async def first(lab: Lab) -> None:
        await lab.begin_create(template({"g": group}))
        await lab.pass_time(20)  # the first batch is done, and the engine dies in the pause

    async def second(lab: Lab) -> None:
        await lab.pass_time(70)
        assert "create 1" in world.cloud.journal

    world.live(lambda engine: first(Lab(engine, world)))
    set_back(world)
    world.live(lambda engine: second(Lab(engine, world)))

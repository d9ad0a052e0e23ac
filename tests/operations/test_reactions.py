"""Signals that start an action of a resource type: once, and after operations accepted before."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.requests import StackRequest

REACTOR = template({"flow": {"type": "Sim::Reactor"}, "other": thing()})


async def signal(lab: Lab, **details: Any) -> None:
    """Signal the reactor, do not wait."""
    address = await lab.engine.operations.find(CALLER, "stack")
    await lab.engine.signals.signal(CALLER, address, "flow", details)


async def heard(lab: Lab) -> list[dict[str, Any]]:
    """Return the requests to the type, one for each signal."""
    return list((await lab.rows())["flow"].data.get("heard", {}).values())


async def told(lab: Lab) -> list[str]:
    """Return the event reasons about signals."""
    return [
        f"{each.status}: {each.reason}" for each in await lab.events() if each.action == "SIGNAL"
    ]


def test_signals_are_applied_in_order_and_deleted() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(REACTOR)
        await signal(lab, a=1, slow=3)
        await signal(lab, b=2)
        await lab.engine.dispatch.idle()
        assert await heard(lab) == [{"a": 1, "slow": 3}, {"b": 2}]
        assert await told(lab) == ["COMPLETE: the signal was applied"] * 2
        assert await lab.status() == "CREATE_COMPLETE"
        stack = await lab.stack()
        assert not await lab.engine.ports.store.signals(stack.id, {})

    in_lab(story)


def test_failed_reaction_is_reported_and_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(REACTOR)
        await signal(lab, fail=True)
        await lab.engine.dispatch.idle()
        assert await told(lab) == ["FAILED: this cannot be done"]
        assert await heard(lab) == []
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.rows())["flow"].status == "COMPLETE"

    in_lab(story)


def test_update_precedes_waiting_signal_and_keeps_it() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(REACTOR)
        await signal(lab, a=1, slow=30)
        await lab.pass_time(1)
        await lab.update(template({"flow": {"type": "Sim::Reactor"}}))
        assert await heard(lab) == [{"a": 1, "slow": 30}]
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_removal_of_resource_ends_its_waiting_signal() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(REACTOR)
        await signal(lab, a=1, slow=30)
        await lab.pass_time(1)
        await lab.update(template({"other": thing()}))
        assert not await lab.operations()
        assert "flow" not in await lab.rows()

    in_lab(story)


@pytest.mark.parametrize("turn", range(1, 40, 3))
def test_signal_is_applied_once_despite_a_crash(turn: int) -> None:
    world = World(5)
    world.cloud.trouble = 0.0
    accepted = []

    async def create(engine: EngineLife) -> None:
        await engine.operations.create(CALLER, StackRequest(name="stack", template=REACTOR))
        await engine.dispatch.idle()

    async def send(engine: EngineLife) -> None:
        await signal(Lab(engine, world), a=1)
        accepted.append(True)
        await engine.dispatch.idle()

    async def finish(engine: EngineLife) -> tuple[int, int]:
        await engine.dispatch.recover()
        await engine.dispatch.idle()
        lab = Lab(engine, world)
        return len(await heard(lab)), len(await told(lab))

    world.live(create)
    world.live(send, Kill(turn, returns=False))
    assert world.live(finish) in ([(1, 1)] if accepted else [(1, 1), (0, 0)])

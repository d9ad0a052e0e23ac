"""An acknowledged signal reaches the resource that waits for it, whatever happens meanwhile."""

from __future__ import annotations

import pytest

from stoker.engine.model.requests import StackRequest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

GATE = {"type": "Sim::Gate", "properties": {"count": 1}}
BUSY = {f"t{number}": thing(slow=1) for number in range(12)}


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_signal_during_calls_of_superseded_operation_counts(delay: float) -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"gate": GATE, **BUSY})
        address = await lab.engine.operations.create(
            CALLER, StackRequest(name="stack", template=wanted)
        )
        while "gate" not in await lab.rows():
            await lab.pass_time(0.005)
        await lab.begin_update(template({"gate": GATE, **BUSY, "more": thing()}))
        await lab.pass_time(delay)
        await lab.engine.signals.signal(CALLER, address, "gate", {"number": 1})
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        events = await lab.events()
        assert events[-1].time - events[0].time < 60

    in_lab(story)


@pytest.mark.parametrize("turns", range(1, 60, 4))
def test_signal_stored_before_a_crash_counts(turns: int) -> None:
    world = World(turns)
    world.cloud.trouble = 0.0
    answered = []

    async def begin(engine: EngineLife) -> None:
        body = StackRequest(name="stack", template=template({"gate": GATE}))
        address = await engine.operations.create(CALLER, body)
        lab = Lab(engine, world)
        while "gate" not in await lab.rows():
            await lab.pass_time(0.005)
        await engine.signals.signal(CALLER, address, "gate", {"number": 1})
        answered.append(address)
        await engine.dispatch.idle()

    async def end(engine: EngineLife) -> str:
        await engine.dispatch.idle()
        return await Lab(engine, world).status()

    world.live(begin, Kill(60 + turns, returns=False))
    if answered:
        assert world.live(end) == "CREATE_COMPLETE"

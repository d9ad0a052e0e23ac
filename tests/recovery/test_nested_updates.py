"""An update of a nested stack sends nothing to a cloud: none that was cut off holds up the next."""

from __future__ import annotations

import pytest

from tests.engine_world import Lab, template
from tests.simulation.scenario import Kill
from tests.simulation.world import EngineLife, World

FILES = {
    "child.yaml": "heat_template_version: 2018-08-31\n"
    "parameters: {value: {type: string}}\n"
    "resources: {one: {type: Sim::Thing, properties: {value: {get_param: value}}}}\n"
}


def wanted(value: str) -> dict[str, object]:
    return template({"nest": {"type": "child.yaml", "properties": {"value": value}}})


@pytest.mark.parametrize("turns", range(42, 60, 4))
def test_update_follows_interrupted_nested_update_immediately(turns: int) -> None:
    world = World(1)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(wanted("first"), files=FILES)

    async def change(engine: EngineLife) -> None:
        await Lab(engine, world).update(wanted("second"), files=FILES)

    async def change_again(engine: EngineLife) -> tuple[float, float]:
        lab = Lab(engine, world)
        await engine.dispatch.idle()
        began = world.time()
        # nothing of the object changes: only an update of the nested stack itself could take time
        await lab.update(wanted("second"), files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE"
        return began, world.time()

    world.live(make)
    world.live(change, Kill(turns, returns=False, fate="never"))
    began, ended = world.live(change_again) or (0.0, 0.0)
    assert ended - began < 10

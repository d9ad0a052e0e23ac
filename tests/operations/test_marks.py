"""Marks on unhealthy resources are operations: durable, in order, written by the stack's owner."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.requests import StackRequest
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import InProgress, NotFound

WANTED = template({"a": thing(value="1"), "b": thing()})


async def mark(lab: Lab, name: str = "a", *, unhealthy: bool = True) -> None:
    address: StackAddress = (await lab.stack()).address
    await lab.engine.operations.mark_unhealthy(
        CALLER, address, name, unhealthy=unhealthy, reason="broken"
    )


def test_a_mark_is_there_when_it_is_answered_and_the_stack_keeps_its_status() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        for unhealthy, state in ((True, "CHECK_FAILED"), (False, "CHECK_COMPLETE")):
            await mark(lab, unhealthy=unhealthy)
            row = (await lab.rows())["a"]
            assert (f"{row.action}_{row.status}", row.unhealthy) == (state, unhealthy)
            event = (await lab.events())[-1]
            assert (event.resource_name, event.status, event.reason) == ("a", row.status, "broken")
            assert await lab.status() == "CREATE_COMPLETE"
        told = len(await lab.events())
        await mark(lab, unhealthy=False)
        assert len(await lab.events()) == told

    in_lab(story)


def test_an_update_that_is_accepted_after_a_mark_replaces_what_is_marked() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        before = (await lab.rows())["a"].physical_id
        # both are accepted before anybody drives the stack
        unheard, address = lab.unheard(), (await lab.stack()).address
        await unheard.mark_unhealthy(CALLER, address, "a", unhealthy=True, reason="broken")
        await unheard.update(CALLER, address, StackRequest(template=WANTED))
        assert not (await lab.rows())["a"].unhealthy
        lab.engine.dispatch.wake(address.id)
        await lab.engine.dispatch.idle()
        row = (await lab.rows())["a"]
        assert row.physical_id != before
        assert not row.unhealthy

    in_lab(story)


def test_a_mark_is_refused_while_an_operation_is_under_way_and_of_what_is_not_there() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        with pytest.raises(NotFound):
            await mark(lab, "zz")
        await lab.begin_update(template({"a": thing(value="2", lag=30), "b": thing()}))
        with pytest.raises(InProgress):
            await mark(lab, "b")
        await lab.engine.dispatch.idle()
        assert not (await lab.rows())["b"].unhealthy

    in_lab(story)


@pytest.mark.parametrize("turns", range(4, 40, 4))
def test_a_mark_that_was_accepted_is_set_though_its_engine_dies(turns: int) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(WANTED)

    async def begin(engine: EngineLife) -> None:
        await mark(Lab(engine, world))

    async def end(engine: EngineLife) -> bool:
        await engine.dispatch.idle()
        return (await Lab(engine, world).rows())["a"].unhealthy

    world.live(make)
    world.live(begin, Kill(turns, returns=False))
    with world.database.connect() as connection:
        query = "SELECT count(*) FROM operations WHERE kind = 'mark'"
        accepted = bool(connection.exec_driver_sql(query).scalar())
    assert world.live(end) is accepted

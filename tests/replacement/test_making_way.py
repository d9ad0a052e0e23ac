"""Unique resources of a replaced object, such as addresses, pass to its replacement."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.simulation.scenario import Kill
from tests.simulation.types import Thing, Types
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import RequestError
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import Call, Done, Failed, Outcome, ResourceType, Wait


class Desk(Thing):
    """An object with an exclusive address."""

    type_name = "Sim::Desk"
    properties = {**Thing.properties, "address": Property(Type.STRING)}

    def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            _take(call)
        return super().create(call)

    def release(self, call: Call) -> Outcome:
        if call.properties["value"] == "stubborn":
            return Failed("it stays where it is")
        if call.physical_id is None or call.physical_id not in call.cloud.objects:
            return Done()
        if "address" not in call.data:
            found = call.cloud.objects[call.physical_id].properties
            return Wait(0.5, data={"address": found["address"]})
        call.cloud.update(call.physical_id, {**call.properties, "address": None})
        return Done()

    def reclaim(self, call: Call) -> Outcome:
        if "address" in call.data:
            _take(call)
            call.cloud.update(call.physical_id, call.properties)
        return Done(data={})


def _take(call: Call) -> None:
    for other in call.cloud.objects.values():
        if other.id != call.physical_id and other.properties["address"] is not None:
            assert other.properties["address"] != call.properties["address"], "address in use"


class Registry(Types):
    """The simulation's types, and desks."""

    def find(self, type_name: str) -> ResourceType | None:
        return Desk() if type_name == Desk.type_name else super().find(type_name)


def desk(**properties: Any) -> dict[str, Any]:
    body = {"address": "10.0.0.7", **properties}
    return template({"desk": {"type": "Sim::Desk", "properties": body}})


def world_of(seed: int = 1) -> World:
    world = World(seed, types=Registry())
    world.cloud.trouble = 0.0
    return world


def addresses(world: World) -> list[Any]:
    return [found.properties["address"] for found in world.cloud.objects.values()]


def lived(story: Any) -> None:
    world = world_of()
    world.live(lambda engine: story(Lab(engine, world)))


def test_replacement_gets_address_of_its_predecessor() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(desk(fixed="a"))
        await lab.update(desk(fixed="b"))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert addresses(lab.world) == ["10.0.0.7"]

    lived(story)


def test_failed_replacement_returns_the_address() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(desk(fixed="a"))
        [original] = lab.cloud.objects
        await lab.update(desk(fixed="b", fail="create"), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert addresses(lab.world) == ["10.0.0.7"]
        [row] = (await lab.rows()).values()
        assert row.physical_id == original

    lived(story)


def test_replacement_fails_if_predecessor_keeps_address() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(desk(fixed="a", value="stubborn"))
        await lab.update(desk(fixed="b"))
        assert await lab.status() == "UPDATE_FAILED"
        assert "it stays where it is" in (await lab.stack()).reason
        assert addresses(lab.world) == ["10.0.0.7"]

    lived(story)


def test_rolled_back_replacement_returns_the_address() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(desk(fixed="a"))
        [original] = lab.cloud.objects
        failing = {"type": "Sim::Thing", "properties": {"fail": "create"}, "depends_on": "desk"}
        update = template({**desk(fixed="b")["resources"], "last": failing})
        await lab.update(update, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert list(lab.cloud.objects) == [original]
        assert addresses(lab.world) == ["10.0.0.7"]

    lived(story)


def _back(after: int) -> bool:
    """Return whether an engine was killed during the rollback of a failed replacement."""
    world = world_of()
    world.live(lambda engine: Lab(engine, world).create(desk(fixed="a")))
    [original] = world.cloud.objects
    body = desk(fixed="b", fail="create")

    async def update(engine: EngineLife) -> bool:
        await Lab(engine, world).update(body, disable_rollback=False)
        return True

    died = world.live(update, Kill(after, returns=False)) is None
    world.live(lambda engine: engine.dispatch.idle())
    assert list(world.cloud.objects) == [original], after
    assert addresses(world) == ["10.0.0.7"], after
    assert world.cloud.violations == [], after
    return died


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.long)])
def test_kept_object_gets_address_back_despite_crash(quiet: None, step: int) -> None:
    assert sum(_back(after) for after in range(10, 160, step)) > 90 // step


class User:
    """Creates the stack and has its only resource replaced; outlives engines."""

    def __init__(self) -> None:
        self.done = 0

    async def act(self, engine: EngineLife) -> Mapping[str, Any]:
        while self.done < 2:
            body = StackRequest(name="stack", template=desk(fixed=str(self.done)))
            known = await engine.ports.store.find_stack(CALLER.project_id, "stack")
            with contextlib.suppress(RequestError):
                if known is None:
                    await engine.operations.create(CALLER, body)
                elif self.done == 1 and known.action == "CREATE" and known.requested is None:
                    await engine.operations.update(CALLER, known.address, body)
            await engine.dispatch.idle()
            self.done += 1
        rows = await engine.ports.store.resources(
            (await engine.operations.find(CALLER, "stack")).id
        )
        return {row.name: row for row in rows}


@pytest.fixture
def quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def dies(after: int) -> bool:
    """Return whether the engine was killed, after this number of turns, before the end."""
    world, user = world_of(), User()
    rows = world.live(user.act, Kill(after, returns=False))
    died = rows is None
    if died:
        rows = world.live(user.act)
    assert rows is not None
    [row] = rows.values()
    assert row.status == "COMPLETE", (after, row.reason)
    assert addresses(world) == ["10.0.0.7"], after
    assert [row.physical_id] == list(world.cloud.objects), after
    assert world.cloud.violations == [], after
    return died


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_replacement_gets_address_despite_crash(quiet: None, step: int) -> None:
    assert sum(dies(after) for after in range(5, 200, step)) > 75 // step

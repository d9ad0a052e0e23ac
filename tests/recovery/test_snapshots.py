"""With the deletion policy Snapshot an object is snapshotted once before it is deleted."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import RequestError
from stoker.schema.resource_type import Call, Failed, Outcome, ResourceType
from tests.engine_world import Lab, template
from tests.simulation.cloud import IMAGE
from tests.simulation.scenario import Kill
from tests.simulation.types import Disk, Types
from tests.simulation.world import CALLER, EngineLife, World


class BreakingDisk(Disk):
    """A disk that cannot be snapshotted if its value says so."""

    def snapshot(self, call: Call) -> Outcome:
        if call.properties["value"] == "broken":
            return Failed("the disk cannot be read")
        assert call.physical_id in call.cloud.objects, "the disk is gone"
        return super().snapshot(call)


class Registry(Types):
    """The simulation's types, and disks."""

    def find(self, type_name: str) -> ResourceType | None:
        return BreakingDisk() if type_name == Disk.type_name else super().find(type_name)


def disk(**properties: Any) -> dict[str, Any]:
    body = {"type": "Sim::Disk", "deletion_policy": "Snapshot", "properties": properties}
    return template({"disk": body})


def world_of() -> World:
    world = World(1, types=Registry())
    world.cloud.trouble = 0.0
    return world


def kinds(world: World) -> list[str]:
    return [found.kind for found in world.cloud.objects.values()]


@pytest.mark.parametrize("remove", ["delete", "update", "replace"])
def test_object_is_snapshotted_before_delete(remove: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(disk(fixed="one"))
        if remove == "delete":
            await lab.delete()
        else:
            await lab.update(disk(fixed="two") if remove == "replace" else template({}))
        assert kinds(lab.world).count(IMAGE) == 1
        assert kinds(lab.world).count("Sim::Disk") == (remove == "replace")

    world = world_of()
    world.live(lambda engine: story(Lab(engine, world)))


def test_object_that_cannot_be_snapshotted_is_kept() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(disk(value="broken"))
        await lab.delete()
        assert await lab.status() == "DELETE_FAILED"
        assert "the disk cannot be read" in (await lab.stack()).reason
        assert kinds(lab.world) == ["Sim::Disk"]

    world = world_of()
    world.live(lambda engine: story(Lab(engine, world)))


class User:
    """Creates the stack and deletes it; outlives engines."""

    async def act(self, engine: EngineLife) -> bool:
        known = await engine.ports.store.find_stack(CALLER.project_id, "stack")
        if known is None:
            with contextlib.suppress(RequestError):
                body = StackRequest(name="stack", template=disk())
                await engine.operations.create(CALLER, body)
            await engine.dispatch.idle()
        await engine.dispatch.idle()
        with contextlib.suppress(RequestError):
            found = await engine.operations.find(CALLER, "stack")
            await engine.operations.delete(CALLER, found)
        await engine.dispatch.idle()
        return True


@pytest.fixture
def quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


def dies(after: int) -> bool:
    """Return whether the engine was killed, after this number of turns, before the end."""
    world, user = world_of(), User()
    died = world.live(user.act, Kill(after, returns=False)) is None
    if died and IMAGE not in kinds(world):
        world.live(user.act)
    elif died:
        world.live(lambda engine: engine.dispatch.idle())
    assert kinds(world) == [IMAGE], after
    return died


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.long)])
def test_one_snapshot_is_made_despite_a_crash(quiet: None, step: int) -> None:
    assert sum(dies(after) for after in range(5, 200, step)) > 75 // step

"""A replaced object that still exists is reinstated; no third object is created."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.cloud import Cloud
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

USES_A = {"get_resource": "a"}
OLD = template({"a": thing(fixed="x"), "b": thing(uses=USES_A)})


def replacing(**properties: Any) -> dict[str, Any]:
    """An update that replaces ``a``."""
    return template({"a": thing(fixed="y", **properties), "b": thing(uses=USES_A)})


def failing_later() -> dict[str, Any]:
    """An update that replaces ``a``, gives ``b`` the new one, and fails."""
    resources = replacing()["resources"]
    return template({**resources, "c": thing(fail="create", depends_on="b")})


async def ids(lab: Lab) -> dict[str, str | None]:
    return {name: row.physical_id for name, row in (await lab.rows()).items()}


def uses(lab: Lab, object_id: str | None) -> Any:
    return lab.cloud.objects[str(object_id)].properties["uses"]


@pytest.mark.parametrize("update", [replacing(fail="create"), failing_later()])
@pytest.mark.parametrize("rollback", [True, False], ids=["rollback", "update back"])
def test_original_is_reinstated_after_replacement(update: dict[str, Any], rollback: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(OLD)
        before = await ids(lab)
        await lab.update(update, disable_rollback=not rollback)
        if not rollback:
            assert await lab.status() == "UPDATE_FAILED"
            await lab.update(OLD)
        assert await lab.status() == ("ROLLBACK_COMPLETE" if rollback else "UPDATE_COMPLETE")
        assert await ids(lab) == before
        assert sorted(lab.cloud.objects) == sorted(map(str, before.values()))
        assert uses(lab, before["b"]) == before["a"]

    in_lab(story)


def test_cancelled_update_reinstates_replaced_object() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(OLD)
        before = await ids(lab)
        await lab.begin_update(replacing(slow=50))
        await lab.pass_time(5)
        await lab.engine.operations.act(CALLER, address, "cancel_update")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await ids(lab) == before
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_an_original_that_needs_other_values_gets_them() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fixed="x", value="one")}))
        before = await ids(lab)
        await lab.update(template({"a": thing(fixed="y", fail="create")}))
        await lab.update(template({"a": thing(fixed="x", value="two")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await ids(lab) == before
        assert lab.cloud.objects[str(before["a"])].properties["value"] == "two"

    in_lab(story)


def test_dependents_are_reinstated_with_the_original() -> None:
    """A resource that was replaced because of its dependency is reinstated with it."""

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fixed="x"), "b": thing(fixed=USES_A)}))
        before = await ids(lab)
        update = {"a": thing(fixed="y"), "b": thing(fixed=USES_A)}
        failing = {**update, "c": thing(fail="create", depends_on="b")}
        await lab.update(template(failing), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await ids(lab) == before
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_deleted_original_is_created_again() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(OLD)
        before = await ids(lab)
        await lab.update(replacing(fail="create"))
        del lab.cloud.objects[str(before["a"])]
        await lab.update(OLD)
        assert await lab.status() == "UPDATE_COMPLETE"
        after = await ids(lab)
        assert after["a"] != before["a"]
        assert sorted(lab.cloud.objects) == sorted(map(str, after.values()))

    in_lab(story)


def test_unhealthy_original_stays_replaced() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(OLD)
        before = await ids(lab)
        await lab.engine.operations.mark_unhealthy(
            CALLER, address, "a", unhealthy=True, reason="broken"
        )
        failing = {**OLD["resources"], "c": thing(fail="create", depends_on="b")}
        await lab.update(template(failing), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        after = await ids(lab)
        assert after["a"] != before["a"]
        assert before["a"] not in lab.cloud.objects

    in_lab(story)


def test_update_reinstates_replacement_dropped_by_rollback() -> None:
    """The replacement that is to go is as good an object as the one that it replaced."""

    async def story(lab: Lab) -> None:
        await lab.create(OLD)
        going = template({**OLD["resources"], "z": thing(slow=30)})
        await lab.update(failing_later())
        replacement = (await ids(lab))["a"]
        await lab.begin_update(going)
        await lab.pass_time(5)
        await lab.update(replacing())
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await ids(lab))["a"] == replacement
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def _rolled_back(kill: int) -> tuple[Cloud, dict[str, str | None], str | None, bool]:
    """Roll back a replacement with an engine that dies after ``kill`` turns.

    Return the final cloud and ids, the first id of ``a``, and whether the engine died.
    """
    world = World(7)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> str | None:
        lab = Lab(engine, world)
        await lab.create(OLD)
        return (await ids(lab))["a"]

    original = world.live(make)

    async def update(engine: EngineLife) -> bool:
        await Lab(engine, world).update(failing_later(), disable_rollback=False)
        return True

    died = world.live(update, Kill(kill, returns=False)) is None

    async def look(engine: EngineLife) -> tuple[str, dict[str, str | None]]:
        lab = Lab(engine, world)
        await engine.dispatch.idle()
        return await lab.status(), await ids(lab)

    found = world.live(look)
    assert found is not None
    assert found[0] in ("ROLLBACK_COMPLETE", "CREATE_COMPLETE")
    return world.cloud, found[1], original, died


@pytest.mark.parametrize("first", range(2))
def test_original_is_reinstated_despite_a_crash(first: int) -> None:
    kill, died = 40 + 7 * first, True
    while died:
        cloud, found, original, died = _rolled_back(kill)
        assert found["a"] == original, kill
        assert sorted(cloud.objects) == sorted(map(str, found.values())), kill
        assert cloud.violations == [], kill
        kill += 14
    assert kill > 100

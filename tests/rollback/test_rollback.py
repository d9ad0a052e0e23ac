"""Rollback restores the former state, or reports the parts that it could not restore."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

GOOD = template({"a": thing(value="one"), "b": thing(value="one", uses={"get_resource": "a"})})


def _stack_events(events: list[Any]) -> list[str]:
    return [f"{e.action}_{e.status}" for e in events if e.resource_id is None]


def test_a_failed_create_with_rollback_leaves_nothing() -> None:
    async def story(lab: Lab) -> None:
        bad = template({"a": thing(), "b": thing(fail="create", depends_on="a")})
        await lab.create(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await lab.rows() == {}
        assert lab.cloud.objects == {}
        assert _stack_events(await lab.events()) == [
            "CREATE_IN_PROGRESS",
            "CREATE_FAILED",
            "ROLLBACK_IN_PROGRESS",
            "ROLLBACK_COMPLETE",
        ]

    in_lab(story)


def test_failed_create_without_rollback_keeps_objects() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(fail="create", depends_on="a")}))
        stack = await lab.stack()
        assert await lab.status() == "CREATE_FAILED"
        assert "resources.b" in stack.reason
        assert "quota exceeded" in stack.reason
        assert len(lab.cloud.objects) == 1

    in_lab(story)


def test_update_repairs_failed_create() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(fail="create", depends_on="a")}))
        kept = (await lab.rows())["a"].physical_id
        await lab.update(template({"a": thing(), "b": thing(depends_on="a")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == kept
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_rollback_restores_values_and_removes_new_resources() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        bad = template(
            {
                "a": thing(value="two"),
                "b": thing(value="two", uses={"get_resource": "a"}),
                "c": thing(fail="create", depends_on="b"),
            }
        )
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        rows = await lab.rows()
        assert sorted(rows) == ["a", "b"]
        values = {lab.cloud.objects[str(r.physical_id)].properties["value"] for r in rows.values()}
        assert values == {"one"}

    in_lab(story)


def test_rollback_reverts_partly_updated_object() -> None:
    """The object may have some of the new values: it is not left like that."""

    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        bad = template({"a": thing(value="two", fail="update"), "b": GOOD["resources"]["b"]})
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        row = (await lab.rows())["a"]
        assert lab.cloud.objects[str(row.physical_id)].properties["value"] == "one"

    in_lab(story)


def test_rollback_keeps_resources_that_update_would_remove() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        before = {name: row.physical_id for name, row in (await lab.rows()).items()}
        bad = template({"c": thing(fail="create")})
        await lab.update(bad, disable_rollback=False)
        after = {name: row.physical_id for name, row in (await lab.rows()).items()}
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert after == before

    in_lab(story)


def test_a_rollback_that_fails_says_where() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="one")}))
        replacing = template({"a": thing(fixed="x", slow=5), "b": thing(fail="create")})
        await lab.begin_update(replacing, disable_rollback=False)
        await lab.pass_time(3)
        for found in lab.cloud.objects.values():
            if found.properties.get("fixed") == "x":
                lab.cloud.undeletable.add(found.id)
        await lab.engine.dispatch.idle()
        stack = await lab.stack()
        assert await lab.status() == "ROLLBACK_FAILED"
        assert "resources.a" in stack.reason

    in_lab(story)


def test_an_update_that_is_cancelled_goes_back() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(GOOD)
        await lab.begin_update(template({**GOOD["resources"], "c": thing(slow=100)}))
        await lab.pass_time(5)
        await lab.engine.operations.act(CALLER, address, "cancel_update")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert sorted(await lab.rows()) == ["a", "b"]
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_object_that_survived_failure_is_not_replaced() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        kept = (await lab.rows())["a"].physical_id
        await lab.update(template({"a": thing(value="two", fail="update")}))
        assert await lab.status() == "UPDATE_FAILED"
        await lab.update(GOOD)
        row = (await lab.rows())["a"]
        assert row.physical_id == kept
        assert lab.cloud.objects[str(kept)].properties["value"] == "one"

    in_lab(story)


def test_resource_failed_before_its_call_has_events() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="one,two")}))
        third = {"str_split": [",", {"get_attr": ["a", "value"]}, 2]}
        bad = template({"a": thing(value="one,two"), "b": thing(value=third)})
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        told = [event for event in await lab.events() if event.resource_name == "b"]
        assert [f"{event.action}_{event.status}" for event in told] == [
            "CREATE_IN_PROGRESS",
            "CREATE_FAILED",
            "DELETE_IN_PROGRESS",
            "DELETE_COMPLETE",
        ]
        assert {event.resource_type for event in told} == {"Sim::Thing"}

    in_lab(story)


def test_surviving_object_is_kept_although_cloud_is_busy() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="one")}))
        await lab.update(template({"a": thing(value="two", fail="update")}))
        before = (await lab.rows())["a"].physical_id
        lab.cloud.down = (lab.cloud.now, lab.cloud.now + 5)
        await lab.update(template({"a": thing(value="three")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == before

    in_lab(story)

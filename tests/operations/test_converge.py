"""Converging updates: objects that others have changed or deleted are repaired."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import ChangeView

BASE = template(
    {
        "base": thing(value="as wanted"),
        "user": thing(uses={"get_resource": "base"}),
        "other": thing(),
    }
)
NESTED = template({"inner": {"type": "inner.yaml"}})
INNER = {
    "inner.yaml": "heat_template_version: 2018-08-31\n"
    "resources: {deep: {type: Sim::Thing, properties: {value: as wanted}}}\n"
}


async def preview(lab: Lab, wanted: dict[str, Any], **request: Any) -> dict[str, ChangeView]:
    body = StackRequest(template=wanted, **request)
    address = (await lab.stack()).address
    found = await lab.engine.service.previews.update(CALLER, address, body, show_nested=True)
    return {each.resource.name: each for each in found.changes}


def values(lab: Lab) -> dict[str, Any]:
    """The values of the objects in the cloud, by the names of their resources."""
    return {found.name: found.properties["value"] for found in lab.cloud.objects.values()}


def test_converge_recreates_deleted_object_and_updates_dependents() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BASE)
        before = await lab.rows()
        lab.cloud.vanish("base")
        await lab.update(BASE, converge=True)
        after = await lab.rows()
        assert await lab.status() == "UPDATE_COMPLETE"
        assert sorted(values(lab)) == ["base", "other", "user"]
        new = after["base"].physical_id
        assert new in lab.cloud.objects
        assert lab.cloud.objects[str(after["user"].physical_id)].properties["uses"] == new
        assert after["user"].physical_id == before["user"].physical_id
        assert after["other"] == before["other"]

    in_lab(story)


def test_converge_reverts_outside_changes() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BASE)
        before = await lab.rows()
        lab.cloud.tamper("base", value="as others like it")
        await lab.update(BASE, converge=True)
        assert values(lab)["base"] == "as wanted"
        assert (await lab.rows())["base"].physical_id == before["base"].physical_id
        assert (await lab.rows())["base"].dirty == ()

    in_lab(story)


def test_update_without_converge_reads_no_objects() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BASE)
        lab.cloud.vanish("base")
        lab.cloud.tamper("other", value="as others like it")
        await lab.update(BASE)
        assert values(lab) == {"user": None, "other": "as others like it"}

    in_lab(story)


def test_converge_preview_shows_repairs_and_reasons() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BASE)
        lab.cloud.vanish("other")
        lab.cloud.tamper("base", value="as others like it")
        found = await preview(lab, BASE, converge=True)
        told = {name: (each.change, each.cause) for name, each in found.items()}
        assert told == {
            "base": ("updated", "drift"),
            "other": ("replaced", "gone"),
            "user": ("unchanged", "same"),
        }
        [changed] = found["base"].changed_properties
        assert (changed.name, changed.old, changed.new) == (
            "value",
            "as others like it",
            "as wanted",
        )
        same = await preview(lab, BASE)
        assert {each.change for each in same.values()} == {"unchanged"}

    in_lab(story)


def test_converge_repairs_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(NESTED, files=INNER)
        lab.cloud.tamper("deep", value="as others like it")
        found = await preview(lab, NESTED, files=INNER, converge=True)
        assert (found["deep"].change, found["deep"].cause) == ("updated", "drift")
        await lab.update(NESTED, files=INNER, converge=True)
        assert values(lab) == {"deep": "as wanted"}
        lab.cloud.vanish("deep")
        await lab.update(NESTED, files=INNER, converge=True)
        assert values(lab) == {"deep": "as wanted"}

    in_lab(story)


def test_converge_combines_drift_and_template_changes() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"base": thing(value="one", uses=None)}))
        lab.cloud.tamper("base", value="theirs")
        await lab.update(template({"base": thing(value="one", uses="x")}), converge=True)
        [base] = lab.cloud.objects.values()
        assert (base.properties["value"], base.properties["uses"]) == ("one", "x")

    in_lab(story)


def test_converge_keeps_changes_that_need_replacement() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"base": thing(fixed="one")}))
        before = await lab.rows()
        lab.cloud.tamper("base", fixed="theirs")
        await lab.update(template({"base": thing(fixed="one")}), converge=True)
        assert (await lab.rows())["base"].physical_id == before["base"].physical_id

    in_lab(story)


def test_converge_fails_first_if_objects_are_unreadable() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BASE)
        lab.cloud.down = (0.0, float("inf"))
        await lab.update(BASE, converge=True)
        stack = await lab.stack()
        assert await lab.status() == "UPDATE_FAILED"
        assert "live object cannot be read" in stack.reason
        assert {row.status for row in (await lab.rows()).values()} == {"COMPLETE"}

    in_lab(story)


def test_converge_recreates_object_identified_by_its_name() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"tie": {"type": "Sim::Tie", "properties": {"name": "knot"}}})
        await lab.create(wanted)
        lab.cloud.ties.clear()
        await lab.update(wanted, converge=True)
        assert lab.cloud.ties == {"knot"}
        rows = await lab.engine.ports.store.resources((await lab.stack()).id)
        assert [row.name for row in rows] == ["tie"]
        await lab.delete()
        assert lab.cloud.ties == set()

    in_lab(story)

"""Resources are listed from the moment at which a stack is accepted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import ResourceQuery
from stoker.kernel.errors import NotFoundError

CHAIN = {"a": thing(slow=50), "b": thing(depends_on="a")}


async def listed(lab: Lab, **query: Any) -> dict[str, str]:
    """The status of each resource that a list shows."""
    address = await lab.engine.operations.find(CALLER, "stack")
    asked = ResourceQuery(with_unstarted=True, **query)
    views = await lab.engine.views.resources(CALLER, address, asked)
    return {view.name: f"{view.action}_{view.status}" for view in views}


def test_waiting_resource_is_listed_and_shown() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.begin_create(template(CHAIN))
        assert await listed(lab) == {"a": "INIT_COMPLETE", "b": "INIT_COMPLETE"}
        await lab.pass_time(10)
        assert await listed(lab) == {"a": "CREATE_IN_PROGRESS", "b": "INIT_COMPLETE"}
        views = lab.engine.views
        shown = await views.resource(CALLER, address, "b", with_unstarted=True)
        assert (shown.type_name, shown.physical_id) == ("Sim::Thing", None)
        assert shown.attributes == {"value": None, "id": None}
        needed = await views.resource(CALLER, address, "a", with_unstarted=True)
        assert needed.required_by == ("b",)
        assert await views.metadata(CALLER, address, "b") == {}
        await lab.engine.dispatch.idle()
        assert await listed(lab) == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}

    in_lab(story)


def test_unstarted_resource_of_failed_create_is_listed() -> None:
    async def story(lab: Lab) -> None:
        failing = {"a": thing(fail="create"), "b": thing(depends_on="a")}
        await lab.create(template(failing))
        assert await listed(lab) == {"a": "CREATE_FAILED", "b": "INIT_COMPLETE"}
        assert await listed(lab, filters={"action": ("INIT",)}) == {"b": "INIT_COMPLETE"}
        detailed = await listed(lab, with_attributes=True)
        assert detailed["b"] == "INIT_COMPLETE"

    in_lab(story)


def test_new_resource_of_a_failed_update_is_listed() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        failing = {"a": thing(fail="update", value="x"), "b": thing(depends_on="a")}
        await lab.update(template(failing))
        assert await listed(lab) == {"a": "UPDATE_FAILED", "b": "INIT_COMPLETE"}

    in_lab(story)


def test_deleted_resources_are_not_listed_as_unstarted() -> None:
    async def story(lab: Lab) -> None:
        failing = {"a": thing(), "b": thing(depends_on="a", fail="create")}
        outputs = {"o": {"value": {"get_attr": ["a", "value"]}}}
        address = await lab.create(template(failing, outputs=outputs), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await listed(lab) == {}
        assert (await lab.engine.views.stack(CALLER, address)).outputs == ()
        assert await lab.engine.views.outputs(CALLER, address) == []

    in_lab(story)


def test_output_with_false_condition_is_listed() -> None:
    async def story(lab: Lab) -> None:
        outputs = {"o": {"condition": "never", "value": 1}, "p": {"value": 2}}
        never = {"never": {"equals": ["a", "b"]}}
        wanted = template({"a": thing()}, outputs=outputs, conditions=never)
        address = await lab.create(wanted)
        shown = (await lab.engine.views.stack(CALLER, address)).outputs or ()
        assert [(output.name, output.value) for output in shown] == [("o", None), ("p", 2)]
        listed_outputs = await lab.engine.views.outputs(CALLER, address)
        assert [name for name, _ in listed_outputs] == ["o", "p"]

    in_lab(story)


def test_resource_without_row_is_omitted_during_delete() -> None:
    async def story(lab: Lab) -> None:
        failing = {"a": thing(fail="create"), "b": thing(depends_on="a")}
        address = await lab.create(template(failing))
        await lab.engine.operations.delete(CALLER, address)
        assert "b" not in await listed(lab)

    in_lab(story)


def test_unstarted_resources_are_omitted_for_cloudformation() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.begin_create(template(CHAIN))
        await lab.pass_time(10)
        found = await lab.engine.views.resources(CALLER, address, ResourceQuery())
        assert [view.name for view in found] == ["a"]
        with pytest.raises(NotFoundError):
            await lab.engine.views.resource(CALLER, address, "b")

    in_lab(story)


def test_unstarted_members_of_nested_stacks_are_listed() -> None:
    inner = '{"heat_template_version": "2018-08-31", "resources": {"x": {"type": "Sim::Thing", \
"properties": {"slow": 50}}, "y": {"type": "Sim::Thing", "depends_on": "x"}}}'

    async def story(lab: Lab) -> None:
        await lab.begin_create(template({"n": {"type": "inner.yaml"}}), files={"inner.yaml": inner})
        await lab.pass_time(10)
        found = await listed(lab, nested_depth=1)
        assert found["y"] == "INIT_COMPLETE"

    in_lab(story)

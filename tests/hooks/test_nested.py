"""Hooks reach the resources of nested stacks and the members of groups."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, in_lab, template, thing
from tests.hooks.breakpoints import (
    begin_create,
    begin_delete,
    clear,
    finish,
    hooks,
    nested,
    standing,
    told,
)
from tests.simulation.scenario import CHILD, FILES


def nest(value: str) -> dict[str, Any]:
    return template({"nest": {"type": CHILD, "properties": {"value": value}}})


def group(count: int) -> dict[str, Any]:
    body = {"type": "Sim::Thing", "properties": {"value": "one"}}
    properties = {"count": count, "resource_def": body}
    return template({"group": {"type": "OS::Heat::ResourceGroup", "properties": properties}})


def test_a_resource_of_a_nested_stack_stops() -> None:
    async def story(lab: Lab) -> None:
        environment = hooks(nest={"o*": {"hooks": "pre-create"}})
        await begin_create(lab, nest("a"), files=FILES, environment=environment)
        assert await standing(lab) == {}
        child = await nested(lab, "nest")
        assert await standing(lab, child) == {"one": "pre-create"}
        assert lab.cloud.objects == {}
        await clear(lab, "one", "pre-create", child)
        assert await finish(lab) == "CREATE_COMPLETE"
        assert len(await told(lab, child.id)) == 2

    in_lab(story)


def test_the_resource_of_a_nested_stack_itself_stops() -> None:
    async def story(lab: Lab) -> None:
        every = ["pre-create", "post-create"]
        environment = hooks(nest=every)
        await begin_create(lab, nest("a"), files=FILES, environment=environment)
        assert await standing(lab) == {"nest": "pre-create"}
        assert (await lab.rows())["nest"].nested_id is None
        await clear(lab, "nest", "pre-create")
        assert await standing(lab) == {"nest": "post-create"}
        await clear(lab, "nest", "post-create")
        assert await finish(lab) == "CREATE_COMPLETE"

    in_lab(story)


def test_removed_group_member_pauses_before_delete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(group(2))
        environment = hooks(group={"1": {"hooks": "pre-delete"}, "2": {"hooks": "pre-create"}})
        await lab.begin_update(group(1), environment=environment)
        child = await nested(lab, "group")
        assert await standing(lab, child) == {"1": "pre-delete"}
        await clear(lab, "1", "pre-delete", child)
        assert await finish(lab) == "UPDATE_COMPLETE"
        await lab.begin_update(group(3), environment=environment)
        assert await standing(lab, child) == {"2": "pre-create"}
        await clear(lab, "2", "pre-create", child)
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_delete_of_parent_pauses_in_nested_stack() -> None:
    async def story(lab: Lab) -> None:
        environment = hooks(**{"*": {"*": {"hooks": "pre-delete"}}})
        await lab.create(nest("a"), files=FILES, environment=environment)
        child = await nested(lab, "nest")
        stack_id = (await lab.stack()).id
        await begin_delete(lab)
        assert await standing(lab, child) == {"two": "pre-delete"}
        await clear(lab, "two", "pre-delete", child)
        assert await standing(lab, child) == {"one": "pre-delete"}
        await clear(lab, "one", "pre-delete", child)
        await lab.engine.dispatch.idle()
        deleted = await lab.engine.ports.store.stack(stack_id)
        assert deleted is not None
        assert deleted.deleted_at is not None

    in_lab(story)


def test_timeout_ends_pause_in_deleted_nested_stack() -> None:
    async def story(lab: Lab) -> None:
        environment = hooks(nest={"two": {"hooks": "pre-delete"}})
        await lab.create(nest("a"), files=FILES, environment=environment, timeout_mins=5)
        child = await nested(lab, "nest")
        await begin_delete(lab)
        assert await standing(lab, child) == {"two": "pre-delete"}
        assert await finish(lab) == "DELETE_FAILED"
        stack = await lab.engine.ports.store.stack(child.id)
        assert stack is not None
        assert (stack.action, stack.status) == ("DELETE", "FAILED")
        await begin_delete(lab)
        assert await standing(lab, child) == {"two": "pre-delete"}
        await clear(lab, "two", "pre-delete", child)
        await lab.engine.dispatch.idle()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_rollback_of_parent_skips_nested_hooks() -> None:
    async def story(lab: Lab) -> None:
        both = ["pre-update", "post-update"]
        before = hooks(nest={"*": {"hooks": both}})
        await lab.create(nest("a"), files=FILES, environment=before)
        every = ["pre-update", "post-update", "pre-create", "pre-delete"]
        bad = nest("b")
        bad["resources"]["bad"] = thing(fail="create", depends_on="nest")
        environment = hooks(nest={"one": {"hooks": every}})
        await lab.begin_update(bad, files=FILES, environment=environment, disable_rollback=False)
        child = await nested(lab, "nest")
        assert await standing(lab, child) == {"one": "pre-update"}
        await clear(lab, "one", "pre-update", child)
        assert await standing(lab, child) == {"one": "post-update"}
        await clear(lab, "one", "post-update", child)
        assert await finish(lab) == "ROLLBACK_COMPLETE"
        rows = await lab.engine.ports.store.resources(child.id)
        assert {row.name: row.properties["value"] for row in rows}["one"] == "a"

    in_lab(story)

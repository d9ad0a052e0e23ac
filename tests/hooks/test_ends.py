"""A pause ends with its operation: by its time limit, by another operation, by a failure."""

from __future__ import annotations

from tests.engine_world import Lab, in_lab, template, thing
from tests.hooks.breakpoints import (
    begin_create,
    begin_delete,
    clear,
    finish,
    hooks,
    standing,
    told,
)
from tests.simulation.world import CALLER

ONE = template({"a": thing(value="one"), "b": thing(value="one")})
TWO = template({"a": thing(value="two"), "b": thing(value="two")})
THREE = template({"a": thing(value="three"), "b": thing(value="two")})


def test_stack_timeout_ends_a_pause() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, ONE, environment=hooks(a="pre-create"), timeout_mins=5)
        assert await standing(lab) == {"a": "pre-create"}
        assert await finish(lab) == "CREATE_FAILED"
        assert (await lab.stack()).reason == "Create timed out"
        row = (await lab.rows())["a"]
        assert (row.action, row.status) == ("INIT", "COMPLETE")
        await lab.update(ONE, environment=hooks())
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_object_paused_before_change_is_not_replaced_later() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        made = (await lab.rows())["a"].physical_id
        await lab.begin_update(TWO, environment=hooks(a="pre-update"), timeout_mins=5)
        assert await finish(lab) == "UPDATE_FAILED"
        row = (await lab.rows())["a"]
        assert (row.action, row.status) == ("CREATE", "COMPLETE")
        await lab.update(TWO)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == made

    in_lab(story)


def test_delete_continues_after_timeout_in_pause() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE, environment=hooks(a="post-delete"), timeout_mins=5)
        await begin_delete(lab)
        assert await standing(lab) == {"a": "post-delete"}
        assert await finish(lab) == "DELETE_FAILED"
        assert lab.cloud.objects == {}
        stack_id = (await lab.stack()).id
        before = await told(lab, stack_id)
        await lab.delete()
        assert await told(lab, stack_id) == before
        assert await lab.engine.ports.store.resources(stack_id) == []

    in_lab(story)


def test_failure_elsewhere_ends_pause_before_the_change() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        bad = template({"a": thing(value="two"), "b": thing(value="two", slow=30, fail="update")})
        await lab.begin_update(bad, environment=hooks(a="pre-update"))
        assert await finish(lab) == "UPDATE_FAILED"
        assert (await lab.rows())["a"].properties["value"] == "one"
        assert [line for line in await told(lab) if "cleared" in line] == [
            "a CREATE_COMPLETE UPDATE paused until Hook pre-update is cleared"
        ]

    in_lab(story)


def test_a_rollback_stops_at_no_hook() -> None:
    async def story(lab: Lab) -> None:
        every = ["pre-create", "post-create", "pre-update", "post-update", "pre-delete"]
        await lab.create(ONE, environment=hooks(**{"*": every[2:]}))
        bad = template({"a": thing(value="two"), "b": thing(value="two"), "c": thing()})
        request = {"environment": hooks(a=["post-update"], c=every), "timeout_mins": 5}
        await lab.begin_update(bad, disable_rollback=False, **request)
        assert await standing(lab) == {"a": "post-update", "c": "pre-create"}
        await clear(lab, "c", "pre-create")
        assert await standing(lab) == {"a": "post-update", "c": "post-create"}
        assert await finish(lab) == "ROLLBACK_COMPLETE"
        rows = await lab.rows()
        assert {name: row.properties["value"] for name, row in rows.items()} == {
            "a": "one",
            "b": "one",
        }
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_rollback_of_create_skips_delete_hooks() -> None:
    async def story(lab: Lab) -> None:
        environment = hooks(a=["pre-delete", "post-delete", "post-create"])
        await begin_create(
            lab, ONE, environment=environment, timeout_mins=5, disable_rollback=False
        )
        assert await standing(lab) == {"a": "post-create"}
        assert await finish(lab) == "ROLLBACK_COMPLETE"
        assert lab.cloud.objects == {}

    in_lab(story)


def test_second_update_pauses_again_despite_old_clear() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await lab.begin_update(TWO, environment=hooks(a="pre-update"))
        assert await standing(lab) == {"a": "pre-update"}
        await lab.begin_update(THREE, environment=hooks(a="pre-update"))
        assert await standing(lab) == {"a": "pre-update"}
        await clear(lab, "a", "pre-update")
        await lab.begin_update(TWO, environment=hooks(a="pre-update"))
        assert await standing(lab) == {"a": "pre-update"}
        await clear(lab, "a", "pre-update")
        assert await finish(lab) == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].properties["value"] == "two"
        assert await lab.engine.ports.store.signals((await lab.stack()).id) == []
        paused = [line for line in await told(lab) if "paused" in line]
        assert len(paused) == 3

    in_lab(story)


def test_update_without_change_removes_resource_from_hook() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await lab.begin_update(TWO, environment=hooks(a="pre-update"))
        assert await standing(lab) == {"a": "pre-update"}
        await lab.update(ONE)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await standing(lab) == {}

    in_lab(story)


def test_a_cancelled_update_goes_back_without_stopping() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await lab.begin_update(TWO, environment=hooks(a="pre-update", b="post-update"))
        assert await standing(lab) == {"a": "pre-update", "b": "post-update"}
        address = (await lab.stack()).address
        await lab.engine.operations.act(CALLER, address, "cancel_update")
        assert await finish(lab) == "ROLLBACK_COMPLETE"
        assert {row.properties["value"] for row in (await lab.rows()).values()} == {"one"}

    in_lab(story)


def test_stack_waiting_at_hooks_can_be_deleted() -> None:
    async def story(lab: Lab) -> None:
        await begin_create(lab, ONE, environment=hooks(a="pre-create", b="post-create"))
        assert await standing(lab) == {"a": "pre-create", "b": "post-create"}
        stack_id = (await lab.stack()).id
        await lab.delete()
        deleted = await lab.engine.ports.store.stack(stack_id)
        assert deleted is not None
        assert deleted.deleted_at is not None
        assert lab.cloud.objects == {}

    in_lab(story)

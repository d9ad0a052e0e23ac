"""A rollback restores the template that was in force when its operation started."""

from __future__ import annotations

import asyncio

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import NotSupportedError


async def values(lab: Lab) -> dict[str, str]:
    rows = await lab.rows()
    return {
        name: str(lab.cloud.objects[str(row.physical_id)].properties["value"])
        for name, row in rows.items()
    }


@pytest.mark.parametrize("slow", [0, 0.2, 0.5, 1, 1.5])
def test_rollback_restores_update_that_ended_during_acceptance(
    slow: float,
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        second = {"a": thing(value="1"), "b": thing(value="1", slow=slow)}
        await lab.begin_update(template(second))
        bad = template({"a": thing(value="2"), "c": thing(value="2", fail="create")})
        address = await lab.engine.operations.find(CALLER, "stack")
        # what it reads of the stack, it reads while the update before it is still under way
        stack = await lab.stack()
        given = StackRequest(template=bad, disable_rollback=False)
        await lab.pass_time(slow + 3)
        assert address.id == stack.id
        await lab.as_seen(stack).update(CALLER, address, given)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await values(lab) == {"a": "1", "b": "1"}

    in_lab(story)


def test_rollback_restores_template_of_failed_create() -> None:
    async def story(lab: Lab) -> None:
        first = {"a": thing(value="one"), "b": thing(value="one", fail="create")}
        await lab.create(template(first))
        kept = (await lab.rows())["a"].physical_id
        bad = template({"a": thing(value="two"), "c": thing(fail="create")})
        await lab.update(bad, disable_rollback=False)
        # what could not be made then cannot be made now either
        assert await lab.status() == "ROLLBACK_FAILED"
        assert (await lab.rows())["a"].physical_id == kept
        assert lab.cloud.objects[str(kept)].properties["value"] == "one"

    in_lab(story)


def test_rollback_restores_template_of_failed_update() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        await lab.update(template({"a": thing(value="1"), "b": thing(value="1", fail="create")}))
        assert await lab.status() == "UPDATE_FAILED"
        lab.cloud.quota = None
        bad = {"a": thing(value="2"), "b": thing(value="2"), "c": thing(fail="create")}
        await lab.update(template(bad), disable_rollback=False)
        assert (await values(lab))["a"] == "1"

    in_lab(story)


def test_rollback_completes_unfinished_update_it_superseded() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        await lab.begin_update(template({"a": thing(value="1"), "b": thing(value="1", slow=100)}))
        await lab.pass_time(5)
        bad = {"a": thing(value="2"), "c": thing(fail="create")}
        await lab.update(template(bad), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await values(lab) == {"a": "1", "b": "1"}

    in_lab(story)


def test_rollback_after_rolled_back_create_removes_everything() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fail="create")}), disable_rollback=False)
        bad = template({"b": thing(value="2"), "c": thing(fail="create", depends_on="b")})
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.objects == {}

    in_lab(story)


def test_second_rollback_restores_state_of_the_first() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        kept = (await lab.rows())["a"].physical_id
        for value in ("1", "2"):
            bad = {"a": thing(value=value), "c": thing(fail="create")}
            await lab.update(template(bad), disable_rollback=False)
            assert await lab.status() == "ROLLBACK_COMPLETE"
            assert await values(lab) == {"a": "0"}
        assert (await lab.rows())["a"].physical_id == kept

    in_lab(story)


def test_cancel_restores_state_before_cancelled_update() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0", fail="update"), "x": thing(value="0")}))
        failing = {"a": thing(value="1", fail="update"), "x": thing(value="1")}
        await lab.update(template(failing))
        assert await lab.status() == "UPDATE_FAILED"
        third = {"a": thing(value="2"), "x": thing(value="2"), "y": thing(value="2", slow=60)}
        await lab.begin_update(template(third))
        await lab.pass_time(5)
        address = await lab.engine.operations.find(CALLER, "stack")
        await lab.engine.operations.act(CALLER, address, "cancel_update")
        await lab.engine.dispatch.idle()
        assert (await values(lab))["x"] == "1"

    in_lab(story)


def test_cancel_beside_delete_does_not_replace_it() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="0")}))
        await lab.begin_update(template({"a": thing(value="1"), "b": thing(slow=60)}))
        await lab.pass_time(3)
        cancel = lab.engine.operations.act(CALLER, address, "cancel_update")
        delete = lab.engine.operations.delete(CALLER, address)
        refused = await asyncio.gather(delete, cancel, return_exceptions=True)
        await lab.engine.dispatch.idle()
        assert refused[0] is None
        assert refused[1] is None or isinstance(refused[1], NotSupportedError)
        assert lab.cloud.objects == {}

    in_lab(story)


def test_cancel_of_unstarted_update_keeps_input_in_force() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="0"), "b": thing("a", value="0")}))
        made = sorted(lab.cloud.objects)
        # both are accepted before an engine drives the stack
        unheard = lab.unheard()
        wanted = template({"a": thing(value="1"), "b": thing("a", value="1")})
        await unheard.update(CALLER, address, StackRequest(template=wanted))
        await unheard.act(CALLER, address, "cancel_update")
        lab.engine.dispatch.wake((await lab.stack()).id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await values(lab) == {"a": "0", "b": "0"}
        assert sorted(lab.cloud.objects) == made

    in_lab(story)


def test_cancel_of_waiting_update_restores_previous_template() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="0")}))
        await lab.update(template({"a": thing(value="1")}))
        await lab.begin_update(template({"a": thing(value="2"), "b": thing(slow=60)}))
        await lab.pass_time(3)
        address = await lab.engine.operations.find(CALLER, "stack")
        unheard = lab.unheard()
        wanted = template({"a": thing(value="3")})
        await unheard.update(CALLER, address, StackRequest(template=wanted))
        await unheard.act(CALLER, address, "cancel_update")
        lab.engine.dispatch.wake((await lab.stack()).id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert (await values(lab))["a"] == "2"

    in_lab(story)

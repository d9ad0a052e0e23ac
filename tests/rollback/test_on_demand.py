"""Rollback of a failed change on request."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.records import Action
from stoker.kernel.errors import ActionInProgressError, NotSupportedError

GOOD = template({"a": thing(value="one")})
BAD = template({"a": thing(value="two"), "b": thing(fail="create", depends_on="a")})


async def roll_back(lab: Lab, *, resume: bool = False) -> None:
    address = await lab.engine.operations.find(CALLER, "stack")
    rollbacks = lab.engine.service.cloudformation.rollbacks
    await (rollbacks.resume if resume else rollbacks.begin)(CALLER, address)
    await lab.engine.dispatch.idle()


def test_rollback_of_failed_update_restores_complete_state() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        await lab.update(BAD)
        assert await lab.status() == "UPDATE_FAILED"
        await lab.update(template({**BAD["resources"], "a": thing(value="three")}))
        assert await lab.status() == "UPDATE_FAILED"
        good = (await lab.stack()).good_input_id
        assert good is not None
        assert (await lab.engine.ports.store.input(good)).template == GOOD  # not tidied away
        await roll_back(lab)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        [found] = lab.cloud.objects.values()
        assert found.properties["value"] == "one"

    in_lab(story)


def test_a_failed_create_goes_back_to_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BAD)
        await roll_back(lab)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.objects == {}

    in_lab(story)


def test_a_rollback_that_failed_is_gone_on_with() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        replacing = template({"a": thing(fixed="x", slow=5), "b": thing(fail="create")})
        await lab.begin_update(replacing, disable_rollback=False)
        await lab.pass_time(3)
        for found in lab.cloud.objects.values():
            if found.properties.get("fixed") == "x":
                lab.cloud.undeletable.add(found.id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_FAILED"
        lab.cloud.undeletable.clear()
        await roll_back(lab, resume=True)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        [left] = lab.cloud.objects.values()
        assert left.properties["value"] == "one"

    in_lab(story)


@pytest.mark.parametrize("resume", [False, True])
def test_what_has_not_failed_is_not_rolled_back(resume: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(GOOD)
        with pytest.raises(NotSupportedError, match="CREATE_COMPLETE"):
            await roll_back(lab, resume=resume)
        stack = await lab.stack()
        assert (stack.action, await lab.operations()) == (Action.CREATE, [])

    in_lab(story)


def test_rollback_of_changing_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BAD)
        seen = await lab.stack()
        await lab.begin_update(template({"a": thing(value="two", slow=5)}))
        with pytest.raises(ActionInProgressError):
            await lab.engine.service.cloudformation.rollbacks.begin(CALLER, seen.address)

    in_lab(story)

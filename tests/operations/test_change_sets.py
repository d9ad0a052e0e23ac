"""Change sets: the shown changes are those carried out, and a new stack may be created from one."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.records import Action, Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import ChangeSetState
from stoker.engine.service.change_sets import change_sets
from stoker.engine.service.change_sets.contents import NO_CHANGES, request_of
from stoker.kernel.errors import (
    ActionInProgressError,
    AlreadyExistsError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    PlanOutdatedError,
    ValidationError,
)

ONE = template({"a": thing(value="one")})
TWO = template({"a": thing(value="two"), "b": thing()})


async def make(lab: Lab, name: str, wanted: Any, **request: Any) -> Any:
    """A change set that makes the stack."""
    sets = lab.engine.service.cloudformation.change_sets
    return await sets.create(
        CALLER, name, StackRequest(name="stack", template=wanted, **request), ""
    )


async def change(lab: Lab, name: str, wanted: Any, **request: Any) -> Any:
    """A change set that changes the stack."""
    address = await lab.engine.operations.find(CALLER, "stack")
    sets = lab.engine.service.cloudformation.change_sets
    return await sets.of_update(CALLER, address, name, StackRequest(template=wanted, **request), "")


async def execute(lab: Lab, name: str) -> None:
    address = await lab.engine.operations.find(CALLER, "stack")
    sets = lab.engine.service.cloudformation.change_sets
    await sets.execute(CALLER, address, name, disable_rollback=None)
    await lab.engine.dispatch.idle()


async def state(lab: Lab, name: str) -> ChangeSetState:
    address = await lab.engine.operations.find(CALLER, "stack")
    found: ChangeSetState = (
        await lab.engine.service.cloudformation.change_sets.show(CALLER, address, name)
    ).state
    return found


def test_change_set_creates_stack_in_review() -> None:
    async def story(lab: Lab) -> None:
        await make(lab, "first", ONE, tags=("t",), timeout_mins=7, disable_rollback=False)
        await make(lab, "second", TWO, tags=("u",), timeout_mins=8)
        stack = await lab.stack()
        assert (stack.action, stack.status) == (Action.INIT, Status.COMPLETE)
        assert lab.cloud.objects == {}
        await execute(lab, "second")
        made = await lab.stack()
        assert await lab.status() == "CREATE_COMPLETE"
        assert (made.id, made.tags, made.timeout_mins) == (stack.id, ("u",), 8)
        assert (made.disable_rollback, len(lab.cloud.objects)) == (True, 2)
        assert await state(lab, "second") is ChangeSetState.COMPLETE
        with pytest.raises(NotFoundError):
            await state(lab, "first")
        with pytest.raises(ValidationError, match="EXECUTE_COMPLETE"):
            await execute(lab, "second")

    in_lab(story)


def test_failed_create_from_change_set_is_rolled_back() -> None:
    async def story(lab: Lab) -> None:
        bad = template({"a": thing(), "b": thing(fail="create", depends_on="a")})
        await make(lab, "first", bad, disable_rollback=False)
        await execute(lab, "first")
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.objects == {}
        assert await state(lab, "first") is ChangeSetState.FAILED

    in_lab(story)


def test_stack_in_review_can_only_be_deleted() -> None:
    async def story(lab: Lab) -> None:
        await make(lab, "first", ONE)
        for action in ("suspend", "check", "cancel_update"):
            with pytest.raises(NotSupportedError):
                await lab.act(action)
        with pytest.raises(NotSupportedError, match="REVIEW_IN_PROGRESS"):
            await lab.update(TWO)
        with pytest.raises(AlreadyExistsError):
            await lab.create(ONE)
        stack = await lab.stack()
        await lab.delete()
        gone = await lab.engine.ports.store.stack(stack.id)
        assert gone is not None
        assert gone.deleted_at is not None

    in_lab(story)


def test_create_change_set_for_existing_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        with pytest.raises(NotSupportedError, match="already exists"):
            await make(lab, "first", TWO)

    in_lab(story)


def test_executed_change_set_matches_shown_changes() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        shown = (await change(lab, "c", TWO, tags=("t",))).change_set.shown
        assert [(each["path"], each["change"]) for each in shown["changes"]] == [
            (["a"], "updated"),
            (["b"], "added"),
        ]
        await execute(lab, "c")
        assert await lab.status() == "UPDATE_COMPLETE"
        assert ((await lab.stack()).tags, len(lab.cloud.objects)) == (("t",), 2)

    in_lab(story)


@pytest.mark.parametrize(
    ("request_", "void"),
    [
        ({}, True),
        ({"tags": ("t",)}, False),
        ({"template": {**ONE, "outputs": {"o": {"value": "1"}}}}, False),
    ],
)
def test_change_set_without_changes_cannot_be_executed(
    request_: dict[str, Any], void: bool
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        wanted = request_.get("template", ONE)
        view = await change(lab, "c", wanted, tags=request_.get("tags", ()))
        assert (view.change_set.fault == NO_CHANGES) == void
        if not void:
            return
        assert view.state is ChangeSetState.UNAVAILABLE
        with pytest.raises(ValidationError, match="UNAVAILABLE"):
            await execute(lab, "c")

    in_lab(story)


def test_stack_change_makes_change_set_obsolete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await change(lab, "c", TWO)
        seen = await lab.engine.service.cloudformation.change_sets.show(
            CALLER, (await lab.stack()).address, "c"
        )
        await lab.update(template({"a": thing(value="three")}))
        assert await state(lab, "c") is ChangeSetState.OUTDATED
        with pytest.raises(ValidationError, match="OBSOLETE"):
            await execute(lab, "c")
        # an execution that has read the set a moment before is refused too
        request = request_of(seen.change_set)
        with pytest.raises(PlanOutdatedError):
            await lab.engine.operations.update(CALLER, seen.stack, request, executes="x")

    in_lab(story)


def test_change_set_of_changing_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await lab.begin_update(template({"a": thing(value="two", slow=50)}))
        with pytest.raises(ActionInProgressError, match="UPDATE_IN_PROGRESS"):
            await change(lab, "c", TWO)

    in_lab(story)


def test_change_set_names_are_unique_and_bounded() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        await change(lab, "c", TWO)
        with pytest.raises(AlreadyExistsError):
            await change(lab, "c", TWO)
        for number in range(change_sets.MOST - 1):
            await change(lab, f"c{number}", TWO)
        with pytest.raises(LimitExceededError):
            await change(lab, "one-more", TWO)
        await lab.engine.service.cloudformation.change_sets.delete(
            CALLER, (await lab.stack()).address, "c"
        )
        await change(lab, "one-more", TWO)

    in_lab(story)


def test_crash_around_change_set_execution_loses_nothing() -> None:
    async def story(lab: Lab) -> None:
        await make(lab, "first", ONE)
        unheard = lab.unheard()
        sets = change_sets.ChangeSets(unheard._ports, unheard._finder, unheard)
        stack = await lab.stack()
        # carried out by an engine that does not live to drive it
        found = await sets.show(CALLER, stack.address, "first")
        request = request_of(found.change_set)
        await unheard.create_reviewed(CALLER, stack, request, found.change_set.id)
        assert await state(lab, "first") is ChangeSetState.RUNNING
        with pytest.raises(ValidationError, match="EXECUTE_IN_PROGRESS"):
            await lab.engine.service.cloudformation.change_sets.delete(
                CALLER, stack.address, "first"
            )
        with pytest.raises(PlanOutdatedError):
            await unheard.create_reviewed(CALLER, stack, request, found.change_set.id)
        await lab.engine.dispatch.recover()
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert await state(lab, "first") is ChangeSetState.COMPLETE

    in_lab(story)


def test_protected_stack_is_neither_deleted_nor_abandoned() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(ONE, keeps=True)
        for refused in (lab.delete, lambda: lab.engine.exports.abandon(CALLER, address)):
            with pytest.raises(NotSupportedError, match="TerminationProtection"):
                await refused()
        assert await lab.status() == "CREATE_COMPLETE"
        await lab.engine.service.cloudformation.protections.keep(CALLER, address, keeps=False)
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_change_set_can_contain_only_a_move() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(ONE)
        before = set(lab.cloud.objects)
        moved = {**thing(value="one"), "metadata": {"stoker": {"moved_from": "a"}}}
        view = await change(lab, "rename", template({"b": moved}))
        assert view.state is ChangeSetState.AVAILABLE
        await execute(lab, "rename")
        assert await lab.status() == "UPDATE_COMPLETE"
        assert set(await lab.rows()) == {"b"}
        assert set(lab.cloud.objects) == before

    in_lab(story)

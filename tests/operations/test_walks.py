"""Suspend and resume act on each resource in order and leave the desired state unchanged."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import FILES
from tests.simulation.world import CALLER

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.errors import ActionInProgressError, NotFoundError, NotSupportedError

CHAIN = template(
    {"a": thing(value="1"), "b": thing(uses={"get_resource": "a"}), "c": thing(depends_on="b")}
)


def resting(lab: Lab) -> dict[str, bool]:
    """Return which objects are suspended, by resource name."""
    return {found.name: found.rests for found in lab.cloud.objects.values()}


async def states(lab: Lab) -> dict[str, str]:
    return {name: f"{row.action}_{row.status}" for name, row in (await lab.rows()).items()}


def test_suspend_and_resume_reach_every_object() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        before = await lab.rows()
        for action, state, rests in (("suspend", "SUSPEND", True), ("resume", "RESUME", False)):
            await lab.act(action)
            assert await lab.status() == f"{state}_COMPLETE"
            assert (await lab.stack()).reason == f"Stack {state} completed successfully"
            assert set(resting(lab).values()) == {rests}
            rows = await lab.rows()
            assert {f"{row.action}_{row.status}" for row in rows.values()} == {f"{state}_COMPLETE"}
            for name, row in rows.items():
                assert row.physical_id == before[name].physical_id
                assert row.properties == before[name].properties

    in_lab(story)


def test_suspend_and_resume_follow_dependency_order() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        lab.cloud.journal.clear()
        await lab.act("suspend")
        await lab.act("resume")
        assert lab.cloud.journal == [f"suspend {n}" for n in "cba"] + [f"resume {n}" for n in "abc"]

    in_lab(story)


def test_suspend_records_start_and_end_events() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "s": {"type": "OS::Heat::RandomString"}}))
        told = len(await lab.history())
        await lab.act("suspend")
        assert sorted((await lab.history())[told:]) == [
            "a SUSPEND_COMPLETE",
            "a SUSPEND_IN_PROGRESS",
            "s SUSPEND_COMPLETE",
            "s SUSPEND_IN_PROGRESS",
        ]

    in_lab(story)


def test_repeated_suspend_or_resume_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        for action in ("suspend", "resume"):
            await lab.act(action)
            told = len(await lab.events())
            await lab.act(action)
            assert len(await lab.events()) == told
            assert await lab.status() == f"{action.upper()}_COMPLETE"

    in_lab(story)


def test_resume_of_active_stack_fails() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        await lab.act("resume")
        assert await lab.status() == "RESUME_FAILED"
        assert (await lab.stack()).reason == (
            "Resource RESUME failed: Error: resources.a:"
            " State ('CREATE', 'COMPLETE') invalid for resume"
        )
        assert await states(lab) == {"a": "CREATE_COMPLETE"}

    in_lab(story)


def test_suspend_of_failed_resource_fails() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fail="create")}))
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_FAILED"
        assert "State ('CREATE', 'FAILED') invalid for suspend" in (await lab.stack()).reason

    in_lab(story)


def test_failed_suspend_can_be_repeated() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(depends_on="a", fail="suspend")}))
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_FAILED"
        assert (await lab.stack()).reason.startswith("Resource SUSPEND failed: resources.b: ")
        assert await states(lab) == {"a": "CREATE_COMPLETE", "b": "SUSPEND_FAILED"}
        assert resting(lab) == {"a": False, "b": False}
        for found in lab.cloud.objects.values():
            found.properties["fail"] = None
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_COMPLETE"
        assert resting(lab) == {"a": True, "b": True}

    in_lab(story)


def test_missing_object_fails_suspend() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        lab.cloud.vanish("a")
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_FAILED"
        assert await states(lab) == {"a": "SUSPEND_FAILED"}

    in_lab(story)


def test_suspended_stack_refuses_updates_and_signals() -> None:
    async def story(lab: Lab) -> None:
        handle = {"type": "Sim::Handle"}
        address = await lab.create(template({"a": thing(), "h": handle}))
        # an update that was read before is refused where it is recorded
        seen = lab.as_seen(await lab.stack())
        await lab.act("suspend")
        for operations in (lab.engine.operations, seen):
            with pytest.raises(NotSupportedError, match="Updating a stack when it is suspended"):
                await operations.update(CALLER, address, StackRequest(template=CHAIN))
        with pytest.raises(NotSupportedError, match="Signal resource during SUSPEND"):
            await lab.engine.signals.signal(CALLER, address, "h", {})
        event = (await lab.events())[-1]
        assert (event.resource_name, event.reason) == ("h", "Cannot signal resource during SUSPEND")
        assert f"{event.action}_{event.status}" == "SUSPEND_COMPLETE"
        await lab.act("resume")
        await lab.engine.signals.signal(CALLER, address, "h", {})
        await lab.update(template({"a": thing(value="2"), "h": handle}))
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


@pytest.mark.parametrize("action", ["suspend", "resume"])
def test_suspend_or_resume_of_busy_stack_is_refused(action: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1", lag=9)}))
        await lab.begin_update(template({"a": thing(value="2", lag=9)}))
        with pytest.raises(ActionInProgressError, match="UPDATE"):
            await lab.begin_act(action)
        await lab.engine.dispatch.idle()
        await lab.begin_act("suspend")
        await lab.pass_time(3)
        with pytest.raises(ActionInProgressError, match="SUSPEND"):
            await lab.begin_act(action)
        await lab.engine.dispatch.idle()
        await lab.begin_act("resume")
        address = (await lab.stack()).address
        with pytest.raises(ActionInProgressError, match="RESUME"):
            await lab.engine.operations.update(CALLER, address, StackRequest(template=CHAIN))
        await lab.pass_time(3)
        with pytest.raises(ActionInProgressError, match="RESUME"):
            await lab.engine.operations.update(CALLER, address, StackRequest(template=CHAIN))

    in_lab(story)


def test_delete_supersedes_suspend() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(lag=5), "b": thing(depends_on="a")}))
        await lab.begin_act("suspend")
        await lab.pass_time(3)
        await lab.delete()
        gone = await lab.engine.views.stack(CALLER, address)
        assert (gone.action, gone.status) == ("DELETE", "COMPLETE")
        assert lab.cloud.objects == {}
        assert "suspend a" in lab.cloud.journal
        with pytest.raises(NotFoundError):
            await lab.engine.operations.act(CALLER, address, "suspend")

    in_lab(story)


def test_suspended_stack_can_be_deleted() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN)
        await lab.act("suspend")
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_suspend_fails_at_its_timeout() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(lag=1), "b": thing()}), timeout_mins=1)
        lab.cloud.down = (0, 1e12)
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_FAILED"
        assert (await lab.stack()).reason == "Suspend timed out"
        assert set((await states(lab)).values()) == {"SUSPEND_FAILED"}

    in_lab(story)


MEMBER = {"type": "Sim::Thing", "properties": {"value": "m", "slow": 2}}
GROUP = {
    "type": "OS::Heat::AutoScalingGroup",
    "properties": {"min_size": 1, "max_size": 4, "resource": MEMBER},
}
POLICY = {
    "type": "Sim::Policy",
    "properties": {
        "adjustment_type": "change_in_capacity",
        "scaling_adjustment": 1,
        "auto_scaling_group_id": {"get_resource": "group"},
    },
}
NESTED = {"type": "child.yaml", "properties": {"value": "x"}}


async def inner(lab: Lab, name: str) -> tuple[Stack, list[str]]:
    """Return the nested stack of a resource, and the states of its resources."""
    store = lab.engine.ports.store
    child = await store.stack(str((await lab.rows())[name].nested_id))
    assert child is not None
    rows = await store.resources(child.id)
    return child, [f"{row.action}_{row.status}" for row in rows]


def test_suspend_and_resume_reach_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"nest": NESTED, "group": GROUP}), files=FILES)
        for action, state, rests in (("suspend", "SUSPEND", True), ("resume", "RESUME", False)):
            await lab.act(action)
            assert set((await states(lab)).values()) == {f"{state}_COMPLETE"}
            for name in ("nest", "group"):
                child, found = await inner(lab, name)
                assert (child.action, child.status) == (state, "COMPLETE")
                assert set(found) == {f"{state}_COMPLETE"}
            assert set(resting(lab).values()) == {rests}

    in_lab(story)


def test_suspended_nested_stack_is_not_suspended_again() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"nest": NESTED}), files=FILES)
        child, _ = await inner(lab, "nest")
        await lab.engine.operations.act(CALLER, child.address, "suspend")
        await lab.engine.dispatch.idle()
        before = (await inner(lab, "nest"))[0].updated_at
        await lab.pass_time(5)
        await lab.act("suspend")
        assert await lab.status() == "SUSPEND_COMPLETE"
        assert (await inner(lab, "nest"))[0].updated_at == before

    in_lab(story)


def test_nested_suspend_failure_names_its_resource() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"nest": NESTED}), files=FILES)
        lab.cloud.vanish("two")
        await lab.act("suspend")
        assert await states(lab) == {"nest": "SUSPEND_FAILED"}
        reason = (await lab.stack()).reason
        assert reason.startswith("Resource SUSPEND failed: resources.nest.resources.two: ")
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_missing_nested_stack_fails_suspend() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"nest": NESTED}), files=FILES)
        child, _ = await inner(lab, "nest")
        await lab.engine.operations.delete(CALLER, child.address)
        await lab.engine.dispatch.idle()
        await lab.act("suspend")
        assert "no longer exists" in (await lab.stack()).reason

    in_lab(story)


def test_signals_accepted_before_suspend_are_applied_first() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"group": GROUP, "policy": POLICY}))
        for pause in (0.0, 1.0):
            await lab.engine.signals.signal(CALLER, address, "policy", {})
            await lab.pass_time(pause)
            await lab.begin_act("suspend")
            with pytest.raises(NotSupportedError, match="Signal resource during SUSPEND"):
                await lab.engine.signals.signal(CALLER, address, "policy", {})
            await lab.engine.dispatch.idle()
            assert await lab.status() == "SUSPEND_COMPLETE"
            await lab.act("resume")
        assert list(resting(lab).values()) == [False, False, False]

    in_lab(story)


def test_stack_is_suspended_once_accepted() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        unheard = lab.unheard()
        await unheard.act(CALLER, address, "suspend")
        with pytest.raises(NotSupportedError, match="Updating a stack when it is suspended"):
            await unheard.update(CALLER, address, StackRequest(template=CHAIN))
        lab.engine.dispatch.wake(address.id)
        await lab.engine.dispatch.idle()
        await unheard.act(CALLER, address, "resume")
        with pytest.raises(ActionInProgressError, match="RESUME"):
            await unheard.update(CALLER, address, StackRequest(template=CHAIN))

    in_lab(story)

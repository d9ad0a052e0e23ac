"""A signal to a scaling policy changes the size of a group, once, and nothing else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.records import Stack, Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.signals.signals import SignalService
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.errors import ActionInProgressError, LimitExceededError
from stoker.kernel.values import replace


def scaled(
    amount: float = 1,
    kind: str = "change_in_capacity",
    member: dict[str, Any] | None = None,
    policy: dict[str, Any] | None = None,
    **group: Any,
) -> dict[str, Any]:
    """A template with a group, a policy and an output."""
    sizes = {"min_size": 1, "max_size": 5, **group}
    return template(
        {
            "g": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {
                    **sizes,
                    "resource": {"type": "Sim::Thing", "properties": member or {}},
                },
            },
            "p": {
                "type": "Sim::Policy",
                "properties": {
                    "auto_scaling_group_id": {"get_resource": "g"},
                    "adjustment_type": kind,
                    "scaling_adjustment": amount,
                    **(policy or {}),
                },
            },
        },
        outputs={"size": {"value": {"get_attr": ["g", "current_size"]}}},
    )


async def signal(lab: Lab, name: str = "p") -> None:
    """Signal the policy, do not wait."""
    address = await lab.engine.operations.find(CALLER, "stack")
    await lab.engine.signals.signal(CALLER, address, name, {})


async def size(lab: Lab) -> int:
    """Return the size of the group in the stack's output, checked against the cloud."""
    address = await lab.engine.operations.find(CALLER, "stack")
    shown = (await lab.engine.views.output(CALLER, address, "size")).value
    assert shown == len(lab.cloud.objects)
    return int(shown)


async def told(lab: Lab) -> list[str]:
    """Return the event reasons about signals."""
    return [
        f"{event.action}_{event.status}: {event.reason}"
        for event in await lab.events()
        if event.resource_name == "p" and event.action == "SIGNAL"
    ]


def test_signal_adds_member_and_keeps_stack_status() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled())
        before = await lab.rows()
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await size(lab) == 2
        assert await lab.status() == "CREATE_COMPLETE"
        after = await lab.rows()
        for name in ("g", "p"):
            assert (after[name].action, after[name].status) == (
                before[name].action,
                before[name].status,
            )
        assert await told(lab) == ["SIGNAL_COMPLETE: g: from 1 to 2 members"]

    in_lab(story)


def test_group_bounds_limit_every_policy() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(100))
        for _ in range(2):
            await signal(lab)
            await lab.engine.dispatch.idle()
        assert await size(lab) == 5
        assert (await told(lab))[-1] == "SIGNAL_COMPLETE: no change: g has 5 members already"

    in_lab(story)


def test_signals_during_scaling_change_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(member={"slow": 10}))
        await signal(lab)
        await lab.pass_time(5)
        await signal(lab)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await size(lab) == 2
        assert len(await told(lab)) == 3
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await size(lab) == 3

    in_lab(story)


@pytest.mark.parametrize(("group", "policy"), [(60, None), (None, 60)])
def test_cooldown_starts_when_new_size_is_reached(group: int | None, policy: int | None) -> None:
    async def story(lab: Lab) -> None:
        rests = {"cooldown": policy} if policy else {}
        more = {"cooldown": group} if group else {}
        await lab.create(scaled(member={"slow": 10}, policy=rests, **more))
        for seconds, wanted in ((61, 2), (50, 2), (11, 3)):
            await lab.pass_time(seconds)
            await signal(lab)
            await lab.engine.dispatch.idle()
            assert await size(lab) == wanted

    in_lab(story)


def test_signal_during_update_is_applied_afterwards() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled())
        await lab.begin_update(scaled(member={"value": "new", "slow": 10}, min_size=2))
        await lab.pass_time(0.5)
        await signal(lab)
        await lab.pass_time(0.5)
        assert await lab.status() == "UPDATE_IN_PROGRESS"
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await size(lab) == 3
        assert {thing.properties["value"] for thing in lab.cloud.objects.values()} == {"new"}

    in_lab(story)


def test_update_during_scaling_precedes_signal_that_counts_once() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(member={"slow": 10}))
        await signal(lab)
        await lab.pass_time(3)
        await lab.update(scaled(member={"slow": 10, "value": "new"}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await lab.operations() == []
        assert await size(lab) == 2

    in_lab(story)


def test_delete_during_scaling_leaves_nothing() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(scaled(member={"slow": 10}))
        await signal(lab)
        await lab.pass_time(3)
        await signal(lab)
        await lab.delete()
        assert lab.cloud.objects == {}
        assert await lab.engine.ports.store.operations(address.id) == []

    in_lab(story)


def test_policy_without_group_reports_failure_event() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(policy={"auto_scaling_group_id": "somewhere"}))
        await signal(lab)
        await lab.engine.dispatch.idle()
        [event] = await told(lab)
        assert event.startswith("SIGNAL_FAILED: no group of this stack")
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def test_failed_member_fails_signal_and_is_removed_first() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled())
        good = set(lab.cloud.objects)
        lab.cloud.quota = 1
        await signal(lab)
        await lab.engine.dispatch.idle()
        [event] = await told(lab)
        assert event.startswith("SIGNAL_FAILED: g: from 1 to 2 members: Resource CREATE failed")
        lab.cloud.quota = None
        await lab.update(scaled(desired_capacity=1))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await size(lab) == 1
        assert set(lab.cloud.objects) == good

    in_lab(story)


def test_signals_that_wait_are_bounded() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(scaled(member={"slow": 1000}))
        ports = lab.engine.ports
        strict = replace(ports, limits=replace(ports.limits, signals_per_resource=3))
        signals = SignalService(strict, Finder(strict))
        for _ in range(3):
            await signals.signal(CALLER, address, "p", {})
        with pytest.raises(LimitExceededError, match="have not been applied yet"):
            await signals.signal(CALLER, address, "p", {})

    in_lab(story)


def test_all_attributes_of_a_group_are_shown_together() -> None:
    async def story(lab: Lab) -> dict[str, Any]:
        wanted = scaled()
        wanted["outputs"] = {"all": {"value": {"get_attr": ["g"]}}}
        address = await lab.create(wanted)
        shown: dict[str, Any] = (await lab.engine.views.output(CALLER, address, "all")).value
        return shown

    shown = in_lab(story)
    assert shown.keys() == {"outputs", "outputs_list", "current_size", "refs", "refs_map"}
    # the attribute of the members is not given
    assert (shown["outputs"], shown["outputs_list"]) == ({}, [])
    assert shown["current_size"] == len(shown["refs"]) == 1


def test_outputs_of_parent_stacks_follow_group_size() -> None:
    async def story(lab: Lab) -> None:
        files = {"inner.yaml": json.dumps(scaled()), "outer.yaml": json.dumps(around("inner.yaml"))}
        await lab.create(around("outer.yaml"), files=files)
        inner = await nested(lab, await nested(lab, await lab.stack()))
        await lab.engine.signals.signal(CALLER, inner.address, "p", {})
        await lab.engine.dispatch.idle()
        assert await size(lab) == 2
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def around(file: str) -> dict[str, Any]:
    """A template that shows the size of the group in another one."""
    return template({"n": {"type": file}}, outputs={"size": {"value": {"get_attr": ["n", "size"]}}})


async def nested(lab: Lab, stack: Stack) -> Stack:
    """The one nested stack of a stack."""
    [child] = await lab.engine.ports.store.children(stack.id)
    return child


@pytest.mark.parametrize("turns", range(1, 240, 7))
def test_a_signal_counts_once_wherever_the_engine_dies(turns: int) -> None:
    world = World(turns)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> None:
        await engine.operations.create(CALLER, StackRequest(name="stack", template=scaled()))
        await engine.dispatch.idle()

    accepted = []

    async def scale(engine: EngineLife) -> None:
        address = await engine.operations.find(CALLER, "stack")
        await engine.signals.signal(CALLER, address, "p", {})
        accepted.append(turns)
        await engine.dispatch.idle()

    async def look(engine: EngineLife) -> None:
        await asyncio.sleep(60)
        await engine.dispatch.idle()
        lab = Lab(engine, world)
        assert await lab.operations() == []
        assert await size(lab) in ({2} if accepted else {1, 2})
        assert world.cloud.violations == []

    world.live(make)
    world.live(scale, Kill(turns, returns=False))
    world.live(look)


def test_nested_group_scales_while_parent_group_does() -> None:
    async def story(lab: Lab) -> None:
        wanted = scaled(member={"slow": 30})
        wanted["resources"]["n"] = {"type": "inner.yaml"}
        wanted["outputs"]["inner"] = {"value": {"get_attr": ["n", "size"]}}
        address = await lab.create(wanted, files={"inner.yaml": json.dumps(scaled())})
        await signal(lab)
        await lab.pass_time(5)
        children = await lab.engine.ports.store.children(address.id)
        inner = next(child for child in children if child.parent_resource == "n")
        await lab.engine.signals.signal(CALLER, inner.address, "p", {})
        await lab.pass_time(200)
        assert await lab.operations() == []
        for output in ("size", "inner"):
            assert (await lab.engine.views.output(CALLER, address, output)).value == 2

    in_lab(story)


def test_group_being_scaled_refuses_marks() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(scaled(member={"slow": 30}))
        await signal(lab)
        await lab.pass_time(5)
        mark = lab.engine.operations.mark_unhealthy
        with pytest.raises(ActionInProgressError):
            await mark(CALLER, address, "g", unhealthy=True, reason="broken")
        await lab.engine.dispatch.idle()
        await mark(CALLER, address, "g", unhealthy=True, reason="broken")
        assert (await lab.rows())["g"].unhealthy

    in_lab(story)


def test_rolling_update_keeps_minimum_in_service() -> None:
    def rolled(value: str) -> dict[str, Any]:
        rolling = {"min_in_service": 4, "max_batch_size": 1}
        member = {"value": value, "lag": 5}
        return scaled(member=member, min_size=4, max_size=6, rolling_updates=rolling)

    async def story(lab: Lab) -> None:
        await lab.create(rolled("a"))
        before = set(lab.cloud.objects)
        store = lab.engine.ports.store
        [nested] = await store.children((await lab.stack()).id)
        await lab.begin_update(rolled("b"))
        most, working = 0, asyncio.ensure_future(lab.engine.dispatch.idle())
        while not working.done():
            members = await store.resources(nested.id)
            assert sum(member.status is Status.COMPLETE for member in members) >= 4
            most = max(most, len(members))
            await lab.pass_time(0.5)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert most == 5
        assert len(lab.cloud.objects) == 4
        assert len(before & set(lab.cloud.objects)) == 3
        assert {found.properties["value"] for found in lab.cloud.objects.values()} == {"b"}

    in_lab(story)


def test_cooldown_starts_when_the_group_is_complete() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(scaled(cooldown=300, member={"lag": 400}))
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await size(lab) == 1
        assert "cools down" in (await told(lab))[-1]
        await lab.pass_time(301)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await size(lab) == 2

    in_lab(story)


def test_unrelated_update_starts_no_cooldown() -> None:
    async def story(lab: Lab) -> None:
        wanted = scaled(cooldown=300)
        await lab.create(wanted)
        await lab.pass_time(301)
        wanted["resources"]["other"] = {"type": "Sim::Thing"}
        # One that converges also updates groups that nothing changes.
        await lab.update(wanted, converge=True)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert "from 1 to 2 members" in (await told(lab))[-1]
        changed = scaled(cooldown=299)
        await lab.update(changed)
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert "cools down" in (await told(lab))[-1]

    in_lab(story)


async def shown_metadata(lab: Lab, name: str) -> dict[str, Any]:
    """The metadata of a resource, as the API shows it."""
    address = await lab.engine.operations.find(CALLER, "stack")
    return dict(await lab.engine.views.metadata(CALLER, address, name))


def test_metadata_referring_to_group_follows_signal() -> None:
    async def story(lab: Lab) -> None:
        wanted = scaled()
        wanted["resources"]["lb"] = {
            "type": "Sim::Thing",
            "metadata": {"ids": {"get_attr": ["g", "refs"]}},
        }
        await lab.create(wanted)
        lb = (await lab.rows())["lb"]
        await signal(lab)
        await lab.engine.dispatch.idle()
        members = set(lab.cloud.objects) - {lb.physical_id}
        assert set((await shown_metadata(lab, "lb"))["ids"]) == members
        assert len(members) == 2
        before = await lab.history()
        await lab.update(wanted)
        assert [
            line for line in (await lab.history())[len(before) :] if line.startswith("lb")
        ] == []

    in_lab(story)


def test_metadata_around_nested_stack_follows_inner_signal() -> None:
    inner = scaled()
    inner["outputs"]["ids"] = {"value": {"get_attr": ["g", "refs"]}}
    outer = template(
        {
            "n": {"type": "inner.yaml"},
            "lb": {"type": "Sim::Thing", "metadata": {"ids": {"get_attr": ["n", "ids"]}}},
        }
    )

    async def story(lab: Lab) -> None:
        await lab.create(outer, files={"inner.yaml": json.dumps(inner)})
        [nested] = await lab.engine.ports.store.children((await lab.stack()).id)
        await lab.engine.signals.signal(CALLER, nested.address, "p", {})
        await lab.engine.dispatch.idle()
        assert len((await shown_metadata(lab, "lb"))["ids"]) == 2

    in_lab(story)


def test_metadata_of_failed_update_ignores_signal() -> None:
    async def story(lab: Lab) -> None:
        wanted = scaled()
        wanted["resources"]["lb"] = {"type": "Sim::Thing", "metadata": {"a": 1}}
        await lab.create(wanted)
        wanted["resources"]["lb"] = {
            "type": "Sim::Thing",
            "properties": {"fail": "update", "value": "b"},
            "metadata": {"ids": {"get_attr": ["g", "refs"]}},
            "depends_on": "bad",
        }
        wanted["resources"]["bad"] = {"type": "Sim::Thing", "properties": {"fail": "create"}}
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_FAILED"
        await signal(lab)
        await lab.engine.dispatch.idle()
        assert await shown_metadata(lab, "lb") == {"a": 1}

    in_lab(story)

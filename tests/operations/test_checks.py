"""The check of a stack: each live object is looked at, and a failure hides no other."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import FILES
from tests.simulation.world import CALLER

from stoker.engine.model.requests import ResourceQuery, StackRequest
from stoker.kernel.errors import NotSupportedError

STRING = {"type": "OS::Heat::RandomString"}
NOTE = ". 'CHECK' not fully supported (see resources)"


async def states(lab: Lab) -> dict[str, str]:
    return {name: f"{row.action}_{row.status}" for name, row in (await lab.rows()).items()}


def test_a_check_finds_what_is_as_it_should_be_and_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(depends_on="a")}))
        journal = list(lab.cloud.journal)
        await lab.act("check")
        assert await lab.status() == "CHECK_COMPLETE"
        assert (await lab.stack()).reason == "Stack CHECK completed successfully"
        assert await states(lab) == {"a": "CHECK_COMPLETE", "b": "CHECK_COMPLETE"}
        assert lab.cloud.journal == journal

    in_lab(story)


def test_a_check_tells_of_all_objects_that_are_gone_and_looks_at_all_that_stand_on_none() -> None:
    async def story(lab: Lab) -> None:
        wanted = {"a": thing(), "b": thing(depends_on="a"), "c": thing(), "d": thing()}
        await lab.create(template(wanted))
        lab.cloud.vanish("a")
        lab.cloud.vanish("c")
        await lab.act("check")
        assert await lab.status() == "CHECK_FAILED"
        assert await states(lab) == {
            "a": "CHECK_FAILED",
            "b": "CREATE_COMPLETE",
            "c": "CHECK_FAILED",
            "d": "CHECK_COMPLETE",
        }
        reason = (await lab.stack()).reason
        assert reason.startswith("Resource CHECK failed: resources.")
        assert reason.count("; resources.") == 1

    in_lab(story)


def test_a_check_says_per_property_what_others_have_changed() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="one", fixed="same"), "b": thing()}))
        lab.cloud.tamper("a", value="theirs")
        await lab.act("check")
        assert await states(lab) == {"a": "CHECK_COMPLETE", "b": "CHECK_COMPLETE"}
        rows = await lab.rows()
        told = 'value is "theirs" instead of "one"'
        assert rows["a"].reason == f"changed outside of the stack: {told}"
        assert rows["b"].reason == "state changed"
        lab.cloud.tamper("a", value="one")
        await lab.act("check")
        assert (await lab.rows())["a"].reason == "state changed"

    in_lab(story)


def test_a_failure_of_a_check_cuts_nothing_short() -> None:
    async def story(lab: Lab) -> None:
        child = {"type": "child.yaml", "properties": {"value": "x"}}
        # what comes late in the chain has not begun when the failure is known
        chain = {"b": thing(), "c": thing("b"), "d": thing("c")}
        things = {"a": thing(), **chain, "nest": child}
        await lab.create(template(things), files=FILES)
        lab.cloud.vanish("a")
        await lab.act("check")
        done = "CHECK_COMPLETE"
        assert await states(lab) == dict.fromkeys(things, done) | {"a": "CHECK_FAILED"}

    in_lab(story)


def test_what_a_check_has_found_broken_is_replaced_by_the_next_update() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(value="1"), "b": thing(uses={"get_resource": "a"})})
        await lab.create(wanted)
        gone = (await lab.rows())["a"].physical_id
        lab.cloud.vanish("a")
        await lab.act("check")
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id != gone
        await lab.act("check")
        assert await lab.status() == "CHECK_COMPLETE"

    in_lab(story)


def test_types_that_cannot_be_checked_are_told_of_once() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "s": STRING}))
        for told in (1, 0):
            before = len(await lab.history())
            await lab.act("check")
            assert (await lab.stack()).reason == f"Stack CHECK completed successfully{NOTE}"
            row = (await lab.rows())["s"]
            assert row.reason == "CHECK not supported for OS::Heat::RandomString"
            assert (await lab.history())[before:].count("s CHECK_COMPLETE") == told
            assert "s CHECK_IN_PROGRESS" not in await lab.history()

    in_lab(story)


def test_types_in_nested_stacks_that_cannot_be_checked_are_told_of_above() -> None:
    async def story(lab: Lab) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": STRING},
        }
        await lab.create(template({"group": group}))
        await lab.act("check")
        assert (await lab.stack()).reason == f"Stack CHECK completed successfully{NOTE}"
        assert (await lab.rows())["group"].reason == "state changed"

    in_lab(story)


def test_failures_in_nested_stacks_say_where_they_are() -> None:
    async def story(lab: Lab) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 12, "resource_def": thing(value="m%index%")},
        }
        await lab.create(template({"group": group}))
        for name in ("3", "5"):
            lab.cloud.vanish(name)
        await lab.act("check")
        first, second = (await lab.stack()).reason.split("; ")
        assert first.startswith("Resource CHECK failed: resources.group.resources.3: ")
        assert second.startswith("resources.group.resources.5: ")
        for number in range(12):
            lab.cloud.vanish(str(number))
        await lab.act("check")
        assert (await lab.stack()).reason.endswith("; and 2 more")

    in_lab(story)


def test_what_was_never_made_fails_a_check_and_stays_what_it_is() -> None:
    async def story(lab: Lab) -> None:
        wanted = {"a": thing(fail="create"), "b": thing(depends_on="a")}
        await lab.create(template(wanted))
        await lab.act("check")
        assert await lab.status() == "CHECK_FAILED"
        reason = (await lab.stack()).reason
        assert "Error: resources.a: State ('CREATE', 'FAILED') invalid for check" in reason
        assert "Error: resources.b: Resource b not created yet." in reason
        assert await states(lab) == {"a": "CREATE_FAILED"}
        address = (await lab.stack()).address
        shown = await lab.engine.views.resource(CALLER, address, "a")
        assert (shown.action, shown.status) == ("CHECK", "FAILED")
        query = ResourceQuery(filters={"action": ("CHECK",)})
        assert [view.name for view in await lab.engine.views.resources(CALLER, address, query)] == [
            "a"
        ]
        await lab.update(template({"a": thing(), "b": thing(depends_on="a")}))
        assert await states(lab) == {"a": "CREATE_COMPLETE", "b": "CREATE_COMPLETE"}

    in_lab(story)


def test_a_mark_goes_with_a_check_that_finds_nothing_and_stays_where_nobody_can_look() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(), "s": STRING}))
        for name in ("a", "s"):
            await lab.engine.operations.mark_unhealthy(
                CALLER, address, name, unhealthy=True, reason="it smokes"
            )
        await lab.act("check")
        rows = await lab.rows()
        assert (rows["a"].unhealthy, rows["s"].unhealthy) == (False, True)
        assert await states(lab) == {"a": "CHECK_COMPLETE", "s": "CHECK_FAILED"}
        assert "resources.s: CHECK not supported, and has failed: it smokes" in (
            (await lab.stack()).reason
        )

    in_lab(story)


def test_a_stack_that_rests_is_not_checked() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        await lab.act("suspend")
        with pytest.raises(NotSupportedError, match="Checking a stack when it is suspended"):
            await lab.begin_act("check")
        assert await lab.status() == "SUSPEND_COMPLETE"

    in_lab(story)


def test_an_update_takes_over_from_a_check() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(value="1"), "b": thing(value="1")})
        address = await lab.create(wanted)
        lab.cloud.down = (0, 1e12)
        await lab.begin_act("check")
        await lab.pass_time(5)
        await lab.engine.operations.update(CALLER, address, StackRequest(template=wanted))
        lab.cloud.down = (0, 0)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"
        assert set((await states(lab)).values()) == {"UPDATE_COMPLETE"}

    in_lab(story)


def test_a_check_leaves_the_way_back_of_a_failed_update_alone() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1")}))
        await lab.update(template({"a": thing(value="2", fail="update")}))
        good = (await lab.stack()).good_input_id
        await lab.act("check")
        assert (await lab.stack()).good_input_id == good
        await lab.update(template({"a": thing(value="3")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        [found] = lab.cloud.objects.values()
        assert found.properties["value"] == "3"

    in_lab(story)

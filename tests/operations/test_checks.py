"""The check of a stack: each live object is read, and a failure hides no other."""

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


def test_check_of_intact_stack_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(depends_on="a")}))
        journal = list(lab.cloud.journal)
        await lab.act("check")
        assert await lab.status() == "CHECK_COMPLETE"
        assert (await lab.stack()).reason == "Stack CHECK completed successfully"
        assert await states(lab) == {"a": "CHECK_COMPLETE", "b": "CHECK_COMPLETE"}
        assert lab.cloud.journal == journal

    in_lab(story)


def test_check_reports_all_missing_objects() -> None:
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


def test_check_reports_changed_properties() -> None:
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


def test_check_continues_after_a_failure() -> None:
    async def story(lab: Lab) -> None:
        child = {"type": "child.yaml", "properties": {"value": "x"}}
        # the last resources of the chain have not started when the failure is known
        chain = {"b": thing(), "c": thing("b"), "d": thing("c")}
        things = {"a": thing(), **chain, "nest": child}
        await lab.create(template(things), files=FILES)
        lab.cloud.vanish("a")
        await lab.act("check")
        done = "CHECK_COMPLETE"
        assert await states(lab) == dict.fromkeys(things, done) | {"a": "CHECK_FAILED"}

    in_lab(story)


def test_update_after_check_replaces_missing_objects() -> None:
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


def test_check_reports_unsupported_types_once() -> None:
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


def test_check_reports_unsupported_types_of_nested_stacks() -> None:
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


def test_check_failure_names_nested_resource() -> None:
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


def test_check_fails_for_resource_never_created() -> None:
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


def test_check_clears_marks_of_readable_resources() -> None:
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


def test_check_of_suspended_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        await lab.act("suspend")
        with pytest.raises(NotSupportedError, match="Checking a stack when it is suspended"):
            await lab.begin_act("check")
        assert await lab.status() == "SUSPEND_COMPLETE"

    in_lab(story)


def test_update_supersedes_check() -> None:
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


def test_check_keeps_input_of_last_good_update() -> None:
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

"""Creates of an express operation that start before their dependencies are settled."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing

VALUE = {"get_attr": ["a", "value"]}


def machine(depends_on: str | None = None, directive: Any = None, **properties: Any) -> Any:
    """An object that takes five seconds, and whose value is known before."""
    body = {**thing(depends_on, slow=5, **properties), "type": "Sim::Machine"}
    return body if directive is None else {**body, "metadata": {"stoker": {"express": directive}}}


async def starts(lab: Lab) -> dict[str, float]:
    """Return the start of each resource's create, in seconds since the first one."""
    events = [
        event for event in await lab.events() if event.resource_id and event.status == "IN_PROGRESS"
    ]
    first = min(event.time for event in events)
    return {event.resource_name: round(event.time - first) for event in events}


def started(resources: dict[str, Any], *, express: bool = True) -> dict[str, float]:
    """Create a stack of these resources; return the start of each."""

    async def story(lab: Lab) -> dict[str, float]:
        await lab.create(template(resources), express=express)
        assert await lab.status() == "CREATE_COMPLETE"
        assert not lab.cloud.violations
        return await starts(lab)

    found: dict[str, float] = in_lab(story)
    return found


def test_create_with_early_value_starts_early() -> None:
    assert started({"a": machine(value="x"), "b": machine(value=VALUE)})["b"] < 2


def test_create_waits_without_express() -> None:
    resources = {"a": machine(value="x"), "b": machine(value=VALUE)}
    assert started(resources, express=False)["b"] >= 5


@pytest.mark.parametrize(
    "dependant",
    [
        machine(depends_on="a", value="y"),
        machine(depends_on="a", value=VALUE),
        machine(uses={"get_resource": "a"}),
        machine(value={"get_attr": ["a", "id"]}),
        thing(value=VALUE),
        {"type": "Sim::Gate", "depends_on": "a", "properties": {"count": 0}},
    ],
    ids=["depends_on", "value and depends_on", "id", "other attribute", "other type", "signals"],
)
def test_create_that_needs_more_than_early_values_waits(dependant: Any) -> None:
    assert started({"a": machine(value="x"), "b": dependant})["b"] >= 5


def test_create_behind_early_one_waits_for_all() -> None:
    resources = {
        "a": machine(value="x"),
        "b": {**machine(value=VALUE), "properties": {"value": VALUE, "slow": 1}},
        "c": thing(depends_on="b"),
    }
    found = started(resources)
    assert (found["b"] < 2, found["c"] >= 5) == (True, True)


def test_create_waits_for_hook_of_early_one() -> None:
    async def story(lab: Lab) -> None:
        hooks = {"resource_registry": {"resources": {"a": {"hooks": "post-create"}}}}
        wanted = template({"a": machine(value="x"), "b": machine(value=VALUE)})
        await lab.begin_create(wanted, express=True, environment=hooks)
        await lab.pass_time(20)
        assert "b CREATE_IN_PROGRESS" not in await lab.history()
        await lab.delete()

    in_lab(story)


def test_directive_of_resource_overrides_operation() -> None:
    forbidden = {"a": machine(directive=False, value="x"), "b": machine(value=VALUE)}
    assert started(forbidden)["b"] >= 5
    chosen = {"a": machine(directive=True, value="x"), "b": machine(value=VALUE)}
    assert started(chosen, express=False)["b"] < 2


def test_nested_stack_inherits_express() -> None:
    async def story(lab: Lab) -> None:
        child = template({"a": machine(value="x"), "b": machine(value=VALUE)})
        files = {"child.yaml": json.dumps(child)}
        begun = lab.engine.ports.clock.now()
        await lab.create(template({"n": {"type": "child.yaml"}}), files=files, express=True)
        assert lab.engine.ports.clock.now() - begun < 9  # one after the other takes ten

    in_lab(story)


def test_stack_is_complete_when_all_is_settled() -> None:
    async def story(lab: Lab) -> None:
        begun = lab.engine.ports.clock.now()
        await lab.create(template({"a": machine(value="x"), "b": thing(value="y")}), express=True)
        assert 5 <= lab.engine.ports.clock.now() - begun < 6

    in_lab(story)


def test_failure_after_early_start_fails_and_rolls_back() -> None:
    async def story(lab: Lab) -> None:
        resources = {
            "a": machine(value="x", fail="settle"),
            "b": machine(value=VALUE),
            "c": thing(value=VALUE),
        }
        await lab.create(template(resources), express=True, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert not lab.cloud.objects
        assert "create b" in lab.cloud.journal
        assert "create c" not in lab.cloud.journal
        assert not any(line.startswith("c ") for line in await lab.history())

    in_lab(story)


def test_update_moves_nothing_to_unsettled_object() -> None:
    async def story(lab: Lab) -> None:
        resources = {"a": machine(value="x", fixed="1"), "b": machine(value=VALUE)}
        await lab.create(template(resources), express=True)
        resources["a"] = machine(value="z", fixed="2")
        begun = lab.engine.ports.clock.now()
        await lab.begin_update(template(resources), express=True)
        await lab.pass_time(3)
        assert (await lab.rows())["b"].action == "CREATE"
        await lab.engine.dispatch.idle()
        assert (await lab.rows())["b"].properties["value"] == "z"
        assert lab.engine.ports.clock.now() - begun >= 5

    in_lab(story)


def test_early_attribute_is_recorded_before_the_end() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": machine(value="x")}, outputs={"o": {"value": VALUE}})
        await lab.begin_create(wanted, express=True)
        await lab.pass_time(2)
        row = (await lab.rows())["a"]
        assert (row.status, row.attributes["value"]) == ("IN_PROGRESS", "x")
        await lab.engine.dispatch.idle()

    in_lab(story)


def test_cancel_completes_what_started_early() -> None:
    async def story(lab: Lab) -> None:
        resources = {"a": machine(value="x"), "b": machine(value=VALUE), "c": thing(value=VALUE)}
        await lab.begin_create(template(resources), express=True)
        await lab.pass_time(2)
        await lab.begin_act("cancel_without_rollback")
        await lab.engine.dispatch.idle()
        rows = await lab.rows()
        assert {name: row.status for name, row in rows.items()} == dict.fromkeys("ab", "COMPLETE")
        assert await lab.status() == "CREATE_FAILED"

    in_lab(story)


def test_timeout_leaves_held_resource_unstarted() -> None:
    async def story(lab: Lab) -> None:
        slow = {**machine(), "properties": {"value": "x", "slow": 300}}
        resources = {"a": slow, "b": machine(value=VALUE), "c": thing(value=VALUE)}
        await lab.create(template(resources), express=True, timeout_mins=1)
        assert await lab.status() == "CREATE_FAILED"
        assert {n: r.status for n, r in (await lab.rows()).items()} == {
            "a": "FAILED",
            "b": "COMPLETE",
        }

    in_lab(story)


def test_update_during_create_keeps_what_started_early() -> None:
    async def story(lab: Lab) -> None:
        resources = {"a": machine(value="x"), "b": machine(value=VALUE)}
        await lab.begin_create(template(resources), express=True)
        await lab.pass_time(2)
        await lab.update(template({**resources, "c": thing(value="new")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.journal == ["create a", "create b", "create c"]

    in_lab(story)

"""Runs of tasks: policies, pauses, and user changes of executions."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


def task(name: str, **body: Any) -> str:
    """A document with one workflow of one task."""
    given = {"action": "std.noop", **body}
    return json.dumps({"version": "2.0", name: {"tasks": {"a": given}}})


async def test_retried_task_accepts_its_last_attempt(
    workflows: Any,
) -> None:
    before = workflows.clock.now()
    run = await workflows.run(task("retried", action="std.fail", retry={"count": 2, "delay": 10}))
    assert run["state"] == "ERROR"
    found = (await workflows.tasks(run))["a"]
    assert json.loads(found["runtime_context"])["retry_task_policy"] == {"retry_no": 2}
    actions = await workflows.actions(found)
    assert [each["accepted"] for each in actions] == [False, False, True]
    assert (workflows.clock.now() - before).total_seconds() >= 20
    for number, each in enumerate(actions):
        assert f"[action_ex_id={each['id']}, idx={number}]: " in run["state_info"]


@pytest.mark.parametrize(
    ("policy", "action", "attempts", "state"),
    [
        ("count=2 delay=1 break-on=<% true %>", "std.fail", 1, "ERROR"),
        (
            {"count": 2, "delay": 1, "continue-on": "<% task().result = 1 %>"},
            "std.echo output=1",
            3,
            "SUCCESS",
        ),
        ({"count": "<% $.n %>", "delay": 0}, "std.fail", 4, "ERROR"),
    ],
)
async def test_conditions_say_whether_a_task_is_tried_again(
    workflows: Any, policy: Any, action: str, attempts: int, state: str
) -> None:
    name = f"conditional{attempts}"
    text = {"input": [{"n": 3}], "tasks": {"a": {"action": action, "retry": policy}}}
    run = await workflows.run(json.dumps({"version": "2.0", name: text}))
    assert run["state"] == state
    assert len(await workflows.actions((await workflows.tasks(run))["a"])) == attempts


async def test_a_task_waits_before_and_after(workflows: Any) -> None:
    before = workflows.clock.now()
    run = await workflows.run(task("waiting", **{"wait-before": 30, "wait-after": 70}))
    assert run["state"] == "SUCCESS"
    assert (workflows.clock.now() - before).total_seconds() >= 100


async def test_a_task_that_takes_too_long_has_failed(workflows: Any) -> None:
    run = await workflows.run(task("timed", action="std.async_noop", timeout=60))
    found = (await workflows.tasks(run))["a"]
    assert (run["state"], found["state_info"]) == ("ERROR", "Task timed out [timeout(s)=60].")
    (action,) = await workflows.actions(found)
    assert action["state"] == "CANCELLED"


async def test_a_result_can_be_a_failure(workflows: Any) -> None:
    policy = {"fail-on": "<% task().result = 3 %>"}
    run = await workflows.run(task("failing_on", action="std.echo output=3", **policy))
    assert (await workflows.tasks(run))["a"]["state_info"] == "Failed by 'fail-on' policy"


async def test_dropped_result_is_available_to_publish_only(
    workflows: Any,
) -> None:
    policy = {"keep-result": False, "publish": {"x": "<% task(a).result %>"}}
    run = await workflows.run(task("forgetting", action="std.echo output=1", **policy))
    found = (await workflows.tasks(run))["a"]
    assert (json.loads(run["output"]), found["result"]) == ({"x": 1}, "null")


async def test_policy_without_number_fails_workflow(workflows: Any) -> None:
    run = await workflows.run(task("odd_policy", timeout="<% 'soon' %>"))
    assert "the policy timeout: an integer is expected, not 'soon'" in run["state_info"]


async def test_workflow_pauses_before_task_and_by_command(
    workflows: Any,
) -> None:
    text = """
version: '2.0'
pausing:
  tasks:
    a: {action: std.noop, on-success: [pause, b]}
    b: {action: std.noop, pause-before: true}
"""
    run = await workflows.run(text)
    path = f"/executions/{run['id']}"
    assert run["state"] == "PAUSED"
    assert set(await workflows.tasks(run)) == {"a"}
    await workflows.caller.call("PUT", path, {"state": "RUNNING"})
    await workflows.until(path, "PAUSED")
    found = (await workflows.tasks(run))["b"]
    assert (found["state"], found["state_info"]) == ("IDLE", "Set by 'pause-before' policy")
    await workflows.caller.call("PUT", path, {"state": "RUNNING"})
    await workflows.until(path, "SUCCESS")


async def test_pause_and_cancel_reach_parents_and_children(workflows: Any) -> None:
    text = """
version: '2.0'
above:
  tasks:
    s: {workflow: below}
below:
  tasks:
    a: {action: std.async_noop, on-success: [b]}
    b: {action: std.noop, pause-before: true}
"""
    await workflows.define(text)
    run = await workflows.start("above")
    path = f"/executions/{run['id']}"

    task = await workflows.task(run, "s", "RUNNING")
    listed = await workflows.caller.get(f"/tasks/{task['id']}/workflow_executions")
    (child,) = listed["executions"]
    await workflows.caller.call("PUT", path, {"state": "PAUSED"})
    await workflows.until(f"/executions/{child['id']}", "PAUSED")
    assert (await workflows.tasks(run))["s"]["state"] == "PAUSED"
    await workflows.caller.call("PUT", path, {"state": "CANCELLED", "state_info": "enough"})
    await workflows.until(f"/executions/{child['id']}", "CANCELLED")
    ended = await workflows.caller.get(path)
    assert (ended["state"], ended["state_info"]) == ("CANCELLED", "enough")


async def test_client_reports_result_of_async_action(workflows: Any) -> None:
    publish = {"publish": {"x": "<% task(a).result.n %>"}}
    await workflows.define(task("elsewhere", action="std.async_noop", **publish))
    run = await workflows.start("elsewhere")
    found = await workflows.task(run, "a", "RUNNING")
    (action,) = await workflows.actions(found)
    path = f"/action_executions/{action['id']}"
    await workflows.caller.call("PUT", path, {"state": "WRONG"}, 400)
    said = {"state": "SUCCESS", "output": json.dumps({"n": 7})}
    told = await workflows.caller.call("PUT", path, said)
    assert json.loads(told["output"]) == {"result": {"n": 7}}
    ended = await workflows.until(f"/executions/{run['id']}", "SUCCESS")
    assert json.loads(ended["output"]) == {"x": 7}
    await workflows.caller.call("PUT", path, said, 409)


async def test_failed_task_and_its_workflow_are_rerun(
    workflows: Any,
) -> None:
    text = """
version: '2.0'
mended:
  tasks:
    s: {workflow: broken}
broken:
  tasks:
    a: {action: std.echo output=<% env().get(x) %>, fail-on: <% task().result = null %>,
        publish: {r: <% task().result %>}, on-success: [b]}
    b: {action: std.noop}
"""
    run = await workflows.run(text)
    assert run["state"] == "ERROR"
    (below,) = (await workflows.caller.get(f"/executions/{run['id']}/executions"))["executions"][1:]
    failed = (await workflows.tasks(below))["a"]
    body = {"id": failed["id"], "state": "RUNNING", "reset": True, "env": json.dumps({"x": 5})}
    await workflows.caller.call("PUT", f"/tasks/{failed['id']}", {**body, "state": "SUCCESS"}, 400)
    await workflows.caller.call("PUT", f"/tasks/{failed['id']}", body)
    await workflows.until(f"/executions/{run['id']}", "SUCCESS")
    mended = await workflows.caller.get(f"/executions/{below['id']}")
    assert json.loads(mended["output"]) == {"r": 5}
    assert set(await workflows.tasks(below)) == {"a", "b"}


async def test_only_what_has_ended_is_removed_without_force(workflows: Any) -> None:
    await workflows.define(task("removed", action="std.async_noop"))
    run = await workflows.start("removed")
    path = f"/executions/{run['id']}"
    refused = await workflows.caller.call("DELETE", path, expect=403)
    assert refused["faultstring"].startswith("Only completed executions can be deleted.")
    await workflows.caller.call("DELETE", f"{path}?force=true", expect=204)
    await workflows.caller.call("GET", path, expect=404)
    assert workflows.service.state.tasks_of(run["id"]) == []


@pytest.mark.long
async def test_a_workflow_that_never_ends_is_ended(workflows: Any) -> None:
    text = task("endless", **{"on-success": ["b"]})
    document = json.loads(text)
    document["endless"]["tasks"]["b"] = {"action": "std.noop", "on-success": ["b"]}
    run = await workflows.run(json.dumps(document))
    assert (run["state"], run["state_info"]) == ("ERROR", "An execution has at most 1000 tasks.")


@pytest.mark.long
async def test_endlessly_recursive_workflow_is_ended(workflows: Any) -> None:
    document = {"version": "2.0", "russian": {"tasks": {"a": {"workflow": "russian"}}}}
    run = await workflows.run(json.dumps(document))
    assert run["state"] == "ERROR"
    assert "An execution begins at most 500 others." in run["state_info"]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("<% range(0, 1000000000000).len() %>", "takes more than two seconds of computing"),
        ("<% [1] * 1000000000 %>", "takes more than 256 MiB of memory"),
        ("{{ 'x' * 1000000000 }}", "takes more than 256 MiB of memory"),
        ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("<% [1] * 3000000 %>", "Collection length exceeds 10000 elements"),
        ("{{ ['x' * 1000] * 5000 }}", "The values take more than 4 MiB."),
    ],
)
async def test_endless_expression_fails_its_workflow_only(
    workflows: Any, expression: str, reason: str
) -> None:
    name = f"bad{abs(hash(expression))}"
    given = {"input": {"output": expression}, "action": "std.echo"}
    run = await workflows.run(task(name, **given))
    assert run["state"] == "ERROR"
    assert reason in run["state_info"]
    assert (await workflows.run(task(f"{name}_next")))["state"] == "SUCCESS"

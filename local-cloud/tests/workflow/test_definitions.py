"""Workflows, workbooks, actions and environments: made, listed, changed, removed, shared."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOOK = """
version: '2.0'
name: {name}
tags: [q]
actions:
  greet:
    input: [name]
    base: std.echo output='Hello, <% $.name %>'
workflows:
  inner: {{output: {{g: <% $.g %>}}, input: [name], tasks: {{t: {{action: greet name=<% $.name %>,
           publish: {{g: <% task(t).result %>}}}}}}}}
  outer: {{tasks: {{t: {{workflow: inner name='Ann', publish: {{r: <% task(t).result.g %>}}}}}}}}
"""


def simple(name: str, **body: Any) -> str:
    tasks = {"a": {"action": "std.noop"}}
    return json.dumps({"version": "2.0", name: {"tasks": tasks, **body}})


async def test_a_workflow_is_shown_as_mistral_shows_it(workflows: Any) -> None:
    text = "version: '2.0'\nshown:\n  tags: [x]\n  input: [a, {b: 2}]\n  tasks: {t: {}}\n"
    refused = await workflows.define(text, 400)
    assert refused["faultstring"] == "Invalid DSL: {} should be non-empty (in shown.tasks.t)"
    text = text.replace("{}", "{action: std.noop}")
    (made,) = (await workflows.define(text))["workflows"]
    assert made["interface"] == {"input": ["a", {"b": 2}], "output": []}
    shown = await workflows.caller.get("/workflows/shown")
    assert shown == {**made, "interface": json.dumps(made["interface"])}
    assert (shown["input"], shown["tags"], shown["scope"]) == ('a, b="2"', ["x"], "private")
    assert shown["definition"] == text
    assert await workflows.caller.get(f"/workflows/{made['id']}") == shown
    again = await workflows.define(text, 409)
    assert again["faultstring"].startswith("Duplicate entry for WorkflowDefinition")


async def test_a_workflow_is_changed_and_keeps_its_id(workflows: Any) -> None:
    refused = await workflows.caller.call("PUT", "/workflows", simple("changed"), 404)
    assert refused["faultstring"] == "Workflow not found [name=changed, namespace=]"
    (made,) = (await workflows.define(simple("changed")))["workflows"]
    (changed,) = (
        await workflows.caller.call("PUT", "/workflows", simple("changed", tags=["new"]))
    )["workflows"]
    assert (changed["id"], changed["tags"]) == (made["id"], ["new"])
    path = f"/workflows/{made['id']}"
    renamed = await workflows.caller.call("PUT", path, simple("renamed"))
    assert (renamed["id"], renamed["name"]) == (made["id"], "renamed")
    await workflows.caller.call("DELETE", "/workflows/renamed", expect=204)
    await workflows.caller.call("GET", path, expect=404)


async def test_lists_come_in_pages_sorted_and_chosen(workflows: Any) -> None:
    for name in ("list_b", "list_a", "list_c"):
        await workflows.define(simple(name, tags=["listed"]))
    query = "/workflows?name=in:list_a,list_b,list_c&sort_keys=name&fields=name,id"
    page = await workflows.caller.get(f"{query}&limit=2")
    assert [each["name"] for each in page["workflows"]] == ["list_a", "list_b"]
    assert set(page["workflows"][0]) == {"id", "name"}
    rest = await workflows.caller.get(page["next"])
    assert [each["name"] for each in rest["workflows"]] == ["list_c"]
    assert "next" not in rest
    for odd in ("fields=nope", "sort_keys=nope", "limit=-1", "marker=nope", "nope=1"):
        await workflows.caller.get(f"/workflows?{odd}", 400)


async def test_public_definition_is_changed_by_owner_only(
    workflows: Any,
) -> None:
    refused = await workflows.caller.call("POST", "/workflows?scope=public", simple("for_all"), 403)
    assert "role admin" in refused["faultstring"]
    admin, other = workflows.caller.of("admin"), workflows.caller.of("other")
    await admin.call("POST", "/workflows?scope=public", simple("for_all"), 201)
    run = await other.call("POST", "/executions", {"workflow_name": "for_all"}, 201)
    await workflows.caller.call("GET", f"/executions/{run['id']}", expect=404)
    await other.call("DELETE", "/workflows/for_all", expect=403)
    await workflows.define(simple("private"))
    await other.call("GET", "/workflows/private", expect=404)
    await other.call("POST", "/executions", {"workflow_name": "private"}, 404)


async def test_names_live_in_namespaces(workflows: Any) -> None:
    await workflows.define(simple("spaced"))
    await workflows.caller.call("POST", "/workflows?namespace=there", simple("spaced"), 201)
    await workflows.caller.get("/workflows/spaced?namespace=there")
    body = {"workflow_name": "spaced", "workflow_namespace": "there"}
    run = await workflows.caller.call("POST", "/executions", body, 201)
    assert run["workflow_namespace"] == "there"
    await workflows.caller.call("DELETE", "/workflows/spaced?namespace=there", expect=204)
    assert (await workflows.caller.get("/workflows/spaced"))["namespace"] == ""


async def test_workbook_definitions_use_short_names(workflows: Any) -> None:
    made = await workflows.caller.call("POST", "/workbooks", BOOK.format(name="book"), 201)
    assert made["tags"] == ["q"]
    run = await workflows.start("book.outer")
    ended = await workflows.until(f"/executions/{run['id']}", "SUCCESS", "ERROR")
    assert json.loads(ended["output"]) == {"r": "Hello, Ann"}
    inner = await workflows.caller.get("/workflows/book.inner")
    smaller = {
        "version": "2.0",
        "name": "book",
        "workflows": {"inner": {"tasks": {"t": {"action": "std.noop"}}}},
    }
    await workflows.caller.call("PUT", "/workbooks", json.dumps(smaller))
    assert (await workflows.caller.get("/workflows/book.inner"))["id"] == inner["id"]
    await workflows.caller.call("GET", "/workflows/book.outer", expect=404)
    await workflows.caller.call("GET", "/actions/book.greet", expect=404)
    await workflows.caller.call("DELETE", "/workbooks/book", expect=204)
    await workflows.caller.call("GET", "/workbooks/book", expect=404)


async def test_an_environment_gives_its_variables_to_executions(workflows: Any) -> None:
    body = {"name": "e1", "description": "d", "variables": json.dumps({"k": 1})}
    made = await workflows.caller.call("POST", "/environments", body, 201)
    assert await workflows.caller.get("/environments/e1") == made
    await workflows.caller.call("POST", "/environments", body, 409)
    changed = {"name": "e1", "variables": json.dumps({"k": 2})}
    shown = await workflows.caller.call("PUT", "/environments", changed)
    assert (shown["description"], shown["variables"]) == ("d", '{"k": 2}')
    output = {"k": "<% env().k %>"}
    run = await workflows.run(simple("in_env", output=output), params={"env": "e1"})
    assert json.loads(run["output"]) == {"k": 2}
    refused = await workflows.start("in_env", 400, params={"env": "nope"})
    assert refused["faultstring"] == "Environment is not found: nope"
    await workflows.caller.call("DELETE", "/environments/e1", expect=204)


async def test_execution_starts_once_per_id(workflows: Any) -> None:
    await workflows.define(simple("once"))
    body = {"id": "3381af92-2b9e-11e3-b191-71861300734c", "workflow_name": "once"}
    await workflows.caller.call("POST", "/executions", body, 201)
    again = await workflows.caller.call("POST", "/executions", {**body, "input": "{}"}, 201)
    assert again["id"] == body["id"]
    listed = await workflows.caller.get("/executions?workflow_name=once")
    assert len(listed["executions"]) == 1
    await workflows.caller.of("other").call("POST", "/executions", body, 404)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "Workflow ID or workflow name must be provided."),
        ({"workflow_name": "begun", "foo": 1}, "Unknown attribute for argument wf_ex: foo"),
        ({"workflow_name": "begun", "input": "x"}, "Expecting value"),
        ({"workflow_name": "begun", "input": "[1]"}, "must be a dictionary [actual=[1]]"),
        ({"workflow_name": "begun", "input": {}}, "[name=begun, missing=['a']]"),
        ({"workflow_name": "begun", "input": {"a": 1, "z": 2}}, "unexpected=['z']"),
        ({"workflow_name": "begun", "input": {"a": 1}, "params": {"env": 5}}, "[env=5]"),
        ({"workflow_name": "begun", "id": "x"}, "unable to convert to uuid"),
    ],
)
async def test_invalid_execution_is_refused(workflows: Any, body: Any, reason: str) -> None:
    if await workflows.caller.send("GET", "/workflows/begun") is not None:
        await workflows.caller.send("POST", "/workflows", simple("begun", input=["a"]))
    answer = await workflows.caller.call("POST", "/executions", body, 400)
    assert reason in answer["faultstring"]


async def test_execution_starts_from_another_one(workflows: Any) -> None:
    run = await workflows.run(
        simple("source", input=["a"], output={"b": "<% $.a %>"}), input={"a": 1}
    )
    body = {"source_execution_id": run["id"]}
    again = await workflows.caller.call("POST", "/executions", body, 201)
    assert (again["input"], again["source_execution_id"]) == ('{"a": 1}', run["id"])
    ended = await workflows.until(f"/executions/{again['id']}", "SUCCESS")
    assert ended["output"] == run["output"]


async def test_report_shows_progress_of_all_tasks(workflows: Any) -> None:
    text = {
        "version": "2.0",
        "reported": {"tasks": {"s": {"workflow": "reported_child"}}},
        "reported_child": {"tasks": {"a": {"action": "std.noop"}, "b": {"action": "std.fail"}}},
    }
    run = await workflows.run(json.dumps(text), name="reported")
    report = await workflows.caller.get(f"/executions/{run['id']}/report")
    assert report["statistics"]["total_tasks_count"] == 3
    assert report["statistics"]["error_tasks_count"] == 2
    (task,) = report["root_workflow_execution"]["task_executions"]
    (child,) = task["workflow_executions"]
    assert {each["name"] for each in child["task_executions"]} == {"a", "b"}
    few = await workflows.caller.get(f"/executions/{run['id']}/report?errors_only=true&max_depth=0")
    (task,) = few["root_workflow_execution"]["task_executions"]
    assert task["workflow_executions"] == []
    only = await workflows.caller.get(f"/executions/{run['id']}/report?statistics_only=true")
    assert set(only) == {"statistics"}


async def test_root_shows_address_of_api(workflows: Any) -> None:
    root = await workflows.caller.call("GET", f"{workflows.cloud.settings.url}/workflow/v2")
    assert root == {"uri": f"{workflows.cloud.settings.url}/workflow/v2"}
    assert (await workflows.caller.get("/nope", 404))["faultcode"] == "Client"

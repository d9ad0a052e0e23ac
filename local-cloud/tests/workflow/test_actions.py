"""Actions: the standard ones, those that projects define, and those on services."""

import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from cloud_testing.http_answers import answering

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def address() -> AsyncIterator[str]:
    """Return the address of a server that answers with the request."""
    async with answering() as found:
        yield found


async def take(workflows: Any, action: str, expect: int = 201, **given: Any) -> Any:
    body = {"name": action, "input": json.dumps(given)}
    return await workflows.caller.call("POST", "/action_executions", body, expect)


async def result(workflows: Any, action: str, **given: Any) -> Any:
    taken = await take(workflows, action, **given)
    assert taken["state"] == "SUCCESS", taken
    return json.loads(taken["output"])["result"]


async def test_standard_actions_do_what_they_say(workflows: Any) -> None:
    assert await result(workflows, "std.noop") is None
    assert await result(workflows, "std.echo", output=[1], delay=1) == [1]
    made = await result(workflows, "std.test_dict", size=2, key_prefix="k", val=3)
    assert made == {"k0": 3, "k1": 3}
    failed = await take(workflows, "std.fail", error_data={"a": 1})
    assert (failed["state"], json.loads(failed["output"])) == ("ERROR", {"result": {"a": 1}})


@pytest.mark.parametrize("name", ["std.email", "std.javascript", "std.ssh"])
async def test_unsupported_action_fails_with_reason(workflows: Any, name: str) -> None:
    shown = await workflows.caller.get(f"/actions/{name}")
    required = [each for each in shown["input"].split(", ") if "=" not in each]
    failed = await take(workflows, name, **dict.fromkeys(required, "x"))
    assert failed["state"] == "ERROR"
    assert f"{name} does not exist in the local cloud: " in failed["output"]


async def test_unknown_input_of_action_is_refused(workflows: Any) -> None:
    refused = await take(workflows, "std.echo", 400, foo=1)
    told = "Invalid input [name=std.echo, missing=['output'], unexpected=['foo']]"
    assert refused["faultstring"] == told
    refused = await take(workflows, "nope", 400)
    assert refused["faultstring"] == "Failed to find action [action_name=nope, namespace=]"


async def test_http_action_sends_request_and_returns_answer(workflows: Any, address: str) -> None:
    told = await result(
        workflows, "std.http", url=f"{address}/a", method="PUT", params={"q": "1"},
        json={"b": 2}, headers={"X-Mine": "3"}, auth="me:secret", cookies={"c": "4"},
    )  # fmt: skip
    assert (told["status"], told["content"]["method"]) == (200, "PUT")
    asked = told["content"]
    assert (asked["path"], asked["body"]) == ("/a?q=1", '{"b": 2}')
    assert asked["headers"]["x-mine"] == "3"
    assert asked["headers"]["authorization"] == "Basic bWU6c2VjcmV0"
    assert asked["headers"]["cookie"] == "c=4"


async def test_http_action_fails_on_errors_and_follows_redirects(
    workflows: Any, address: str
) -> None:
    failed = await take(workflows, "std.http", url=f"{address}/status/404")
    assert failed["state"] == "ERROR"
    assert json.loads(failed["output"])["result"]["status"] == 404
    there = quote(f"{address}/there", safe="")
    assert (await result(workflows, "std.http", url=f"{address}/to/{there}"))["status"] == 200
    stays = await result(workflows, "std.http", url=f"{address}/to/{there}", allow_redirects=False)
    assert stays["status"] == 302
    for url, reason in (("file:///etc/passwd", "Only http and https"), ("http://[", "Invalid")):
        failed = await take(workflows, "std.http", url=url)
        assert reason in failed["output"]


async def test_project_action_is_composed_of_others(workflows: Any) -> None:
    text = """
version: '2.0'
shout:
  base: greet name=<% $.name %>
  input: [name]
  output: <% $.toUpper() %>
greet:
  base: std.echo
  base-input: {output: '<% $.greeting %>, <% $.name %>'}
  input: [name, {greeting: Hello}]
  output: <% $ %>!
"""
    made = await workflows.caller.call("POST", "/actions", text, 201)
    assert [each["input"] for each in made["actions"]] == ["name", 'name, greeting="Hello"']
    assert await result(workflows, "shout", name="Ann") == "HELLO, ANN!"
    await workflows.caller.call("POST", "/actions", text, 409)
    await workflows.caller.call("DELETE", "/actions/greet", expect=204)
    failed = await take(workflows, "shout", 400, name="Ann")
    assert "[action_name=greet, namespace=]" in failed["faultstring"]
    refused = await workflows.caller.call("DELETE", "/actions/std.echo", expect=404)
    assert refused["faultstring"].startswith("Action definition not found")


async def test_service_action_reports_error_of_service(workflows: Any) -> None:
    failed = await take(workflows, "nova.servers_list")
    assert "the cloud has no service of the type compute" in failed["output"]
    shown = await workflows.caller.get("/actions/nova.servers_reboot")
    assert shown["input"] == 'server, reboot_type="SOFT"'


async def test_saved_action_is_shown_and_deleted(workflows: Any) -> None:
    body = {
        "name": "std.echo",
        "input": json.dumps({"output": 1}),
        "params": json.dumps({"save_result": True}),
    }
    kept = await workflows.caller.call("POST", "/action_executions", body, 201)
    path = f"/action_executions/{kept['id']}"
    shown = await workflows.until(path, "SUCCESS")
    assert json.loads(shown["output"]) == {"result": 1}
    await workflows.caller.call("DELETE", path, expect=204)
    await workflows.caller.call("GET", path, expect=404)
    assert len(workflows.cloud.store.collection("identity.trust")) == 0

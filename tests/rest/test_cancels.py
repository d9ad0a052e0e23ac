"""``cancel_update`` and ``cancel_without_rollback``: their answers and effects."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.isolation.people import Person, newcomer
from tests.recovery.service import Service, until

BACK, STAY = "cancel_update", "cancel_without_rollback"
NESTED = {
    "child.yaml": """
heat_template_version: 2018-08-31
parameters: {wait: {type: number}, value: {type: string}}
resources:
  inner:
    type: OS::Heat::TestResource
    properties:
      value: {get_param: value}
      action_wait_secs: {create: {get_param: wait}, update: {get_param: wait}}
"""
}


@pytest.fixture(scope="module")
def person(service: Service) -> Person:
    return newcomer(service, "canceller")


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return "".join(each if each.isalnum() else "-" for each in request.node.name)


def template(value: str, wait: int) -> dict[str, Any]:
    """Two resources; the second depends on the first, which takes its time."""
    test, waits = "OS::Heat::TestResource", {"create": wait, "update": wait}
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "a": {"type": test, "properties": {"value": value, "action_wait_secs": waits}},
            "b": {"type": test, "properties": {"value": value}, "depends_on": "a"},
        },
    }


def nesting(value: str, wait: int) -> dict[str, Any]:
    properties = {"value": value, "wait": wait}
    return {
        "template": {
            "heat_template_version": "2018-08-31",
            "resources": {"n": {"type": "child.yaml", "properties": properties}},
        },
        "files": NESTED,
    }


class Stack:
    """A stack by its address."""

    def __init__(self, person: Person, name: str, body: dict[str, Any]) -> None:
        answer = person.ask("POST", "/stacks", {"stack_name": name, **body})
        assert answer.status_code == 201, answer.text
        self._person = person
        self.path = f"/stacks/{name}/{answer.json()['stack']['id']}"

    def ask(self, method: str, below: str = "", body: Any = None) -> httpx.Response:
        return self._person.ask(method, self.path + below, body)

    def act(self, action: str) -> tuple[int, Any]:
        """Status and body of an answer; of a refusal its error type and message."""
        return told(self.ask("POST", "/actions", {action: None}))

    @property
    def state(self) -> tuple[str, str]:
        shown = self.ask("GET", "?resolve_outputs=false").json()["stack"]
        return shown["stack_status"], shown["stack_status_reason"]

    def reaches(self, status: str) -> str:
        """The reason, once the stack has this status."""
        until(lambda: self.state[0] == status, f"{self.path} is {status}, not {self.state}")
        return self.state[1]

    def resources(self, query: str = "") -> dict[str, str]:
        rows = self.ask("GET", f"/resources{query}").json()["resources"]
        return {row["resource_name"]: row["resource_status"] for row in rows}

    def begins(self, resource: str, status: str) -> None:
        query = "?nested_depth=1"
        until(lambda: self.resources(query).get(resource) == status, f"{resource} is {status}")

    def goes(self) -> None:
        assert self.ask("DELETE").status_code == 204
        self.reaches("DELETE_COMPLETE")


def told(answer: httpx.Response) -> tuple[int, Any]:
    body = answer.json()
    if isinstance(body, dict):
        return answer.status_code, (body["error"]["type"], body["error"]["message"])
    return answer.status_code, body


def not_supported(answer: tuple[int, Any], status: str) -> None:
    code, (kind, message) = answer
    assert (code, kind) == (400, "NotSupported")
    assert f"Cancelling update when stack is {status} is not supported." in message


def test_cancelled_create_keeps_its_resources(person: Person, name: str) -> None:
    stack = Stack(person, name, {"template": template("1", 300)})
    stack.begins("a", "CREATE_IN_PROGRESS")
    assert stack.act(STAY) == (200, None)
    assert stack.reaches("CREATE_FAILED") == "Stack CREATE cancelled"
    assert stack.resources()["a"] == "CREATE_IN_PROGRESS"
    for action in (BACK, STAY):
        not_supported(stack.act(action), "CREATE_FAILED")
    stack.goes()


def test_create_cannot_be_cancelled_with_rollback(person: Person, name: str) -> None:
    stack = Stack(person, name, {"template": template("1", 300)})
    stack.begins("a", "CREATE_IN_PROGRESS")
    not_supported(stack.act(BACK), "CREATE_IN_PROGRESS")
    assert stack.act(STAY) == (200, None)
    stack.reaches("CREATE_FAILED")
    stack.goes()


@pytest.fixture
def updating(person: Person, name: str) -> Stack:
    """A stack that is being updated."""
    stack = Stack(person, name, {"template": template("1", 0)})
    stack.reaches("CREATE_COMPLETE")
    assert stack.ask("PUT", "", {"template": template("2", 300)}).status_code == 202
    stack.begins("a", "UPDATE_IN_PROGRESS")
    return stack


def test_an_update_that_is_cancelled_changes_nothing_more(updating: Stack) -> None:
    assert updating.act(STAY) == (200, None)
    assert updating.reaches("UPDATE_FAILED") == "Stack UPDATE cancelled"
    assert updating.resources() == {"a": "UPDATE_IN_PROGRESS", "b": "CREATE_COMPLETE"}
    not_supported(updating.act(STAY), "UPDATE_FAILED")
    updating.goes()


def test_cancel_with_rollback_restores_previous_template(updating: Stack) -> None:
    assert updating.act(BACK) == (200, None)
    updating.reaches("ROLLBACK_COMPLETE")
    assert updating.ask("GET", "/template").json()["resources"] == template("1", 0)["resources"]
    assert set(updating.resources().values()) <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
    updating.goes()


@pytest.mark.parametrize("updates", [False, True])
def test_cancel_reaches_nested_stacks(person: Person, name: str, updates: bool) -> None:
    verb = "UPDATE" if updates else "CREATE"
    stack = Stack(person, name, nesting("1", 0 if updates else 300))
    if updates:
        stack.reaches("CREATE_COMPLETE")
        assert stack.ask("PUT", "", nesting("2", 300)).status_code == 202
    stack.begins("inner", f"{verb}_IN_PROGRESS")
    assert stack.act(STAY) == (200, None)
    assert stack.reaches(f"{verb}_FAILED") == f"Stack {verb} cancelled"
    until(lambda: stack.resources()["n"] == f"{verb}_FAILED", "the nested stack is cancelled")
    assert stack.resources("?nested_depth=1")["inner"] == f"{verb}_IN_PROGRESS"
    stack.goes()


def test_cancel_with_rollback_restores_nested_stacks(person: Person, name: str) -> None:
    stack = Stack(person, name, nesting("1", 0))
    stack.reaches("CREATE_COMPLETE")
    assert stack.ask("PUT", "", nesting("2", 300)).status_code == 202
    stack.begins("inner", "UPDATE_IN_PROGRESS")
    assert stack.act(BACK) == (200, None)
    stack.reaches("ROLLBACK_COMPLETE")
    assert stack.resources("?nested_depth=1").keys() == {"n", "inner"}
    stack.goes()


def test_nothing_else_is_cancelled(service: Service, person: Person, name: str) -> None:
    stack = Stack(person, name, {"template": template("1", 0)})
    stack.reaches("CREATE_COMPLETE")
    for action in (BACK, STAY):
        not_supported(stack.act(action), "CREATE_COMPLETE")
    code, (kind, message) = told(stack.ask("POST", "/actions", {BACK: None, STAY: None}))
    assert (code, kind, message) == (400, "HTTPBadRequest", "Multiple actions specified")
    reader = newcomer(service, f"reader-{name}", "reader", person.project)
    assert reader.ask("POST", f"{stack.path}/actions", {BACK: None}).status_code == 403
    stack.goes()
    for action in (BACK, STAY):
        code, (kind, _) = stack.act(action)
        assert (code, kind) == (404, "EntityNotFound")

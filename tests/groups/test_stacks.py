"""Stacks of their own: asked for once, waited for, found again by name."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from stoker.resources.heat.stack import RemoteStack
from stoker.schema.resource_type import Call, Done, Failed, StackFacts, Update, Wait

NAME = "stack-s-token"


class Orchestration:
    """An orchestration service with at most one stack."""

    def __init__(self, status: str | None = None) -> None:
        self.status = status
        self.refuses = False
        self.asked: list[tuple[str, str]] = []

    def request(self, path: str, method: str, **more: Any) -> Any:
        self.asked.append((method, path))
        if self.refuses:
            return _answer(403, {"error": {"message": "no"}})
        if path.endswith("/actions"):
            [action] = more["json"]
            self.status = f"{action.upper()}_IN_PROGRESS"
            return _answer(200, None)
        if method == "POST":
            self.status = "CREATE_IN_PROGRESS"
            return _answer(201, {"stack": {"id": "id"}})
        if path == "/stacks":
            wanted = more["params"]["name"]
            known = [{"id": "id"}] if self.status and wanted == NAME else []
            return _answer(200, {"stacks": known})
        if self.status is None:
            return _answer(404, {"error": {"message": "none"}})
        if method == "DELETE":
            self.status = "DELETE_IN_PROGRESS"
            return _answer(204, None)
        outputs = [{"output_key": "o", "output_value": 7}]
        shown = {
            "stack_name": NAME,
            "stack_status": self.status,
            "stack_status_reason": "because",
            "outputs": outputs,
        }
        return _answer(200, {"stack": shown})


def _answer(status: int, body: Any) -> Any:
    content = b"" if body is None else json.dumps(body).encode()
    return SimpleNamespace(
        status_code=status,
        content=content,
        text=content.decode(),
        headers={},
        url="http://cloud/stacks",
        json=lambda: body,
    )


def call(service: Orchestration, **more: Any) -> Call:
    """A call for the stack ``s``."""
    return Call(
        stack=StackFacts("id", "stack", "project", region="here"),
        name="s",
        resource_id="id",
        token="token",
        physical_name=NAME,
        properties={"template": "{}", "parameters": {}, "context": None, "timeout": None}
        | more.pop("properties", {}),
        started_at=0.0,
        now=0.0,
        cloud=SimpleNamespace(service=lambda _: service, region="here"),
        **more,
    )


def test_remote_stack_is_requested_and_has_outputs() -> None:
    service = Orchestration()
    asked = RemoteStack().create(call(service))
    assert isinstance(asked, Wait)
    assert asked.physical_id == "id"
    assert isinstance(RemoteStack().create(call(service, physical_id="id")), Wait)
    service.status = "CREATE_COMPLETE"
    done = RemoteStack().create(call(service, physical_id="id"))
    assert done == Done("id", {"stack_name": NAME, "outputs": {"o": 7}})


def test_failed_remote_stack_has_its_reason() -> None:
    failed = RemoteStack().create(call(Orchestration("CREATE_FAILED"), physical_id="id"))
    assert failed == Failed(
        'Went to status FAILED due to "because"', physical_id="id", kind="ResourceInError"
    )


@pytest.mark.parametrize("action", ["suspend", "resume"])
def test_remote_stack_suspends_and_resumes_with_parent(action: str) -> None:
    service, method = Orchestration("CREATE_COMPLETE"), action.upper()
    method_of = getattr(RemoteStack(), action)
    asked = method_of(call(service, physical_id="id", action=method))
    assert isinstance(asked, Wait)
    assert service.status == f"{method}_IN_PROGRESS"
    again = call(service, physical_id="id", action=method, progress=asked.progress)
    assert isinstance(method_of(again), Wait)
    service.status = f"{method}_COMPLETE"
    for each in (again, call(service, physical_id="id", action=method)):
        assert isinstance(method_of(each), Done)
    assert [path for way, path in service.asked if way == "POST"] == [f"/stacks/{NAME}/id/actions"]
    service.status = f"{method}_FAILED"
    assert isinstance(method_of(again), Failed)


def test_lost_remote_stack_is_found_by_name() -> None:
    assert RemoteStack().find(call(Orchestration("CREATE_COMPLETE"))) == "id"
    assert RemoteStack().find(call(Orchestration())) is None


def test_a_refusal_names_the_option_that_allows_it() -> None:
    service = Orchestration()
    service.refuses = True
    failed = RemoteStack().create(call(service))
    assert isinstance(failed, Failed)
    assert "allow_trusts_redelegation" in failed.reason


def test_the_region_of_the_stack_itself_is_home() -> None:
    service, wanted = Orchestration(), {"context": {"region_name": "here"}}
    assert isinstance(RemoteStack().create(call(service, properties=wanted)), Wait)
    assert service.asked == [("POST", "/stacks")]


@pytest.mark.parametrize(("region", "replaced"), [("there", True), ("here", False)])
def test_remote_stack_is_replaced_for_another_region_only(region: str, replaced: bool) -> None:
    contexts = [{"region_name": "here"}, {"region_name": region, "ca_cert": "other"}]
    before, after = ({"context": context} for context in contexts)
    asked = call(Orchestration(), properties=after, update=Update(before, frozenset({"context"})))
    assert RemoteStack().needs_replacement(asked) is replaced


def test_remote_stack_is_deleted_once_and_awaited() -> None:
    service = Orchestration("CREATE_COMPLETE")
    asked = RemoteStack().delete(call(service, physical_id="id"))
    assert isinstance(asked, Wait)
    assert asked.progress is not None
    again = RemoteStack().delete(call(service, physical_id="id", progress=asked.progress))
    assert isinstance(again, Wait)
    assert [method for method, _ in service.asked].count("DELETE") == 1
    service.status = None
    assert RemoteStack().delete(call(service, physical_id="id")) == Done()

"""Workflows that signals run, and resources that workflows make."""

from __future__ import annotations

from typing import Any

import pytest
from tests.clouds.driving import Row
from tests.clouds.fake_services import FakeConnection
from tests.resource_types_heat.calls import RecordedSignalling, findings, make_call, signal
from tests.resource_types_openstack.services.mistral import service

from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.resources.mistral.external_resource import ExternalResource
from stoker.resources.mistral.workflow import MOST_EXECUTIONS, Workflow
from stoker.schema.resource_type import Done, Failed, Outcome

HELLO = {"name": "hello", "action": "std.echo output=hello"}
DIRECT: dict[str, Any] = {"type": "direct", "tasks": [HELLO], "input": {"a": 1, "b": 2}}


@pytest.fixture
def cloud() -> FakeConnection:
    return FakeConnection({"workflow": service()})


def made(cloud: FakeConnection, **given: Any) -> Row:
    signalling = RecordedSignalling()
    return Row(Workflow(), cloud, {**DIRECT, **given}, signalling=signalling).create()


def sent(row: Row, number: int, body: dict[str, Any]) -> Outcome:
    """Send a signal and let the type react."""
    type_ = Workflow()
    call = row.call("UPDATE")
    stored = signal(number, dict(type_.check_signal(call, body)))
    outcome = type_.react(replace(call, signal=stored))
    row.note(outcome)
    return outcome


def test_workflow_reference_is_name_data_is_for_triggers(
    cloud: FakeConnection,
) -> None:
    row = made(cloud, name="greet")
    assert row.physical_id == "greet"
    read = row.read()
    assert read["data"] == {"name": "greet", "input": {"a": 1, "b": 2}}
    assert read["alarm_url"].startswith("http://cfn/v1/signal/")
    assert read["show"]["id"] == "id-of-greet"


def test_signal_input_overrides_input_of_properties(
    cloud: FakeConnection,
) -> None:
    row = made(cloud, params={"env": {"c": 3}})
    sent(row, 1, {"input": {"a": 5}, "params": {"notify": []}})
    [run] = row.read()["executions"]
    assert (run["id"], run["workflow_name"], run["state"]) == ("1", row.physical_id, "SUCCESS")
    assert run["input"] == {"a": 5, "b": 2}
    [stored] = cloud.service("workflow").objects("/executions").values()
    assert stored["params"] == '{"env": {"c": 3}, "notify": []}'


def test_signal_repeated_after_crash_runs_workflow_once(
    cloud: FakeConnection,
) -> None:
    row = made(cloud)
    sent(row, 1, {})
    sent(row, 1, {})
    sent(row, 2, {})
    assert [run["id"] for run in row.read()["executions"]] == ["1", "2"]


def test_signal_body_can_be_the_input(cloud: FakeConnection) -> None:
    row = made(cloud, use_request_body_as_input=True)
    sent(row, 1, {"a": 7})
    assert row.read()["executions"][0]["input"] == {"a": 7, "b": 2}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"input": {"z": 1}}, r"no input \['z'\]"),
        ({"a": 1}, r"keys input and params, not \['a'\]"),
        ({"params": [1]}, "params of a signal to a workflow is a map"),
    ],
)
def test_invalid_signal_is_refused(body: dict[str, Any], words: str) -> None:
    type_ = Workflow()
    with pytest.raises(ValidationError, match=words):
        type_.check_signal(make_call(type_, DIRECT), body)


def test_oldest_runs_are_dropped_rest_deleted_with_workflow(cloud: FakeConnection) -> None:
    row = made(cloud)
    for number in range(MOST_EXECUTIONS + 2):
        sent(row, number, {})
    assert [*row.data["executions"]] == [str(n) for n in range(2, MOST_EXECUTIONS + 2)]
    assert isinstance(row.delete(), Done)
    assert set(cloud.service("workflow").objects("/executions")) == {"0", "1"}
    assert row.signalling.deleted


def test_contradictions_are_found_before_anything_is_made() -> None:
    bad = {
        "type": "direct",
        "tasks": [
            {**HELLO, "requires": ["x"], "workflow": "other"},
            {**HELLO, "concurrency": 2},
        ],
    }
    assert [each.code for each in findings(Workflow(), bad)] == [
        "requires-in-direct",
        "two-actions",
        "same-name",
        "no-items",
        "same-name",
    ]
    reverse = {"type": "reverse", "tasks": [{**HELLO, "requires": ["x"]}]}
    assert [each.code for each in findings(Workflow(), reverse)] == ["no-task-name"]
    assert not findings(Workflow(), {**reverse, "params": {"task_name": "hello"}})


def external(cloud: FakeConnection, **given: Any) -> Row:
    workflow = made(cloud, name="flow", input={}).physical_id
    actions = {action: {"workflow": workflow} for action in ("CREATE", "UPDATE", "DELETE")}
    return Row(ExternalResource(), cloud, {"actions": actions, **given})


def test_workflow_output_sets_id_for_later_runs(
    cloud: FakeConnection,
) -> None:
    row = external(cloud, input={"resource_id": "r-1", "size": 1}).create()
    assert row.physical_id == "r-1"
    assert row.attributes["output"] == {"resource_id": "r-1", "size": 1}
    assert isinstance(row.update(**{**row.given, "input": {"size": 2}}), Done)
    assert row.physical_id == "r-1"
    assert isinstance(row.delete(), Done)
    runs = list(cloud.service("workflow").objects("/executions").values())
    assert [run["params"] for run in runs] == [
        "{}",
        '{"env": {"heat_extresource_data": {"resource_id": "r-1", "size": 1}}}',
        '{"env": {"heat_extresource_data": {"size": 2}}}',
    ]


def test_failed_workflow_fails_resource_with_its_reason(cloud: FakeConnection) -> None:
    outcome = external(cloud, input={"fail": True}).run("CREATE")
    assert isinstance(outcome, Failed)
    assert outcome.reason == 'Went to status ERROR due to "Failure caused by error in tasks: hello"'


def test_external_resource_is_replaced_or_always_updated() -> None:
    type_ = ExternalResource()
    given = {"actions": {}, "replace_on_change_inputs": ["kind"], "always_update": True}
    call = make_call(type_, {**given, "input": {"kind": "a", "size": 1}})
    for after, replaced in (({"kind": "b", "size": 1}, True), ({"kind": "a", "size": 2}, False)):
        previous = replace(call.update, previous={"input": after}, changed=frozenset({"input"}))
        assert type_.needs_replacement(replace(call, update=previous)) is replaced
    assert type_.updates_anyway(call.properties)
    assert not type_.updates_anyway({})

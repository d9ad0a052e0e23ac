"""Deployments: the inputs of a server, its reports, and their effects."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.kernel.values import replace
from stoker.resources.heat.software_component import SoftwareComponent
from stoker.resources.heat.software_config import SoftwareConfig as ConfigType
from stoker.resources.heat.software_deployment import SoftwareDeployment
from stoker.resources.heat.structured_deployment import StructuredDeployment
from stoker.schema.resource_type import Done, Failed, Wait
from stoker.schema.software import checked_inputs, checked_outputs
from tests.resource_types_heat.calls import findings, make_call

from .playing import SCRIPT, Cloud, Played, is_done, is_waiting

ABOUT = {
    "deploy_server_id": "srv",
    "deploy_action": "CREATE",
    "deploy_stack_id": "stack/s-id",
    "deploy_resource_name": "r",
}
AS_USER = {
    "deploy_auth_url": "http://keystone/v3",
    "deploy_username": "u",
    "deploy_user_id": "user-r",
    "deploy_password": "p",
    "deploy_project_id": "stack-project",
    "deploy_region_name": "RegionOne",
}
OBJECT = "/s-id/stack-r-abcdefghijkl"
QUEUE = "1d2e3f40-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("transport", "expected"),
    [
        (
            "CFN_SIGNAL",
            {
                "deploy_signal_id": "http://cfn/v1/signal/r?AWSAccessKeyId=access-user-r",
                "deploy_signal_verb": "POST",
            },
        ),
        ("HEAT_SIGNAL", AS_USER),
        ("ZAQAR_SIGNAL", {**AS_USER, "deploy_queue_id": QUEUE}),
        ("NO_SIGNAL", {}),
    ],
)
def test_server_gets_all_inputs_and_agent_settings(
    transport: str, expected: dict[str, Any]
) -> None:
    played = Played({"signal_transport": transport, "input_values": {"a": 1, "extra": [2]}})
    config = played.configs[SCRIPT]
    inputs = checked_inputs([{"name": "a"}, {"name": "b", "default": "d"}, {"name": "c"}])
    played.configs[SCRIPT] = replace(config, inputs=inputs)
    played.begin("CREATE")
    values = {"a": 1, "b": "d", "c": None, "extra": [2]}
    transported = {"deploy_signal_transport": transport}
    assert played.inputs() == {**values, **ABOUT, **transported, **expected}


def test_temporary_url_receives_the_report() -> None:
    played = Played({"signal_transport": "TEMP_URL_SIGNAL"})
    assert is_waiting(played.begin("CREATE"))
    inputs = played.inputs()
    assert inputs["deploy_signal_verb"] == "PUT"
    assert inputs["deploy_signal_id"].startswith(f"http://swift/v1/AUTH_p{OBJECT}?temp_url_sig=")
    assert played.cloud.objects[OBJECT] == b""
    played.cloud.objects[OBJECT] = json.dumps({"deploy_stdout": "x"}).encode()
    done = played.go_on()
    assert isinstance(done, Done)
    assert done.attributes is not None
    assert done.attributes["deploy_stdout"] == "x"
    assert is_waiting(played.begin("UPDATE", at=5, input_values={"a": 1}))


@pytest.mark.parametrize("content", [b"{", b"[1]", b"\xff", b"5"])
def test_a_report_that_is_none_fails_the_deployment(content: bytes) -> None:
    played = Played({"signal_transport": "TEMP_URL_SIGNAL"})
    played.begin("CREATE")
    played.cloud.objects[OBJECT] = content
    failed = played.go_on()
    assert isinstance(failed, Failed)
    assert "deploy_status_code" in failed.reason


def test_a_queue_takes_the_report_as_a_message() -> None:
    played = Played({"signal_transport": "ZAQAR_SIGNAL"})
    assert is_waiting(played.begin("CREATE"))
    played.cloud.queues[QUEUE].append({"body": {"deploy_stdout": "x"}})
    assert is_done(played.go_on())
    assert is_waiting(played.begin("UPDATE", at=5, input_values={"a": 1}))
    played.report()
    assert is_done(played.go_on())
    assert is_done(played.begin("DELETE", at=9))
    assert played.cloud.queues == {}
    assert played.cloud.queue_users == {played.call.data["user_id"]}
    assert played.signalling.deleted == [played.call.resource_id]


@pytest.mark.parametrize(
    ("details", "status", "reason", "values"),
    [
        ({}, "COMPLETE", "Outputs received", {}),
        ({"deploy_status_code": 0}, "COMPLETE", "Outputs received", {"deploy_status_code": 0}),
        ({"deploy_status_code": "0"}, "COMPLETE", "Outputs received", {"deploy_status_code": "0"}),
        ({"o": "v", "other": 1}, "COMPLETE", "Outputs received", {"o": "v"}),
        (
            {"deploy_stdout": "OUT", "deploy_stderr": "ERR", "deploy_status_code": 1},
            "FAILED",
            "deploy_status_code : Deployment exited with non-zero status code: 1",
            {"deploy_stdout": "OUT", "deploy_stderr": "ERR", "deploy_status_code": 1},
        ),
        ({"bad": "broken"}, "FAILED", "bad : broken", {"bad": "broken"}),
        (
            {"bad": "x", "deploy_status_code": "2"},
            "FAILED",
            "deploy_status_code : Deployment exited with non-zero status code: 2, bad : x",
            {"bad": "x", "deploy_status_code": "2"},
        ),
    ],
)
def test_what_a_server_reports_decides(
    details: dict[str, Any], status: str, reason: str, values: dict[str, Any]
) -> None:
    played = Played({})
    outputs = checked_outputs([{"name": "o"}, {"name": "bad", "error_output": True}])
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], outputs=outputs)
    assert is_waiting(played.begin("CREATE"))
    told = played.report(**details)
    assert ("failed" in told) == (status == "FAILED")
    assert played.deployment is not None
    assert (played.deployment.status, played.deployment.reason) == (status, reason)
    nothing = dict.fromkeys(("deploy_stdout", "deploy_stderr", "deploy_status_code"))
    assert played.deployment.output_values == {**nothing, **values}
    end = played.go_on()
    if status == "FAILED":
        assert isinstance(end, Failed)
        assert (end.reason, end.kind) == (f"Deployment to server failed: {reason}", "Error")
    else:
        assert isinstance(end, Done)
    assert end.attributes == {**nothing, **values}


def test_a_second_report_changes_nothing() -> None:
    played = Played({})
    played.begin("CREATE")
    played.report(deploy_stdout="first")
    known = played.deployment
    assert "ignored" in played.report(deploy_status_code=1)
    assert played.deployment == known


@pytest.mark.parametrize("action", ["CREATE", "UPDATE", "DELETE", "SUSPEND", "RESUME"])
@pytest.mark.parametrize(
    "actions", [["CREATE", "UPDATE"], ["DELETE"], ["SUSPEND", "RESUME"], ["CREATE", "DELETE"]]
)
def test_deployment_is_applied_in_its_actions_only(action: str, actions: list[str]) -> None:
    played = Played({"actions": actions})
    if action != "CREATE":
        played.begin("CREATE")
        played.report()
        played.go_on()
        offered = len(played.offered)
        outcome = played.begin(action, at=5)
        assert len(played.offered) - offered == (action in actions)
    else:
        outcome = played.begin("CREATE")
        assert len(played.offered) == (action in actions)
    assert is_waiting(outcome) == (action in actions)
    assert is_done(outcome) != (action in actions)


def test_component_parts_decide_when_it_is_applied() -> None:
    played = Played({"actions": ["CREATE"]})
    parts = {"configs": [{"actions": ["SUSPEND"], "tool": "script", "config": "x"}]}
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], group="component", config=parts)
    assert is_done(played.begin("CREATE"))
    assert is_waiting(played.begin("SUSPEND", at=1))


def test_deployment_of_deleted_server_is_deleted_without_it() -> None:
    played = Played({"actions": ["CREATE", "DELETE"]})
    played.begin("CREATE")
    played.report()
    played.go_on()
    played.cloud.servers.clear()
    assert is_done(played.begin("DELETE", at=5))
    assert played.deployment is None
    assert list(played.configs) == [SCRIPT]
    assert played.signalling.deleted == [played.call.resource_id]


def test_each_action_has_its_own_config() -> None:
    played = Played({})
    played.begin("CREATE")
    played.report()
    played.go_on()
    (first,) = played.offered
    played.begin("UPDATE", at=5, input_values={"a": 1})
    assert played.deployment is not None
    second = played.deployment.config_id
    assert second != first
    assert set(played.configs) == {SCRIPT, second}
    assert (played.deployment.action, played.deployment.status) == ("UPDATE", "IN_PROGRESS")
    assert played.told == [first, second]


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("step", range(6))
@pytest.mark.parametrize("transport", ["CFN_SIGNAL", "TEMP_URL_SIGNAL", "NO_SIGNAL"])
def test_server_gets_one_config_despite_crashes(
    transport: str, step: int, *, recorded: bool
) -> None:
    played = Played({"signal_transport": transport, "actions": ["CREATE", "DELETE"]})
    for number, action in enumerate(("CREATE", "DELETE")):
        played.begin_only(action, at=5.0 * number)
        offered = set(played.offered)
        outcome = played.go_on(step, recorded=recorded)
        if is_waiting(outcome):
            played.report()
            outcome = played.go_on(step, recorded=recorded)
        assert is_done(outcome)
        assert len(set(played.offered) - offered) == 1
        assert played.told[-1] == ("" if action == "DELETE" else played.offered[-1])
    assert list(played.configs) == [SCRIPT]
    assert played.deployment is None
    assert played.cloud.objects == {}


def test_a_config_that_is_gone_fails_the_deployment() -> None:
    failed = Played({"config": "44444444-3333-3333-3333-333333333333"}).begin("CREATE")
    assert isinstance(failed, Failed)
    assert failed.kind == "NotFound"


@pytest.mark.parametrize(
    ("values", "replaces"),
    [({"r": 1}, False), ({"r": 2}, True), ({"p": 5, "r": 1}, False), (None, True)],
)
def test_an_input_may_ask_for_a_new_deployment(values: Any, *, replaces: bool) -> None:
    played = Played({"input_values": {"r": 1, "p": 1}})
    inputs = checked_inputs([{"name": "r", "replace_on_change": True}, {"name": "p"}])
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], inputs=inputs)
    played.begin("CREATE")
    played.report()
    played.go_on()
    played.begin_only("UPDATE", at=5, input_values=values)
    assert played.type.needs_replacement(played.call) is replaces


@pytest.mark.parametrize(
    ("content", "filled"),
    [
        ({"a": {"get_input": "x"}}, {"a": 5}),
        ({"a": [{"get_input": "x"}, "get_input"]}, {"a": [5, "get_input"]}),
        ({"a": {"get_input": "x", "b": 1}}, {"a": {"get_input": "x", "b": 1}}),
        ({"a": {"get_input": 1}}, {"a": {"get_input": 1}}),
        ({"a": {"get_input": "deploy_action"}}, {"a": "CREATE"}),
        ({"a": {"get_input": "unknown"}}, {"a": None}),
    ],
)
def test_inputs_are_filled_into_a_structured_config(content: Any, filled: Any) -> None:
    played = Played({"input_values": {"x": 5}}, StructuredDeployment())
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], config=content)
    played.begin("CREATE")
    assert played.configs[played.offered[0]].config == filled


def test_another_key_may_stand_for_inputs() -> None:
    played = Played({"input_values": {"x": 5}, "input_key": "in"}, StructuredDeployment())
    content = {"a": {"in": "x"}, "b": {"get_input": "x"}}
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], config=content)
    played.begin("CREATE")
    assert played.configs[played.offered[0]].config == {"a": 5, "b": {"get_input": "x"}}


def test_input_without_value_may_be_an_error() -> None:
    played = Played({"input_values_validate": "STRICT"}, StructuredDeployment())
    content = {"a": {"get_input": "x"}}
    played.configs[SCRIPT] = replace(played.configs[SCRIPT], config=content)
    with pytest.raises(Exception, match=r"The Parameter \(x\) was not provided"):
        played.begin("CREATE")


@pytest.mark.parametrize(
    ("actions", "twice"),
    [([["CREATE"], ["UPDATE"]], False), ([["CREATE"], ["DELETE", "CREATE"]], True)],
)
def test_action_is_in_one_part_of_component(actions: Any, *, twice: bool) -> None:
    parts = [{"actions": each, "tool": "script", "config": "x"} for each in actions]
    assert bool(findings(SoftwareComponent(), {"configs": parts})) is twice


def test_a_component_is_kept_in_parts() -> None:
    given = {"configs": [{"tool": "script", "config": "x"}]}
    done = SoftwareComponent().create(make_call(SoftwareComponent(), given))
    assert isinstance(done, Done)
    (config,) = done.software.configs
    part = {"actions": ["CREATE", "UPDATE"], "config": "x", "tool": "script"}
    assert (config.group, config.config) == ("component", {"configs": [part]})


def test_default_of_wrong_type_fails_the_config() -> None:
    inputs = [{"name": "a", "type": "Number", "default": "x"}]
    failed = ConfigType().create(make_call(ConfigType(), {"inputs": inputs}))
    assert isinstance(failed, Failed)
    assert failed.kind == "ValueError"


def test_a_service_without_stack_users_cannot_be_signalled() -> None:
    played = Played({}, SoftwareDeployment(), Cloud())
    played.call = replace(played.call, signalling=None)
    with pytest.raises(Exception, match="no endpoint for signals"):
        played.begin("CREATE")


def test_while_it_waits_it_says_for_whom() -> None:
    waiting = Played({}).begin("CREATE")
    assert isinstance(waiting, Wait)
    assert waiting.reason == "waiting for a report of the server srv"

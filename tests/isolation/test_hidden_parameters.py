"""Values of hidden parameters: in no finding, no reason, no event, and nowhere in plain on disk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stoker.kernel.logs.masking import MASK
from tests.isolation.people import demo
from tests.recovery.service import Service, until

SECRET = 'cor/rect horse"battery'
HOT: dict[str, Any] = {
    "heat_template_version": "2018-08-31",
    "parameters": {
        "password": {
            "type": "string",
            "hidden": True,
            "constraints": [{"length": {"max": 40}, "description": "no novels"}],
        }
    },
}


def with_resource(type_: str, **properties: Any) -> dict[str, Any]:
    return {**HOT, "resources": {"a": {"type": type_, "properties": properties}}}


PARAMETER = {"get_param": "password"}
SEEN = {"str_replace": {"template": "name is P", "params": {"P": PARAMETER}}}


def on_disk(service: Service) -> bytes:
    files = [path for path in service.data_dir.glob("stoker.db*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files)


def told(text: str) -> bool:
    return any(part in text for part in (SECRET, "cor/rect", "horse", "battery"))


@pytest.mark.parametrize(
    "template",
    [
        with_resource("OS::Heat::RandomString", length=PARAMETER),
        with_resource("OS::Heat::Value", type="number", value=PARAMETER),
        with_resource("OS::Neutron::Net", name="n", mtu=SEEN),
        with_resource("OS::Neutron::Port", network=SEEN),
    ],
    ids=["integer", "number", "inside a text", "name in the cloud"],
)
def test_finding_does_not_show_the_value(service: Service, template: dict[str, Any]) -> None:
    body = {"stack_name": "tells", "template": template, "parameters": {"password": SECRET}}
    for path in ("/stacks", "/stacks/preview"):
        answer = demo(service).ask("POST", path, body)
        assert answer.status_code == 400, answer.text
        assert not told(answer.text), answer.text


LONG = "-----BEGIN KEY-----\n" + "".join(f"{number:06}horse" for number in range(600))
OPEN = {**HOT, "parameters": {"password": {"type": "string", "hidden": True}}}
YAQL = {"expression": "int($.data)", "data": PARAMETER}
MISTAKES = {
    "file": {"get_file": PARAMETER},
    "expression": {"yaql": YAQL},
    "digest": {"digest": [PARAMETER, "x"]},
    "URL": {"make_url": {"scheme": "http", "host": "h", "port": PARAMETER}},
    "resource": {"get_resource": PARAMETER},
}


@pytest.mark.parametrize("secret", ['it\'s"a"horse', "a\xa0horse\x07", "hå\u2028horse", LONG])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_message_shows_no_form_of_the_value(service: Service, mistake: str, secret: str) -> None:
    value = {"type": "OS::Heat::Value", "properties": {"value": MISTAKES[mistake]}}
    body = {
        "stack_name": "tells",
        "template": {**OPEN, "resources": {"a": value}},
        "parameters": {"password": secret},
    }
    answer = demo(service).ask("POST", "/stacks", body)
    assert answer.status_code == 400
    assert MASK in answer.text
    assert not told(answer.text), answer.text


def test_missing_export_does_not_show_its_name(service: Service) -> None:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Parameters": {"password": {"Type": "String", "NoEcho": "true"}},
        "Resources": {
            "a": {
                "Type": "OS::Heat::Value",
                "Properties": {"value": {"Fn::ImportValue": {"Ref": "password"}}},
            }
        },
    }
    body = {"stack_name": "tells", "template": template, "parameters": {"password": LONG}}
    answer = demo(service).ask("POST", "/stacks", body)
    assert answer.status_code == 400
    assert f"No export named {MASK}… found" in answer.json()["error"]["message"]


def test_environment_masks_defaults_that_nested_templates_hide(service: Service) -> None:
    body = {
        "stack_name": "nests",
        "template": {
            "heat_template_version": "2018-08-31",
            "resources": {"a": {"type": "child.yaml"}},
        },
        "files": {"child.yaml": json.dumps({**OPEN, "resources": {}})},
        "environment": {"parameter_defaults": {"password": SECRET, "other": "plain"}},
    }
    owner = demo(service)
    answer = owner.ask("POST", "/stacks", body)
    assert answer.status_code == 201, answer.text
    found = owner.ask("GET", f"/stacks/nests/{answer.json()['stack']['id']}/environment").json()
    assert found["parameter_defaults"] == {"password": MASK, "other": "plain"}


def test_violated_constraint_does_not_show_the_value(service: Service) -> None:
    template = with_resource("OS::Heat::Value", value=PARAMETER)
    for value in ("z9" * 30, "z9" * 300):
        body = {"stack_name": "tells", "template": template, "parameters": {"password": value}}
        answer = demo(service).ask("POST", "/stacks", body)
        assert answer.status_code == 400
        assert "no novels" in answer.text
        assert "at most 40" in answer.text
        assert "z9z9" not in answer.text


@pytest.mark.parametrize("dialect", ["hot", "cfn"])
def test_reasons_and_events_do_not_show_the_value(service: Service, dialect: str) -> None:
    template: dict[str, Any] = {
        **HOT,
        "resources": {
            "late": {"type": "OS::Heat::Value", "properties": {"value": PARAMETER}},
            "a": {
                "type": "OS::Heat::RandomString",
                "properties": {"length": {"get_attr": ["late", "value"]}},
            },
        },
    }
    if dialect == "cfn":
        template = {
            "AWSTemplateFormatVersion": "2010-09-09",
            "Parameters": {"password": {"Type": "String", "NoEcho": "true"}},
            "Resources": {
                "late": {"Type": "OS::Heat::Value", "Properties": {"value": {"Ref": "password"}}},
                "a": {
                    "Type": "OS::Heat::RandomString",
                    "Properties": {"length": {"Fn::GetAtt": ["late", "value"]}},
                },
            },
        }
    owner, name = demo(service), f"fails-{dialect}"
    body = {"stack_name": name, "template": template, "parameters": {"password": SECRET}}
    answer = owner.ask("POST", "/stacks", body)
    assert answer.status_code == 201, answer.text
    path = f"/stacks/{name}/{answer.json()['stack']['id']}"
    until(lambda: "CREATE_FAILED" in owner.ask("GET", path).text, "the create fails")
    assert not told(owner.ask("GET", path).text)
    assert not told(owner.ask("GET", f"{path}/resources").text)
    events = owner.ask("GET", f"{path}/events").json()["events"]
    for event in events:
        place = f"{path}/resources/{event['resource_name']}/events/{event['id']}"
        assert not told(owner.ask("GET", place).text)
    assert not told(str(events))
    assert SECRET.encode() not in on_disk(service)
    assert b"cor/rect horse" not in on_disk(service)

"""A stack user may signal and read the one resource that it was made for."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.conformance.runner.signatures import signed_v2
from tests.isolation.people import Person, demo, token_of
from tests.recovery.service import Service, until

HANDLE = {
    "type": "OS::Heat::WaitConditionHandle",
    "properties": {"signal_transport": "HEAT_SIGNAL"},
}
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"one": HANDLE, "two": HANDLE, "plain": {"type": "OS::Heat::RandomString"}},
    "outputs": {name: {"value": {"get_attr": [name, "signal"]}} for name in ("one", "two")},
}
NAME = "handles"


@pytest.fixture(scope="module")
def user(service: Service) -> tuple[Person, str]:
    owner = demo(service)
    stack_id = owner.create(NAME, TEMPLATE)
    path = f"/stacks/{NAME}/{stack_id}"
    shown = owner.ask("GET", f"{path}/outputs/one").json()["output"]["output_value"]
    signal = json.loads(shown)
    token = token_of(service, signal["user_id"], signal["password"], signal["project_id"])
    return Person(service.url, token, signal["project_id"], signal["user_id"]), path


def test_it_signals_and_reads_its_own_resource(user: tuple[Person, str]) -> None:
    person, path = user
    assert person.ask("POST", f"{path}/resources/one/signal", {"id": "x"}).status_code == 200
    answer = person.ask("GET", f"{path}/resources/one/metadata")
    assert answer.status_code == 200, answer.text
    assert "x" in answer.json()["metadata"]


def test_stack_user_reads_only_its_own_resource(service: Service, user: tuple[Person, str]) -> None:
    person, _ = user

    def ask(action: str, name: str) -> httpx.Response:
        query = {"Action": action, "StackName": NAME, "LogicalResourceId": name}
        headers = {"X-Auth-Token": person.token}
        return httpx.get(f"{service.url}/cfn/v1/", params=query, headers=headers, timeout=60)

    assert ask("DescribeStackResource", "one").status_code == 200
    for action, name in [
        ("DescribeStackResource", "two"),
        ("DescribeStackResources", "one"),
        ("DescribeStacks", "one"),
        ("DeleteStack", "one"),
    ]:
        answer = ask(action, name)
        assert (answer.status_code, "AccessDenied" in answer.text) == (403, True), action


@pytest.mark.parametrize("name", ["two", "plain"])
def test_stack_user_may_not_use_other_resources(user: tuple[Person, str], name: str) -> None:
    person, path = user
    assert person.ask("POST", f"{path}/resources/{name}/signal").status_code == 403
    assert person.ask("GET", f"{path}/resources/{name}/metadata").status_code == 403


@pytest.mark.parametrize(
    ("method", "below"),
    [
        ("GET", ""),
        ("PUT", ""),
        ("DELETE", ""),
        ("GET", "/template"),
        ("GET", "/environment"),
        ("GET", "/outputs"),
        ("GET", "/resources"),
        ("GET", "/resources/one"),
        ("GET", "/events"),
    ],
)
def test_it_may_do_nothing_else_to_its_stack(
    user: tuple[Person, str], method: str, below: str
) -> None:
    person, path = user
    assert person.ask(method, path + below, {}).status_code == 403


KEYS = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "limited": {"Type": "AWS::IAM::User", "Properties": {"Policies": [{"Ref": "policy"}]}},
        "policy": {
            "Type": "OS::Heat::AccessPolicy",
            "Properties": {"AllowedResources": ["allowed"]},
        },
        "free": {"Type": "AWS::IAM::User"},
        "limited_key": {
            "Type": "AWS::IAM::AccessKey",
            "Properties": {"UserName": {"Ref": "limited"}},
        },
        "free_key": {"Type": "AWS::IAM::AccessKey", "Properties": {"UserName": {"Ref": "free"}}},
        "allowed": {"Type": "OS::Heat::RandomString", "Metadata": {"text": "allowed"}},
        "other": {"Type": "OS::Heat::RandomString", "Metadata": {"text": "other"}},
    },
    "Outputs": {
        name: {
            "Value": {
                "access": {"Ref": f"{name}_key"},
                "secret": {"Fn::GetAtt": [f"{name}_key", "SecretAccessKey"]},
            }
        }
        for name in ("limited", "free")
    },
}


def test_template_users_read_what_policies_allow(service: Service) -> None:
    owner = demo(service)
    stack_id = owner.create("keys", KEYS)
    path = f"/stacks/keys/{stack_id}"

    def described(user: str, resource: str) -> int | dict[str, str]:
        key = owner.ask("GET", f"{path}/outputs/{user}").json()["output"]["output_value"]
        query = {
            "Action": "DescribeStackResource",
            "StackName": "keys",
            "LogicalResourceId": resource,
            "ContentType": "JSON",
        }
        request = signed_v2("GET", f"{service.url}/cfn/v1/", query, key["access"], key["secret"])
        answer = httpx.get(request.url, timeout=60)
        if answer.status_code != 200:
            return answer.status_code
        found = answer.json()["DescribeStackResourceResponse"]["DescribeStackResourceResult"]
        metadata: dict[str, str] = json.loads(found["StackResourceDetail"]["Metadata"])
        return metadata

    assert described("limited", "allowed") == {"text": "allowed"}
    assert described("limited", "other") == 403
    assert described("free", "allowed") == {"text": "allowed"}
    assert described("free", "other") == {"text": "other"}
    owner.ask("DELETE", path)
    owner.wait_deleted("keys", stack_id)


def test_key_is_for_users_of_its_stack_only(service: Service) -> None:
    owner = demo(service)
    others = owner.create("with-user", {**KEYS, "Outputs": {"n": {"Value": {"Ref": "free"}}}})
    shown = owner.ask("GET", f"/stacks/with-user/{others}/outputs/n").json()
    name = shown["output"]["output_value"]
    key = {"Type": "AWS::IAM::AccessKey", "Properties": {"UserName": name}}
    template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"key": key}}
    body = {"stack_name": "thief", "template": template}
    stack_id = owner.ask("POST", "/stacks", body).json()["stack"]["id"]
    until(lambda: owner.status("thief", stack_id) == "CREATE_FAILED", "the key is refused")
    reason = owner.ask("GET", f"/stacks/thief/{stack_id}/resources/key").json()["resource"]
    assert "no user of this stack" in reason["resource_status_reason"]


def test_it_may_not_list_or_make_stacks(user: tuple[Person, str]) -> None:
    person, _ = user
    assert person.ask("GET", "/stacks").status_code == 403
    body = {"stack_name": "mine", "template": TEMPLATE}
    assert person.ask("POST", "/stacks", body).status_code == 403


def test_stack_of_another_user_is_not_found(service: Service, user: tuple[Person, str]) -> None:
    person, _ = user
    other = demo(service).create("others", TEMPLATE)
    answer = person.ask("POST", f"/stacks/others/{other}/resources/one/signal")
    assert answer.status_code in (403, 404)


def test_owner_may_signal_resources_repeatedly(service: Service) -> None:
    owner = demo(service)
    path = f"/stacks/many/{owner.create('many', TEMPLATE)}/resources/one/signal"
    answers = [owner.ask("POST", path, {"id": f"{i}"}).status_code for i in range(3)]
    assert answers == [200, 200, 200]

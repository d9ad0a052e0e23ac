"""Refactors by boto3 and the aws command, unmodified, against a running service."""

from __future__ import annotations

import contextlib
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, WaiterError

from tests.clients.conftest import BIN

FAST = {"Delay": 0, "MaxAttempts": 2000}


@pytest.fixture(scope="module")
def api(keys: dict[str, str]) -> Any:
    config = Config(retries={"max_attempts": 0})
    return boto3.client("cloudformation", config=config, **keys)


def body(**resources: Any) -> str:
    return json.dumps({"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})


def network(name: str) -> dict[str, Any]:
    return {"Type": "OS::Neutron::Net", "Properties": {"name": name}}


def make(api: Any, name: str, template: str) -> dict[str, str]:
    """Create a stack; return the ids of its objects by resource."""
    api.create_stack(StackName=name, TemplateBody=template)
    api.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=FAST)
    return objects(api, name)


def objects(api: Any, name: str) -> dict[str, str]:
    listed = api.describe_stack_resources(StackName=name)["StackResources"]
    return {each["LogicalResourceId"]: each["PhysicalResourceId"] for each in listed}


def remove(api: Any, *names: str) -> None:
    for name in names:
        api.delete_stack(StackName=name)
        api.get_waiter("stack_delete_complete").wait(StackName=name, WaiterConfig=FAST)


def test_boto3_refactors_stacks(api: Any) -> None:
    before = make(api, "shop-front", body(Web=network("web"), Db=network("db")))
    make(api, "shop-back", body(Queue=network("queue")))
    definitions = [
        {"StackName": "shop-front", "TemplateBody": body(Web=network("web"))},
        {
            "StackName": "shop-back",
            "TemplateBody": body(Queue=network("queue"), Data=network("db")),
        },
    ]
    mapping = {
        "Source": {"StackName": "shop-front", "LogicalResourceId": "Db"},
        "Destination": {"StackName": "shop-back", "LogicalResourceId": "Data"},
    }
    made = api.create_stack_refactor(
        Description="split", StackDefinitions=definitions, ResourceMappings=[mapping]
    )["StackRefactorId"]
    api.get_waiter("stack_refactor_create_complete").wait(StackRefactorId=made, WaiterConfig=FAST)
    shown = api.describe_stack_refactor(StackRefactorId=made)
    assert (shown["Status"], shown["ExecutionStatus"]) == ("CREATE_COMPLETE", "AVAILABLE")
    assert (shown["Description"], len(shown["StackIds"])) == ("split", 2)
    [action] = api.list_stack_refactor_actions(StackRefactorId=made)["StackRefactorActions"]
    assert (action["Action"], action["Entity"], action["Detection"]) == (
        "MOVE", "RESOURCE", "MANUAL"
    )  # fmt: skip
    assert (action["ResourceMapping"], action["PhysicalResourceId"]) == (mapping, before["Db"])
    assert "Db" in objects(api, "shop-front")

    api.execute_stack_refactor(StackRefactorId=made)
    api.get_waiter("stack_refactor_execute_complete").wait(StackRefactorId=made, WaiterConfig=FAST)
    assert objects(api, "shop-front") == {"Web": before["Web"]}
    assert objects(api, "shop-back")["Data"] == before["Db"]
    statuses = [
        api.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
        for name in ("shop-front", "shop-back")
    ]
    assert statuses == ["UPDATE_COMPLETE", "UPDATE_COMPLETE"]
    listed = api.list_stack_refactors(ExecutionStatusFilter=["EXECUTE_COMPLETE"])
    assert made in [each["StackRefactorId"] for each in listed["StackRefactorSummaries"]]
    with pytest.raises(ClientError, match="cannot be executed in its current execution status"):
        api.execute_stack_refactor(StackRefactorId=made)
    remove(api, "shop-front", "shop-back")


def test_boto3_refactor_detects_moves_and_creates_stacks(api: Any) -> None:
    before = make(api, "whole", body(Web=network("web"), Db=network("db")))
    definitions = [
        {"StackName": "whole", "TemplateBody": body(Web=network("web"))},
        {"StackName": "part", "TemplateBody": body(Db=network("db"))},
    ]
    refused = api.create_stack_refactor(StackDefinitions=definitions)["StackRefactorId"]
    shown = api.describe_stack_refactor(StackRefactorId=refused)
    assert (shown["Status"], shown["ExecutionStatus"]) == ("CREATE_FAILED", "UNAVAILABLE")
    assert "could not be found" in shown["StatusReason"]
    with pytest.raises(WaiterError):
        api.get_waiter("stack_refactor_create_complete").wait(
            StackRefactorId=refused, WaiterConfig=FAST
        )
    made = api.create_stack_refactor(StackDefinitions=definitions, EnableStackCreation=True)
    refactor_id = made["StackRefactorId"]
    actions = api.list_stack_refactor_actions(StackRefactorId=refactor_id)["StackRefactorActions"]
    assert [(each["Action"], each["Entity"], each["Detection"]) for each in actions] == [
        ("CREATE", "STACK", "MANUAL"),
        ("MOVE", "RESOURCE", "AUTO"),
    ]
    api.execute_stack_refactor(StackRefactorId=refactor_id)
    assert objects(api, "part") == {"Db": before["Db"]}
    remove(api, "whole", "part")


def test_boto3_refactor_of_changed_stack_fails(api: Any) -> None:
    before = make(api, "late", body(Old=network("one")))
    renamed = [{"StackName": "late", "TemplateBody": body(New=network("one"))}]
    mapping = {
        "Source": {"StackName": "late", "LogicalResourceId": "Old"},
        "Destination": {"StackName": "late", "LogicalResourceId": "New"},
    }
    made = api.create_stack_refactor(StackDefinitions=renamed, ResourceMappings=[mapping])
    api.update_stack(StackName="late", TemplateBody=body(Old=network("two")))
    api.get_waiter("stack_update_complete").wait(StackName="late", WaiterConfig=FAST)
    api.execute_stack_refactor(StackRefactorId=made["StackRefactorId"])
    shown = api.describe_stack_refactor(StackRefactorId=made["StackRefactorId"])
    assert shown["ExecutionStatus"] == "EXECUTE_FAILED"
    assert "New would be updated (name)" in shown["ExecutionStatusReason"]
    assert objects(api, "late") == {"Old": before["Old"]}
    remove(api, "late")


def test_refactor_is_executed_once(api: Any) -> None:
    make(api, "once", body(Old=network("one")))
    renamed = [{"StackName": "once", "TemplateBody": body(New=network("one"))}]
    mapping = {
        "Source": {"StackName": "once", "LogicalResourceId": "Old"},
        "Destination": {"StackName": "once", "LogicalResourceId": "New"},
    }
    made = api.create_stack_refactor(StackDefinitions=renamed, ResourceMappings=[mapping])

    def execute(_number: int) -> None:
        with contextlib.suppress(ClientError):
            api.execute_stack_refactor(StackRefactorId=made["StackRefactorId"])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(execute, range(3)))
    shown = api.describe_stack_refactor(StackRefactorId=made["StackRefactorId"])
    assert shown["ExecutionStatus"] == "EXECUTE_COMPLETE"
    assert set(objects(api, "once")) == {"New"}
    remove(api, "once")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"StackDefinitions": [{"StackName": "a"}]}, "StackDefinitions.member.1.TemplateBody"),
        ({"StackDefinitions": [{"TemplateBody": "{}"}]}, "StackDefinitions.member.1.StackName"),
        ({"StackDefinitions": []}, "StackDefinitions.member.1.StackName"),
    ],
)
def test_boto3_incomplete_refactor_is_rejected(
    api: Any, request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(ClientError, match=message):
        api.create_stack_refactor(**request_)


def test_boto3_gets_code_of_missing_refactor(api: Any) -> None:
    with pytest.raises(ClientError) as missing:
        api.describe_stack_refactor(StackRefactorId="00000000-0000-0000-0000-000000000000")
    assert missing.value.response["Error"]["Code"] == "StackRefactorNotFoundException"


def test_aws_command_refactors_stack(keys: dict[str, str], api: Any, tmp_path: Path) -> None:
    before = make(api, "shell", body(Old=network("one")))
    file = tmp_path / "new.json"
    file.write_text(body(New=network("one")))
    environment = {
        "PATH": "/usr/bin:/bin",
        "AWS_ACCESS_KEY_ID": keys["aws_access_key_id"],
        "AWS_SECRET_ACCESS_KEY": keys["aws_secret_access_key"],
        "AWS_DEFAULT_REGION": keys["region_name"],
        "AWS_ENDPOINT_URL": keys["endpoint_url"],
    }

    def aws(*words: str) -> Any:
        command = [BIN / "aws", "cloudformation", *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return json.loads(done.stdout) if done.stdout.strip() else None

    made = aws(
        "create-stack-refactor",
        "--stack-definitions",
        f"StackName=shell,TemplateBody@=file://{file}",
        "--resource-mappings",
        "Source={StackName=shell,LogicalResourceId=Old},"
        "Destination={StackName=shell,LogicalResourceId=New}",
    )["StackRefactorId"]
    aws("execute-stack-refactor", "--stack-refactor-id", made)
    assert objects(api, "shell") == {"New": before["Old"]}
    remove(api, "shell")

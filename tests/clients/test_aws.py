"""boto3 and the aws command, unmodified, against a running service."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, WaiterError

from cloud_testing.shell import Shell
from tests.clients.conftest import BIN
from tests.recovery.service import Service, until

TEMPLATE: dict[str, Any] = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Description": "Texts.",
    "Parameters": {
        "Text": {"Type": "String", "Default": "one"},
        "Secret": {"Type": "String", "Default": "s", "NoEcho": "true"},
    },
    "Resources": {
        "First": {"Type": "OS::Heat::Value", "Properties": {"value": {"Ref": "Text"}}},
        "Second": {
            "Type": "OS::Heat::RandomString",
            "DependsOn": "First",
            "Properties": {"length": 8},
        },
    },
    "Outputs": {"Text": {"Value": {"Fn::GetAtt": ["First", "value"]}}},
}
BODY = json.dumps(TEMPLATE)
FAST = {"Delay": 0, "MaxAttempts": 2000}


def parameters(**values: str) -> list[dict[str, Any]]:
    return [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]


@pytest.fixture(scope="module")
def api(keys: dict[str, str]) -> Any:
    config = Config(retries={"max_attempts": 0})
    return boto3.client("cloudformation", config=config, **keys)


def refused(call: Any, **arguments: Any) -> tuple[str, str]:
    """The code and the message of a refusal."""
    with pytest.raises(ClientError) as error:
        call(**arguments)
    told = error.value.response["Error"]
    return told["Code"], told["Message"]


def test_boto3_makes_changes_and_deletes_a_stack(api: Any) -> None:
    made = api.create_stack(
        StackName="boto",
        TemplateBody=BODY,
        Parameters=parameters(Text="hello"),
        Tags=[{"Key": "team", "Value": "blue"}],
        Capabilities=["CAPABILITY_IAM"],
        OnFailure="ROLLBACK",
        TimeoutInMinutes=5,
    )
    api.get_waiter("stack_create_complete").wait(StackName="boto", WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName=made["StackId"])["Stacks"]
    assert (stack["StackName"], stack["StackStatus"]) == ("boto", "CREATE_COMPLETE")
    assert stack["Outputs"][0]["OutputValue"] == "hello"
    assert stack["Tags"] == [{"Key": "team", "Value": "blue"}]
    assert (stack["DisableRollback"], stack["TimeoutInMinutes"]) == (False, 5)
    shown = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert (shown["Text"], shown["Secret"]) == ("hello", "******")

    api.update_stack(StackName="boto", UsePreviousTemplate=True, Parameters=parameters(Text="bye"))
    api.get_waiter("stack_update_complete").wait(StackName="boto", WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName="boto")["Stacks"]
    assert stack["Outputs"][0]["OutputValue"] == "bye"
    assert stack["Tags"] == [{"Key": "team", "Value": "blue"}]

    api.delete_stack(StackName="boto")
    api.get_waiter("stack_delete_complete").wait(StackName="boto", WaiterConfig=FAST)
    api.get_waiter("stack_delete_complete").wait(StackName=made["StackId"], WaiterConfig=FAST)
    code, message = refused(api.describe_stacks, StackName="boto")
    assert code == "ValidationError"
    assert message == "Stack with id boto does not exist"
    deleted = api.get_paginator("list_stacks").paginate(StackStatusFilter=["DELETE_COMPLETE"])
    assert made["StackId"] in {each["StackId"] for p in deleted for each in p["StackSummaries"]}


def test_boto3_repeats_requests_with_token_safely(api: Any) -> None:
    create = {
        "StackName": "again",
        "TemplateBody": BODY,
        "ClientRequestToken": "of-create",
        "OnFailure": "DELETE",
    }
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: api.create_stack(**create)["StackId"], range(4)))
    assert len(set(made)) == 1
    api.get_waiter("stack_create_complete").wait(StackName="again", WaiterConfig=FAST)
    code, _ = refused(api.create_stack, **create | {"OnFailure": "ROLLBACK"})
    assert code == "TokenAlreadyExistsException"
    update = {"StackName": "again", "TemplateBody": BODY, "ClientRequestToken": "of-update"}
    update["Parameters"] = parameters(Text="two")
    for _ in range(2):
        assert api.update_stack(**update)["StackId"] == made[0]
        api.get_waiter("stack_update_complete").wait(StackName="again", WaiterConfig=FAST)
    for _ in range(2):
        api.delete_stack(StackName="again", ClientRequestToken="of-delete")
        api.get_waiter("stack_delete_complete").wait(StackName=made[0], WaiterConfig=FAST)
    pages = api.get_paginator("describe_stack_events").paginate(StackName=made[0])
    events = [event for page in pages for event in page["StackEvents"]]
    tokens = [each["ClientRequestToken"] for each in events if each["PhysicalResourceId"] in made]
    assert tokens == ["of-delete"] * 2 + ["of-update"] * 2 + ["of-create"] * 2
    assert {each.get("ClientRequestToken") for each in events} == set(tokens)


def test_failed_stack_is_deleted_on_boto3s_request(api: Any) -> None:
    bad = {**TEMPLATE["Resources"], "Bad": {
        "Type": "OS::Heat::TestResource", "DependsOn": "Second", "Properties": {"fail": True}
    }}  # fmt: skip
    made = api.create_stack(
        StackName="fails",
        TemplateBody=json.dumps({**TEMPLATE, "Resources": bad}),
        OnFailure="DELETE",
    )["StackId"]
    api.get_waiter("stack_delete_complete").wait(StackName=made, WaiterConfig=FAST)
    pages = api.get_paginator("describe_stack_events").paginate(StackName=made)
    events = [event for page in pages for event in page["StackEvents"]]
    told = [each["ResourceStatus"] for each in events if each["PhysicalResourceId"] == made]
    assert told == ["DELETE_COMPLETE", "DELETE_IN_PROGRESS", "CREATE_FAILED", "CREATE_IN_PROGRESS"]


def test_templates_are_read_from_s3_addresses(api: Any, service: Service) -> None:
    token, project = service.authenticate()
    account, headers = (
        f"{service.cloud_url}/v1/AUTH_{project}",
        {"X-Auth-Token": token},
    )
    httpx.put(f"{account}/templates", headers=headers).raise_for_status()
    httpx.put(f"{account}/templates/a/b.json", headers=headers, content=BODY).raise_for_status()
    for number, url in enumerate(
        ("s3://templates/a/b.json", "https://s3.RegionOne.amazonaws.com/templates/a/b.json")
    ):
        api.create_stack(StackName=f"stored{number}", TemplateURL=url)
        api.get_waiter("stack_create_complete").wait(StackName=f"stored{number}", WaiterConfig=FAST)
    code, message = refused(api.validate_template, TemplateURL="s3://templates/none")
    assert code == "ValidationError"
    assert 'has not the object "none" of the container "templates"' in message


@pytest.fixture(scope="module")
def steady(api: Any) -> str:
    """Create a stack that the tests read."""
    api.create_stack(StackName="steady", TemplateBody=BODY)
    api.get_waiter("stack_create_complete").wait(StackName="steady", WaiterConfig=FAST)
    return "steady"


def test_boto3_reads_all_of_a_stack(api: Any, steady: str) -> None:
    pages = api.get_paginator("describe_stack_events").paginate(StackName=steady)
    events = [event for page in pages for event in page["StackEvents"]]
    assert [each["ResourceStatus"] for each in events[:2]] == ["CREATE_COMPLETE"] * 2
    assert events[0]["ResourceType"] == "AWS::CloudFormation::Stack"
    assert events[0]["PhysicalResourceId"] == events[0]["StackId"]
    pages = api.get_paginator("list_stack_resources").paginate(StackName=steady)
    listed = [each for page in pages for each in page["StackResourceSummaries"]]
    assert {each["LogicalResourceId"] for each in listed} == {"First", "Second"}
    [second] = [each for each in listed if each["LogicalResourceId"] == "Second"]
    found = api.describe_stack_resources(PhysicalResourceId=second["PhysicalResourceId"])
    assert {each["StackName"] for each in found["StackResources"]} == {steady}
    one = api.describe_stack_resource(StackName=steady, LogicalResourceId="Second")
    assert one["StackResourceDetail"]["ResourceType"] == "OS::Heat::RandomString"
    names = {each["StackName"] for each in api.describe_stacks()["Stacks"]}
    assert steady in names
    assert dict(api.get_template(StackName=steady)["TemplateBody"]) == TEMPLATE


def test_boto3_gets_a_template_as_it_was_written(api: Any) -> None:
    text = "AWSTemplateFormatVersion: 2010-09-09\nResources: {a: {Type: 'OS::Heat::None'}} # one\n"
    api.create_stack(StackName="written", TemplateBody=text)
    api.get_waiter("stack_create_complete").wait(StackName="written", WaiterConfig=FAST)
    for team in ("blue", "red"):
        shown = api.get_template(StackName="written", TemplateStage="Original")
        assert shown["TemplateBody"] == text
        tags = [{"Key": "team", "Value": team}]
        api.update_stack(StackName="written", UsePreviousTemplate=True, Tags=tags)
        api.get_waiter("stack_update_complete").wait(StackName="written", WaiterConfig=FAST)
    parsed = api.get_template(StackName="written", TemplateStage="Processed")["TemplateBody"]
    assert parsed["Resources"] == {"a": {"Type": "OS::Heat::None"}}
    api.delete_stack(StackName="written")


def test_template_of_aws_needs_no_format_version(api: Any) -> None:
    text = json.dumps({key: TEMPLATE[key] for key in ("Parameters", "Resources")})
    assert len(api.validate_template(TemplateBody=text)["Parameters"]) == 2
    assert api.get_template_summary(TemplateBody=text)["Version"] == "2010-09-09"
    api.create_stack(StackName="plain", TemplateBody=text, Parameters=parameters(Text="a"))
    api.get_waiter("stack_create_complete").wait(StackName="plain", WaiterConfig=FAST)
    shown = api.get_template(StackName="plain", TemplateStage="Original")["TemplateBody"]
    assert dict(shown) == json.loads(text)
    changed = {"TemplateBody": text, "Parameters": parameters(Text="b")}
    api.create_change_set(StackName="plain", ChangeSetName="b", **changed)
    api.execute_change_set(StackName="plain", ChangeSetName="b")
    api.get_waiter("stack_update_complete").wait(StackName="plain", WaiterConfig=FAST)
    api.update_stack(StackName="plain", UsePreviousTemplate=True, Parameters=parameters(Text="c"))
    api.get_waiter("stack_update_complete").wait(StackName="plain", WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName="plain")["Stacks"]
    shown = {each["ParameterKey"]: each["ParameterValue"] for each in stack["Parameters"]}
    assert shown == {"Text": "c", "Secret": "******"}
    api.delete_stack(StackName="plain")
    hot = json.dumps({"resources": {"a": {"type": "OS::Heat::None"}}})
    for other, reason in ((hot, "Template format version not found"), ("{}", "is empty")):
        _, message = refused(api.create_stack, StackName="other", TemplateBody=other)
        assert reason in message


def test_unchanged_update_is_rejected_in_aws_words(api: Any) -> None:
    given = {"StackName": "idle", "TemplateBody": BODY, "Parameters": parameters(Text="a")}
    tags = [{"Key": "team", "Value": "blue"}]
    api.create_stack(**given, Tags=tags)
    api.get_waiter("stack_create_complete").wait(StackName="idle", WaiterConfig=FAST)
    kept = [{"ParameterKey": name, "UsePreviousValue": True} for name in ("Text", "Secret")]
    same = {"StackName": "idle", "UsePreviousTemplate": True, "Parameters": kept}
    for again in (given, {**given, "Tags": tags}, same):
        told = refused(api.update_stack, **again)
        assert told == ("ValidationError", "No updates are to be performed.")
    allowed = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
    policy = json.dumps({"Statement": [allowed]})
    retagged = [{"Key": "team", "Value": "red"}]
    for change in (
        {"Tags": retagged},
        {"Tags": retagged, "StackPolicyBody": policy},
        {"Tags": retagged, "Parameters": parameters(Text="b")},
    ):
        api.update_stack(**{**given, **change})
        api.get_waiter("stack_update_complete").wait(StackName="idle", WaiterConfig=FAST)
    api.delete_stack(StackName="idle")


def test_unchanged_update_of_failed_stack_is_executed(api: Any) -> None:
    bad = {"Type": "OS::Heat::TestResource", "Properties": {"fail": True}}
    body = json.dumps({**TEMPLATE, "Resources": {**TEMPLATE["Resources"], "Bad": bad}})
    given = {"StackName": "failed", "TemplateBody": body}
    made = api.create_stack(**given, DisableRollback=True)
    with pytest.raises(WaiterError):
        api.get_waiter("stack_create_complete").wait(StackName="failed", WaiterConfig=FAST)
    assert api.update_stack(**given)["StackId"] == made["StackId"]
    api.delete_stack(StackName="failed")


def test_boto3_asks_whose_key_it_has(keys: dict[str, str], api: Any, steady: str) -> None:
    identity = boto3.client("sts", **keys).get_caller_identity()
    [stack] = api.describe_stacks(StackName=steady)["Stacks"]
    project = stack["StackId"].split(":")[4]
    assert identity["Account"] == project
    assert identity["Arn"].startswith(f"arn:openstack:iam::{project}:user/")
    assert identity["UserId"]


def test_boto3_asks_about_templates(api: Any, steady: str) -> None:
    checked = api.validate_template(TemplateBody=BODY)
    assert {each["ParameterKey"] for each in checked["Parameters"]} == {"Text", "Secret"}
    for given in ({"TemplateBody": BODY}, {"StackName": steady}):
        summary = api.get_template_summary(**given)
        assert summary["ResourceTypes"] == ["OS::Heat::RandomString", "OS::Heat::Value"]
        assert summary["Version"] == "2010-09-09"
        declared = {each["ParameterKey"]: each for each in summary["Parameters"]}
        assert declared["Secret"]["NoEcho"] is True
        assert declared["Text"]["DefaultValue"] == "one"
        assert declared["Text"]["ParameterType"] == "String"
    assert api.estimate_template_cost(TemplateBody=BODY)["Url"]
    limits = api.describe_account_limits()["AccountLimits"]
    assert [limit["Name"] for limit in limits] == ["StackLimit"]
    code, _ = refused(api.validate_template, TemplateBody="{}")
    assert code == "ValidationError"


def test_boto3_gets_the_error_codes_of_aws(api: Any, steady: str) -> None:
    code, _ = refused(api.create_stack, StackName=steady, TemplateBody=BODY)
    assert code == "AlreadyExistsException"
    code, message = refused(api.create_stack, StackName="r", TemplateBody=BODY, RoleARN="a" * 20)
    assert (code, "RoleARN is not supported" in message) == ("ValidationError", True)
    assert api.list_stack_sets()["Summaries"] == []
    code, _ = refused(api.describe_stack_set, StackSetName="none")
    assert code == "StackSetNotFoundException"
    code, message = refused(api.create_stack_set, StackSetName="none")
    assert (code, "there are no stack sets" in message) == ("InvalidAction", True)


def test_boto3_knows_the_ids_of_its_requests(api: Any, steady: str) -> None:
    answers = [api.describe_stacks(StackName=steady)]
    with pytest.raises(api.exceptions.ClientError) as refusal:
        api.describe_stacks(StackName="nosuch")
    answers.append(refusal.value.response)
    ids = [each["ResponseMetadata"]["HTTPHeaders"]["x-amzn-requestid"] for each in answers]
    assert [each[:4] for each in ids] == ["req-", "req-"]


def test_boto3_rolls_back_and_waits_for_it(api: Any) -> None:
    failing = {
        **TEMPLATE,
        "Resources": {
            "First": {"Type": "OS::Heat::Value", "Properties": {"value": "two"}},
            "Bad": {
                "Type": "OS::Heat::TestResource",
                "Properties": {"fail": True, "value": "x"},
            },
        },
    }
    api.create_stack(StackName="back", TemplateBody=BODY)
    api.get_waiter("stack_create_complete").wait(StackName="back", WaiterConfig=FAST)
    api.update_stack(StackName="back", TemplateBody=json.dumps(failing), DisableRollback=True)
    with pytest.raises(WaiterError):
        api.get_waiter("stack_update_complete").wait(StackName="back", WaiterConfig=FAST)
    assert api.describe_stacks(StackName="back")["Stacks"][0]["StackStatus"] == "UPDATE_FAILED"
    api.rollback_stack(StackName="back")
    api.get_waiter("stack_rollback_complete").wait(StackName="back", WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName="back")["Stacks"]
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert stack["Outputs"][0]["OutputValue"] == "one"
    code, message = refused(api.continue_update_rollback, StackName="back")
    assert (code, "ROLLBACK_COMPLETE" in message) == ("ValidationError", True)


def test_boto3_executes_a_change_set(api: Any) -> None:
    made = api.create_change_set(
        StackName="sets",
        ChangeSetName="first",
        ChangeSetType="CREATE",
        TemplateBody=BODY,
        Parameters=parameters(Text="one"),
        Tags=[{"Key": "team", "Value": "red"}],
        Description="the beginning",
    )
    api.get_waiter("change_set_create_complete").wait(ChangeSetName=made["Id"], WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName="sets")["Stacks"]
    assert (stack["StackStatus"], stack["StackId"]) == ("REVIEW_IN_PROGRESS", made["StackId"])
    assert api.describe_stack_resources(StackName="sets")["StackResources"] == []
    found = api.describe_change_set(StackName="sets", ChangeSetName="first")
    assert (found["ExecutionStatus"], found["Description"]) == ("AVAILABLE", "the beginning")
    added = {
        each["ResourceChange"]["LogicalResourceId"]: each["ResourceChange"]["Action"]
        for each in found["Changes"]
    }
    assert added == {"First": "Add", "Second": "Add"}
    code, message = refused(api.update_stack, StackName="sets", TemplateBody=BODY)
    assert (code, "REVIEW_IN_PROGRESS" in message) == ("ValidationError", True)

    api.execute_change_set(ChangeSetName=made["Id"])
    api.get_waiter("stack_create_complete").wait(StackName="sets", WaiterConfig=FAST)
    [stack] = api.describe_stacks(StackName=made["StackId"])["Stacks"]
    assert stack["Tags"] == [{"Key": "team", "Value": "red"}]
    found = api.describe_change_set(ChangeSetName=made["Id"])
    assert found["ExecutionStatus"] == "EXECUTE_COMPLETE"
    code, _ = refused(api.execute_change_set, ChangeSetName=made["Id"])
    assert code == "InvalidChangeSetStatus"


def test_boto3_shows_changes_of_a_change_set(api: Any, steady: str) -> None:
    template = {**TEMPLATE, "Resources": {**TEMPLATE["Resources"]}}
    template["Resources"]["Second"] = {
        "Type": "OS::Heat::RandomString",
        "Properties": {"length": 9},
    }
    template["Resources"]["Third"] = {"Type": "OS::Heat::None"}
    asked = {"StackName": steady, "TemplateBody": json.dumps(template)}
    other = api.create_change_set(ChangeSetName="other", **asked, Parameters=parameters(Text="2"))
    api.create_change_set(ChangeSetName="change", **asked)
    code, _ = refused(api.create_change_set, ChangeSetName="change", **asked)
    assert code == "AlreadyExistsException"
    found = api.describe_change_set(
        StackName=steady, ChangeSetName="change", IncludePropertyValues=True
    )
    changes = {
        each["LogicalResourceId"]: each for each in (c["ResourceChange"] for c in found["Changes"])
    }
    assert changes.keys() == {"Second", "Third"}
    assert (changes["Second"]["Action"], changes["Second"]["Replacement"]) == ("Modify", "True")
    [detail] = changes["Second"]["Details"]
    assert detail["Target"]["RequiresRecreation"] == "Always"
    assert (detail["Target"]["BeforeValue"], detail["Target"]["AfterValue"]) == ("8", "9")
    assert changes["Third"]["Action"] == "Add"
    assert json.loads(
        json.dumps(api.get_template(StackName=steady, ChangeSetName="change")["TemplateBody"])
    ) == json.loads(json.dumps(template))
    pages = api.get_paginator("list_change_sets").paginate(StackName=steady)
    names = [each["ChangeSetName"] for page in pages for each in page["Summaries"]]
    assert names == ["change", "other"]

    api.execute_change_set(StackName=steady, ChangeSetName="change", DisableRollback=True)
    api.get_waiter("stack_update_complete").wait(StackName=steady, WaiterConfig=FAST)
    kept = [each["ChangeSetName"] for each in api.list_change_sets(StackName=steady)["Summaries"]]
    assert kept == ["change"]
    code, _ = refused(api.describe_change_set, ChangeSetName=other["Id"])
    assert code == "ChangeSetNotFound"
    api.delete_change_set(ChangeSetName=other["Id"])
    api.delete_change_set(StackName=steady, ChangeSetName="change")
    assert api.list_change_sets(StackName=steady)["Summaries"] == []


def test_boto3_sees_empty_and_obsolete_change_sets(api: Any) -> None:
    api.create_stack(StackName="void", TemplateBody=BODY)
    api.get_waiter("stack_create_complete").wait(StackName="void", WaiterConfig=FAST)
    api.create_change_set(StackName="void", ChangeSetName="none", TemplateBody=BODY)
    with pytest.raises(WaiterError) as error:
        api.get_waiter("change_set_create_complete").wait(
            StackName="void", ChangeSetName="none", WaiterConfig=FAST
        )
    answer = error.value.last_response
    assert answer["StatusReason"].startswith("The submitted information didn't contain changes.")
    assert answer["ExecutionStatus"] == "UNAVAILABLE"
    values = parameters(Text="two")
    api.create_change_set(
        StackName="void", ChangeSetName="late", TemplateBody=BODY, Parameters=values
    )
    api.update_stack(StackName="void", TemplateBody=BODY, Parameters=parameters(Text="three"))
    api.get_waiter("stack_update_complete").wait(StackName="void", WaiterConfig=FAST)
    late = api.describe_change_set(StackName="void", ChangeSetName="late")
    assert late["ExecutionStatus"] == "OBSOLETE"
    code, _ = refused(api.execute_change_set, StackName="void", ChangeSetName="late")
    assert code == "InvalidChangeSetStatus"


def test_boto3_protects_stacks(api: Any) -> None:
    policy = {
        "Statement": [
            {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"},
            {
                "Effect": "Deny",
                "Action": ["Update:Replace", "Update:Delete"],
                "Principal": "*",
                "Resource": "LogicalResourceId/Sec*",
            },
        ]
    }
    api.create_stack(
        StackName="kept",
        TemplateBody=BODY,
        EnableTerminationProtection=True,
        StackPolicyBody=json.dumps(policy),
        OnFailure="ROLLBACK",
    )
    api.get_waiter("stack_create_complete").wait(StackName="kept", WaiterConfig=FAST)
    assert json.loads(api.get_stack_policy(StackName="kept")["StackPolicyBody"]) == policy
    assert api.describe_stacks(StackName="kept")["Stacks"][0]["EnableTerminationProtection"]
    code, message = refused(api.delete_stack, StackName="kept")
    assert (code, "TerminationProtection is enabled" in message) == ("ValidationError", True)
    without = json.dumps({**TEMPLATE, "Resources": {"First": TEMPLATE["Resources"]["First"]}})
    api.update_stack(StackName="kept", TemplateBody=without, DisableRollback=False)
    with pytest.raises(WaiterError):
        api.get_waiter("stack_update_complete").wait(StackName="kept", WaiterConfig=FAST)
    events = api.describe_stack_events(StackName="kept")["StackEvents"]
    reasons = [each["ResourceStatusReason"] for each in events]
    denied = "Statement [#2] does not allow [Update:Delete] for resource [LogicalResourceId/Second]"
    assert any(denied in reason for reason in reasons)
    assert len(api.describe_stack_resources(StackName="kept")["StackResources"]) == 2
    allow = json.dumps({"Statement": [{**policy["Statement"][0]}]})
    api.update_stack(StackName="kept", TemplateBody=without, StackPolicyDuringUpdateBody=allow)
    api.get_waiter("stack_update_complete").wait(StackName="kept", WaiterConfig=FAST)
    assert json.loads(api.get_stack_policy(StackName="kept")["StackPolicyBody"]) == policy
    api.set_stack_policy(StackName="kept", StackPolicyBody=allow)
    assert json.loads(api.get_stack_policy(StackName="kept")["StackPolicyBody"]) == json.loads(
        allow
    )
    code, _ = refused(api.set_stack_policy, StackName="kept", StackPolicyBody="[]")
    assert code == "ValidationError"
    api.update_termination_protection(StackName="kept", EnableTerminationProtection=False)
    api.delete_stack(StackName="kept")
    api.get_waiter("stack_delete_complete").wait(StackName="kept", WaiterConfig=FAST)


def test_aws_command_deploys_and_shows_change_sets(keys: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "template.json"
    path.write_text(BODY)

    def aws(*words: str) -> str:
        time.sleep(1)  # the command names change sets after the second they are made in
        command = [BIN / "aws", "--endpoint-url", keys["endpoint_url"], "cloudformation", *words]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "AWS_ACCESS_KEY_ID": keys["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": keys["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": keys["region_name"],
        }
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=100, check=False
        )
        return done.stdout + done.stderr

    deploy = ("deploy", "--stack-name", "deployed", "--template-file", str(path))
    assert "Successfully created/updated stack - deployed" in aws(*deploy)
    assert "No changes to deploy" in aws(*deploy, "--no-fail-on-empty-changeset")
    change = (*deploy, "--parameter-overrides", "Text=two", "--tags", "team=green")
    shown = aws(*change, "--no-execute-changeset")
    [describe] = [line for line in shown.splitlines() if "describe-change-set" in line]
    name = describe.split()[-1]
    told = json.loads(aws("describe-change-set", "--change-set-name", name))
    assert [each["ResourceChange"]["LogicalResourceId"] for each in told["Changes"]] == ["First"]
    assert "Successfully created/updated stack - deployed" in aws(*change)
    assert aws("wait", "stack-update-complete", "--stack-name", "deployed") == ""
    query = "Stacks[0].[StackStatus,Outputs[0].OutputValue,Tags[0].Value]"
    found = aws("describe-stacks", "--stack-name", "deployed", "--query", query, "--output", "text")
    assert found.split() == ["UPDATE_COMPLETE", "two", "green"]


def test_boto3_detects_what_others_have_changed(api: Any, shells: Callable[[str], Shell]) -> None:
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "Net": {"Type": "OS::Neutron::Net", "Properties": {"admin_state_up": True}},
            "Value": {"Type": "OS::Heat::Value", "Properties": {"value": "x"}},
        },
    }
    api.create_stack(StackName="drifting", TemplateBody=json.dumps(template))
    api.get_waiter("stack_create_complete").wait(StackName="drifting", WaiterConfig=FAST)
    one = {"StackName": "drifting", "LogicalResourceId": "Net"}
    found = api.detect_stack_resource_drift(**one)["StackResourceDrift"]
    assert found["StackResourceDriftStatus"] == "IN_SYNC"
    assert api.describe_stack_resource_drifts(StackName="drifting")["StackResourceDrifts"] == []
    shells("stoker").run(f"network set --disable {found['PhysicalResourceId']}")
    begun = api.detect_stack_drift(StackName="drifting")["StackDriftDetectionId"]

    def ended() -> bool:
        told = api.describe_stack_drift_detection_status(StackDriftDetectionId=begun)
        return bool(told["DetectionStatus"] != "DETECTION_IN_PROGRESS")

    until(ended, "the detection has ended")
    told = api.describe_stack_drift_detection_status(StackDriftDetectionId=begun)
    assert (told["DetectionStatus"], told["StackDriftStatus"]) == ("DETECTION_COMPLETE", "DRIFTED")
    assert told["DriftedStackResourceCount"] == 1
    drifts = api.describe_stack_resource_drifts(
        StackName="drifting", StackResourceDriftStatusFilters=["MODIFIED"]
    )["StackResourceDrifts"]
    [difference] = drifts[0]["PropertyDifferences"]
    assert difference["PropertyPath"] == "/admin_state_up"
    assert (difference["ExpectedValue"], difference["ActualValue"]) == ("true", "false")
    [stack] = api.describe_stacks(StackName="drifting")["Stacks"]
    assert stack["DriftInformation"]["StackDriftStatus"] == "DRIFTED"
    none = "0" * 36
    code, _ = refused(api.describe_stack_drift_detection_status, StackDriftDetectionId=none)
    assert code == "ValidationError"
    code, _ = refused(api.detect_stack_drift, StackName="drifting", LogicalResourceIds=["No"])
    assert code == "ValidationError"


def test_boto3_lists_what_stacks_share(api: Any) -> None:
    exporting = {
        **TEMPLATE,
        "Outputs": {
            "Text": {
                "Value": {"Fn::GetAtt": ["First", "value"]},
                "Export": {"Name": {"Fn::Sub": "${AWS::StackName}-text"}},
            }
        },
    }
    importing = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"None": {"Type": "OS::Heat::None"}},
        "Outputs": {"O": {"Value": {"Fn::ImportValue": "exporting-text"}}},
    }
    for name, template in (("exporting", exporting), ("importing", importing)):
        api.create_stack(StackName=name, TemplateBody=json.dumps(template))
        api.get_waiter("stack_create_complete").wait(StackName=name, WaiterConfig=FAST)
    pages = api.get_paginator("list_exports").paginate()
    [export] = [each for page in pages for each in page["Exports"]]
    [stack] = api.describe_stacks(StackName="exporting")["Stacks"]
    assert export == {
        "ExportingStackId": stack["StackId"],
        "Name": "exporting-text",
        "Value": "one",
    }
    assert stack["Outputs"][0]["ExportName"] == "exporting-text"
    [stack] = api.describe_stacks(StackName="importing")["Stacks"]
    assert stack["Outputs"][0]["OutputValue"] == "one"
    pages = api.get_paginator("list_imports").paginate(ExportName="exporting-text")
    assert [name for page in pages for name in page["Imports"]] == ["importing"]
    code, message = refused(api.delete_stack, StackName="exporting")
    # clients take a ValidationError for a stack that has gone
    assert (code, "in use by importing" in message) == ("InvalidOperationException", True)
    code, _ = refused(api.list_imports, ExportName="none")
    assert code == "ValidationError"


def test_boto3_signals_a_resource_that_waits_for_it(api: Any) -> None:
    policy = {"ResourceSignal": {"Count": 2, "Timeout": "PT2M"}}
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "Net": {"Type": "OS::Neutron::Net", "CreationPolicy": policy},
            "After": {"Type": "OS::Heat::None", "DependsOn": "Net"},
            "Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"},
        },
    }
    api.create_stack(StackName="signalled", TemplateBody=json.dumps(template))

    def reason() -> str:
        found = api.describe_stack_resources(StackName="signalled")["StackResources"]
        told = {each["LogicalResourceId"]: each["ResourceStatusReason"] for each in found}
        return str(told.get("Net"))

    until(lambda: reason() == "0 of 2 resource signals received", "it waits")
    one = {"StackName": "signalled", "LogicalResourceId": "Net", "Status": "SUCCESS"}
    for unique_id in ("one", "two"):
        api.signal_resource(**one, UniqueId=unique_id)
    api.get_waiter("stack_create_complete").wait(StackName="signalled", WaiterConfig=FAST)
    code, message = refused(api.signal_resource, **one, UniqueId="three")
    assert (code, "CREATE_COMPLETE" in message) == ("ValidationError", True)
    api.signal_resource(**{**one, "LogicalResourceId": "Handle"}, UniqueId="one")
    found = api.describe_stack_resource(StackName="signalled", LogicalResourceId="Handle")
    assert "one" in found["StackResourceDetail"]["Metadata"]
    code, _ = refused(api.signal_resource, **{**one, "LogicalResourceId": "After"}, UniqueId="1")
    assert code == "ValidationError"


def test_boto3_imports_an_object(api: Any) -> None:
    network = {"Type": "OS::Neutron::Net", "DeletionPolicy": "Retain", "Properties": {"name": "n"}}
    body = json.dumps({**TEMPLATE, "Outputs": {}, "Resources": {"Net": network}})
    api.create_stack(StackName="giver", TemplateBody=body)
    api.get_waiter("stack_create_complete").wait(StackName="giver", WaiterConfig=FAST)
    [found] = api.describe_stack_resources(StackName="giver")["StackResources"]
    api.delete_stack(StackName="giver")
    api.get_waiter("stack_delete_complete").wait(StackName="giver", WaiterConfig=FAST)

    [summary] = api.get_template_summary(TemplateBody=body)["ResourceIdentifierSummaries"]
    assert summary["LogicalResourceIds"] == ["Net"]
    [identifier] = summary["ResourceIdentifiers"]
    known = {
        "ResourceType": "OS::Neutron::Net",
        "LogicalResourceId": "Net",
        "ResourceIdentifier": {identifier: found["PhysicalResourceId"]},
    }
    asked = {"ChangeSetType": "IMPORT", "ChangeSetName": "take", "ResourcesToImport": [known]}
    made = api.create_change_set(StackName="taker", TemplateBody=body, **asked)
    [change] = api.describe_change_set(ChangeSetName=made["Id"])["Changes"]
    assert change["ResourceChange"]["Action"] == "Import"
    assert change["ResourceChange"]["PhysicalResourceId"] == found["PhysicalResourceId"]
    api.execute_change_set(ChangeSetName=made["Id"])
    api.get_waiter("stack_import_complete").wait(StackName="taker", WaiterConfig=FAST)
    [taken] = api.describe_stack_resources(StackName="taker")["StackResources"]
    assert taken["PhysicalResourceId"] == found["PhysicalResourceId"]
    assert taken["ResourceStatus"] == "IMPORT_COMPLETE"
    listed = api.list_stacks(StackStatusFilter=["IMPORT_COMPLETE"])["StackSummaries"]
    assert [each["StackName"] for each in listed] == ["taker"]
    _, message = refused(api.create_change_set, StackName="other", TemplateBody=body, **asked)
    assert "belongs to the resource Net of the stack taker" in message

    asked["ResourcesToImport"] = [{**known, "ResourceType": "OS::Nova::Server"}]
    _, message = refused(api.create_change_set, StackName="other", TemplateBody=body, **asked)
    assert message == "The resource Net is a OS::Neutron::Net, not a OS::Nova::Server."
    asked["ResourcesToImport"] = [known]

    kept = {"First": TEMPLATE["Resources"]["First"]}
    without = json.dumps({**TEMPLATE, "Outputs": {}, "Resources": kept})
    api.update_stack(StackName="taker", TemplateBody=without)
    api.get_waiter("stack_update_complete").wait(StackName="taker", WaiterConfig=FAST)
    both = json.dumps({**TEMPLATE, "Outputs": {}, "Resources": {**kept, "Net": network}})
    asked["ChangeSetName"] = "retake"
    again = api.create_change_set(StackName="taker", TemplateBody=both, **asked)
    [change] = api.describe_change_set(ChangeSetName=again["Id"])["Changes"]
    assert change["ResourceChange"]["Action"] == "Import"
    api.execute_change_set(ChangeSetName=again["Id"])
    api.get_waiter("stack_import_complete").wait(StackName="taker", WaiterConfig=FAST)


def test_boto3_import_needs_one_identifier(api: Any) -> None:
    asked = {"StackName": "none", "ChangeSetName": "a", "ChangeSetType": "IMPORT"}
    code, _ = refused(api.create_change_set, TemplateBody=BODY, **asked)
    assert code == "MissingParameter"
    known = {
        "ResourceType": "OS::Neutron::Net",
        "LogicalResourceId": "Net",
        "ResourceIdentifier": {"One": "a", "Two": "b"},
    }
    code, message = refused(
        api.create_change_set, TemplateBody=BODY, ResourcesToImport=[known], **asked
    )
    assert (code, "2 identifiers" in message) == ("ValidationError", True)

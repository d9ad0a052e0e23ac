"""The CloudFormation query API."""

import asyncio
import json
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from stoker.api.cfn.app import application
from stoker.api.cfn.call import Api, CfnSettings
from stoker.api.cloudformation import endpoint
from stoker.api.signed import Senders
from stoker.engine.model.requests import Caller, Page, StackQuery, StackRequest
from stoker.kernel.errors import NotFoundError
from stoker.template.definition import Output

from .conftest import FakePolicy, FakeVerifier, authenticate
from .fake_service import CREATED_TEXT, FakeService

TEMPLATE = '{"AWSTemplateFormatVersion": "2010-09-09"}'
SETTINGS = CfnSettings(100_000, ("hidden",), 7)


async def fetch(url: str) -> str:
    return f"fetched from {url}"


async def fetch_object(caller: Caller, container: str, name: str) -> str:
    if container == "missing":
        raise NotFoundError(f"no {name}")
    return f"the object {name} of {container}"


@pytest.fixture
def client(service: FakeService, verifier: FakeVerifier, policy: FakePolicy) -> httpx.AsyncClient:
    api = Api(service, SETTINGS, fetch, fetch_object, asyncio.to_thread)
    queries = application(api, Senders(verifier, authenticate), policy)
    app = Starlette(routes=[Mount("/cfn", queries), Mount("/", queries)])
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://cfn:8000")


async def ask(client: httpx.AsyncClient, action: str, **parameters: str) -> httpx.Response:
    query = {"Action": action, "Signature": "good", **parameters}
    return await client.get("/v1/", params=query)


async def refusal(client: httpx.AsyncClient, action: str, **parameters: str) -> tuple[int, str]:
    answer = await ask(client, action, **parameters)
    assert answer.headers["content-type"] == "application/xml; charset=UTF-8"
    code = ET.fromstring(answer.text).findtext("Error/Code")
    return answer.status_code, code or ""


async def result(client: httpx.AsyncClient, action: str, **parameters: str) -> Any:
    answer = await ask(client, action, ContentType="JSON", **parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()[f"{action}Response"][f"{action}Result"]


async def test_an_agent_reads_the_metadata_of_its_resource(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    address = service.add("s").address
    answer = await ask(client, "DescribeStackResource", StackName="s", LogicalResourceId="a")
    assert answer.headers["content-type"] == "application/xml; charset=UTF-8"
    detail = ET.fromstring(answer.text).find("DescribeStackResourceResult/StackResourceDetail")
    assert detail is not None
    found = {element.tag: element.text for element in detail}
    assert json.loads(found.pop("Metadata") or "") == {"Init": ["<&>"]}
    assert found == {
        "Description": None,
        "LastUpdatedTimestamp": CREATED_TEXT,
        "LogicalResourceId": "a",
        "PhysicalResourceId": None,
        "ResourceStatusReason": "state changed",
        "ResourceType": "OS::Heat::None",
        "StackId": address.arn,
        "StackName": "s",
        "ResourceStatus": "CREATE_COMPLETE",
    }


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/cfn/v1", "/cfn/v1/"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
async def test_parameters_are_read_from_query_or_form(
    client: httpx.AsyncClient, service: FakeService, path: str, method: str
) -> None:
    service.add("s")
    asked = {"Action": "DescribeStacks", "StackName": "s", "Signature": "good"}
    given: dict[str, Any] = {"params": asked} if method == "GET" else {"data": asked}
    answer = await client.request(method, path, **given)
    assert answer.status_code == 200, answer.text
    assert "<StackName>s</StackName>" in answer.text


async def test_a_signature_in_a_header_covers_the_body(
    client: httpx.AsyncClient, verifier: FakeVerifier
) -> None:
    headers = {"Authorization": "AWS4-HMAC-SHA256 Signature=good"}
    answer = await client.post("/v1/", data={"Action": "ListStacks"}, headers=headers)
    assert answer.status_code == 200
    assert verifier.shown == ("POST", "cfn:8000", "/v1/", b"Action=ListStacks")


@pytest.mark.parametrize(
    ("query", "headers", "expected"),
    [
        ("&Signature=bad", {}, (403, "SignatureDoesNotMatch")),
        ("&Signature=down", {}, (503, "ServiceUnavailable")),
        ("", {"X-Auth-Token": "bad"}, (403, "AccessDenied")),
        ("", {"X-Auth-Token": "user"}, (200, None)),
        ("&Signature=bad", {"X-Auth-Token": "user"}, (403, "SignatureDoesNotMatch")),
    ],
)
async def test_only_a_known_sender_is_answered(
    client: httpx.AsyncClient,
    service: FakeService,
    query: str,
    headers: dict[str, str],
    expected: tuple[int, str | None],
) -> None:
    answer = await client.get(f"/v1/?Action=ListStacks{query}", headers=headers)
    code = ET.fromstring(answer.text).findtext("Error/Code")
    assert (answer.status_code, code) == expected
    assert bool(service.asked) == (answer.status_code == 200)


async def test_each_action_has_a_policy_of_its_name(
    client: httpx.AsyncClient, policy: FakePolicy, service: FakeService
) -> None:
    policy.forbidden.add("cloudformation:DeleteStack")
    service.add("s")
    assert await refusal(client, "DeleteStack", StackName="s") == (403, "AccessDenied")
    assert (await ask(client, "ListStacks")).status_code == 200
    assert policy.asked == ["cloudformation:DeleteStack", "cloudformation:ListStacks"]


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("s3://box/a/b c.yaml", "the object a/b c.yaml of box"),
        ("https://s3.amazonaws.com/box/a/t", "the object a/t of box"),
        ("https://s3.RegionOne.amazonaws.com/box/a%20b", "the object a b of box"),
        ("https://s3-eu-west-1.amazonaws.com/box/t?x=1", "the object t of box"),
        ("https://my.box.s3.eu-west-1.amazonaws.com/t", "the object t of my.box"),
        (
            "https://s3.amazonaws.com/missing/t",
            "fetched from https://s3.amazonaws.com/missing/t",
        ),
        ("https://s3.example.org/box/t", "fetched from https://s3.example.org/box/t"),
        ("https://notas3.amazonaws.com/t", "fetched from https://notas3.amazonaws.com/t"),
    ],
)
async def test_s3_url_is_tried_in_own_object_store(
    client: httpx.AsyncClient, service: FakeService, url: str, template: str
) -> None:
    await result(client, "CreateStack", StackName="s", TemplateURL=url)
    [(_, request)] = service.asked
    assert (request.template, request.template_file) == (template, url)


@pytest.mark.parametrize(
    "url",
    [
        "s3://missing/t",
        "s3://box",
        "s3:///t",
        "s3://box/",
        "s3://box/t?versionId=1",
        "https://s3.amazonaws.com/box",
        "s3://../AUTH_other/t",
        "s3://box/a/../../t",
        "https://s3.amazonaws.com/box/%2e%2e/t",
    ],
)
async def test_s3_url_without_object_is_refused(
    client: httpx.AsyncClient, service: FakeService, url: str
) -> None:
    refused = await refusal(client, "CreateStack", StackName="s", TemplateURL=url)
    assert refused == (400, "ValidationError")
    assert not service.asked


@pytest.mark.parametrize("action", ["", "Nonsense", "default", "stacks.index"])
async def test_unknown_action_is_refused(client: httpx.AsyncClient, action: str) -> None:
    assert await refusal(client, action) == (400, "InvalidAction")


async def test_create_passes_all_fields_to_the_engine(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    made = await result(
        client,
        "CreateStack",
        StackName="s",
        TemplateBody=TEMPLATE,
        TimeoutInMinutes="7",
        OnFailure="ROLLBACK",
        NotificationARNs="",
        RoleARN="",
        **{
            "Capabilities.member.1": "CAPABILITY_IAM",
            "Tags.member.1.Key": "team",
            "Tags.member.1.Value": "a=b",
            "Parameters.member.1.ParameterKey": "P",
            "Parameters.member.1.ParameterValue": "v",
            "Parameters.member.2.ParameterKey": "Q",
            "Parameters.member.2.ParameterValue": "",
        },
    )
    assert made == {"StackId": next(iter(service.known.values())).address.arn}
    assert service.asked == [
        (
            "create",
            StackRequest(
                "s",
                TEMPLATE,
                version_optional=True,
                parameters={"P": "v", "Q": ""},
                timeout_mins=7,
                disable_rollback=False,
                tags=("team=a=b",),
            ),
        )
    ]


@pytest.mark.parametrize("spelling", ["TemplateURL", "TemplateUrl"])
async def test_a_template_may_be_named_by_its_address(
    client: httpx.AsyncClient, service: FakeService, spelling: str
) -> None:
    await result(client, "CreateStack", StackName="s", **{spelling: "http://web/t"})
    [(_, request)] = service.asked
    assert (request.template, request.template_file) == (
        "fetched from http://web/t",
        "http://web/t",
    )


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"TemplateBody": TEMPLATE}, "MissingParameter"),
        ({"StackName": "s"}, "MissingParameter"),
        ({"StackName": "taken", "TemplateBody": TEMPLATE}, "AlreadyExistsException"),
        ({"OnFailure": "DELETE", "DisableRollback": "true"}, "InvalidParameterCombination"),
        ({"OnFailure": "FOO"}, "ValidationError"),
        ({"DeploymentConfig.Mode": "FAST"}, "ValidationError"),
        ({"DeploymentConfig.DisableRollback": "perhaps"}, "ValidationError"),
        (
            {"DeploymentConfig.Mode": "EXPRESS", "DisableRollback": "true"},
            "InvalidParameterCombination",
        ),
        (
            {"DeploymentConfig.DisableRollback": "true", "OnFailure": "DELETE"},
            "InvalidParameterCombination",
        ),
        ({"ClientRequestToken": "-no"}, "ValidationError"),
        ({"ClientRequestToken": "n" * 129}, "ValidationError"),
        ({"DisableRollback": "perhaps"}, "ValidationError"),
        ({"TimeoutInMinutes": "x"}, "ValidationError"),
        ({"TimeoutInMinutes": "0"}, "ValidationError"),
        ({"TimeoutInMinutes": "9" * 400}, "ValidationError"),
        ({"RoleARN": "arn:aws:iam::1:role/r"}, "ValidationError"),
        ({"NotificationARNs.member.1": "arn:aws:sns:r:1:t"}, "ValidationError"),
        ({"RollbackConfiguration.MonitoringTimeInMinutes": "3"}, "ValidationError"),
        ({"Capabilities.member.1": "CAPABILITY_ALL"}, "ValidationError"),
        ({"Tags.member.1.Key": "k"}, "MissingParameter"),
        ({"Tags.member.1.Key": "k=", "Tags.member.1.Value": "v"}, "ValidationError"),
        ({"Tags.member.1.Key": "k", "Tags.member.1.Value": "v" * 257}, "ValidationError"),
        ({"Parameters.member.1.ParameterKey": "P"}, "MissingParameter"),
        ({"Parameters.member.1.ParameterValue": "v"}, "MissingParameter"),
        (
            {
                "Parameters.member.1.ParameterKey": "P",
                "Parameters.member.1.UsePreviousValue": "true",
            },
            "ValidationError",
        ),
    ],
)
async def test_a_create_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, service: FakeService, parameters: dict[str, str], code: str
) -> None:
    service.add("taken")
    whole = {"StackName": "s", "TemplateBody": TEMPLATE, **parameters}
    if code == "MissingParameter" and "member" not in str(parameters):
        whole = parameters
    assert await refusal(client, "CreateStack", **whole) == (400, code)
    assert len(service.known) == 1


@pytest.mark.parametrize(
    ("config", "express", "disable_rollback"),
    [
        ({}, False, None),
        ({"DeploymentConfig.Mode": "STANDARD"}, False, None),
        ({"DeploymentConfig.Mode": "EXPRESS"}, True, True),
        ({"DeploymentConfig.DisableRollback": "true"}, False, True),
        (
            {"DeploymentConfig.Mode": "EXPRESS", "DeploymentConfig.DisableRollback": "false"},
            True,
            False,
        ),
    ],
)
async def test_deployment_config_chooses_express_and_rollback(
    client: httpx.AsyncClient,
    service: FakeService,
    config: dict[str, str],
    express: bool,
    disable_rollback: bool | None,
) -> None:
    await result(client, "CreateStack", StackName="s", TemplateBody=TEMPLATE, **config)
    await result(client, "UpdateStack", StackName="s", TemplateBody=TEMPLATE, **config)
    requests = [request for what, request in service.asked if what in ("create", "update")]
    assert [request.express for request in requests] == [express] * 2
    assert [request.disable_rollback for request in requests] == [disable_rollback] * 2
    mode = {name: value for name, value in config.items() if name.endswith("Mode")}
    await result(client, "DeleteStack", StackName="s", **mode)
    assert service.asked[-1] == ("delete", "express" if express else None)


async def test_an_update_replaces_what_the_stack_was_given(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    arn = service.add("s", tags=("a=1",)).address.arn
    updated = await result(client, "UpdateStack", StackName=arn, TemplateBody=TEMPLATE)
    assert updated == {"StackId": arn}
    assert service.asked[-1] == (
        "update",
        StackRequest(template=TEMPLATE, tags=("a=1",), version_optional=True, must_change=True),
    )


async def test_update_keeps_named_previous_values_only(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    service.add("s")
    service.given = {"kept": "1", "changed": "1", "dropped": "1"}
    await result(
        client,
        "UpdateStack",
        StackName="s",
        UsePreviousTemplate="true",
        **{
            "Parameters.member.1.ParameterKey": "kept",
            "Parameters.member.1.UsePreviousValue": "true",
            "Parameters.member.2.ParameterKey": "changed",
            "Parameters.member.2.ParameterValue": "2",
        },
    )
    expected = StackRequest(
        parameters={"changed": "2"},
        existing=True,
        clear_parameters=("dropped",),
        tags=(),
        version_optional=True,
        must_change=True,
    )
    assert service.asked[-1] == ("update", expected)


async def test_stack_description_has_fields_of_aws(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    given = {"OS::stack_id": "s1", "AWS::Region": "here", "Size": "2"}
    address = service.add("s", parameters=given).address
    answer = await ask(client, "DescribeStacks", StackName=address.arn)
    stack = ET.fromstring(answer.text).find("DescribeStacksResult/Stacks/member")
    assert stack is not None
    assert stack.findtext("StackId") == address.arn
    assert stack.findtext("CreationTime") == CREATED_TEXT
    assert stack.findtext("DisableRollback") == "true"
    assert stack.find("TimeoutInMinutes") is None
    assert stack.findtext("Outputs/member/OutputValue") == "v"
    shown = [
        (each.findtext("ParameterKey"), each.findtext("ParameterValue"))
        for each in stack.iterfind("Parameters/member")
    ]
    assert shown == [("Size", "2")]
    assert stack.findtext("StackStatus") == "CREATE_COMPLETE"


async def test_all_stacks_are_described_where_none_is_named(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    names = {service.add(name).address.name for name in "ab"}
    described = await result(client, "DescribeStacks")
    assert {stack["StackName"] for stack in described["Stacks"]} == names
    listed = await result(client, "ListStacks")
    assert {stack["StackName"] for stack in listed["StackSummaries"]} == names
    queries = [query for what, query in service.asked if what == "stacks"]
    assert queries == [StackQuery(Page(limit=101), not_tags_any=("hidden",))] * 2


async def test_any_output_becomes_xml_that_can_be_read(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    value = {"a b": [1, True, None], "": "\0<&>", "1:x": {"deep": ["\ud800"]}}
    service.add("s", outputs=(Output("o", value),))
    answer = await ask(client, "DescribeStacks", StackName="s")
    root = ET.fromstring(answer.text)
    found = root.find("DescribeStacksResult/Stacks/member/Outputs/member/OutputValue")
    assert found is not None
    assert [element.text for element in found.findall("a.b/member")] == ["1", "true", None]
    assert found.findtext("_") == "\N{REPLACEMENT CHARACTER}<&>"
    assert found.findtext("_1.x/deep/member") == "\N{REPLACEMENT CHARACTER}"


async def test_refusal_is_valid_xml_despite_control_characters(
    client: httpx.AsyncClient,
) -> None:
    answer = await ask(client, "DescribeStacks", StackName="a\x01<b>\x1b")
    message = ET.fromstring(answer.text).findtext("Error/Message") or ""
    assert "a\N{REPLACEMENT CHARACTER}<b>\N{REPLACEMENT CHARACTER}" in message


@pytest.mark.parametrize(
    "action",
    [
        "CancelUpdateStack",
        "DeleteStack",
        "DescribeStackEvents",
        "DescribeStackResources",
        "DescribeStacks",
        "GetTemplate",
        "ListStackResources",
        "UpdateStack",
    ],
)
async def test_unknown_stack_is_a_validation_error(client: httpx.AsyncClient, action: str) -> None:
    assert await refusal(client, action, StackName="none") == (400, "ValidationError")
    if action != "DescribeStacks":
        assert await refusal(client, action) == (400, "MissingParameter")


async def test_resources_events_and_template_are_shown(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    service.add("s")
    several = await result(client, "DescribeStackResources", StackName="s", LogicalResourceId="a")
    assert [each["LogicalResourceId"] for each in several["StackResources"]] == ["a"]
    assert service.asked[-1][1].filters == {"name": ("a",)}
    assert not service.asked[-1][1].with_unstarted
    short = await result(client, "ListStackResources", StackName="s")
    assert [each["LogicalResourceId"] for each in short["StackResourceSummaries"]] == ["a"]
    events = (await result(client, "DescribeStackEvents", StackName="s"))["StackEvents"]
    assert json.loads(events[0]["ResourceProperties"]) == {"value": "x"}
    template = (await result(client, "GetTemplate", StackName="s"))["TemplateBody"]
    assert json.loads(template) == {"heat_template_version": "2021-04-16"}


async def test_delete_and_cancel_reach_the_engine(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    service.add("s")
    assert await result(client, "CancelUpdateStack", StackName="s") == {}
    assert service.asked[-1] == ("act", "cancel_update")
    assert await result(client, "DeleteStack", StackName="s") == {}
    assert not service.known


async def test_a_template_is_validated(client: httpx.AsyncClient, service: FakeService) -> None:
    found = await result(client, "ValidateTemplate", TemplateBody=TEMPLATE)
    assert found == {"Description": "d", "Parameters": [], "Environment": {}}
    assert service.asked == [("summary", StackRequest(template=TEMPLATE, version_optional=True))]
    assert await refusal(client, "ValidateTemplate") == (400, "MissingParameter")


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (urlencode({"Action": "ListStacks", "x": "y" * 100_000}), 400),
        ("&".join(f"p{number}=1" for number in range(1001)), 400),
        ("Action=ListStacks&x=%FF", 400),
        ("Action=ListStacks&x=%00", 400),
        ("Action=ListStacks\xff", 400),
    ],
)
async def test_a_form_that_cannot_be_read_is_refused(
    client: httpx.AsyncClient, content: str, status: int
) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    path = "/v1/?Signature=good"
    answer = await client.post(path, content=content.encode("latin-1"), headers=kind)
    assert answer.status_code == status
    assert "<Type>Sender</Type>" in answer.text


async def test_endpoint_serves_queries_and_signals() -> None:
    queries, signals = PlainTextResponse("queries"), PlainTextResponse("signals")
    app = Starlette(routes=[Mount("/cfn", endpoint(queries, signals))])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://cfn"
    ) as client:
        paths = {"/v1": "queries", "/v1/": "queries", "/v1/signal/x": "signals", "/x": "signals"}
        for path, expected in paths.items():
            assert (await client.get(f"/cfn{path}")).text == expected


async def test_misspelled_action_is_refused_with_suggestion(
    client: httpx.AsyncClient,
) -> None:
    answer = await ask(client, "listStacks")
    told = ET.fromstring(answer.text).findtext("Error/Message")
    assert told == '"listStacks" is not an action; did you mean "ListStacks"?'


async def test_root_lists_the_versions(client: httpx.AsyncClient) -> None:
    answer = await client.get("/")
    assert answer.status_code == 300
    [version] = answer.json()["versions"]
    assert (version["id"], version["status"]) == ("v1.0", "CURRENT")
    assert version["links"][0]["href"].endswith("/v1/")

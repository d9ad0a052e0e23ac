"""The CloudFormation query API: lists in pages, statuses, and absent features."""

from typing import Any

import httpx
import pytest

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.handlers.unavailable import UNAVAILABLE
from stoker.api.cfn.pages import PAGE
from stoker.engine.model.requests import Caller, Page
from stoker.identity.rules import DEFAULTS

from .conftest import FakePolicy, FakeVerifier
from .fake_service import FakeService
from .test_cfn import ask, client, refusal, result

__all__ = ["client"]  # a fixture


async def test_long_list_is_paged_with_tokens(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    made = [service.add(f"s{number}").address for number in range(PAGE + 1)]
    for action, key in (("ListStacks", "StackSummaries"), ("DescribeStacks", "Stacks")):
        listed = await result(client, action)
        assert [each["StackName"] for each in listed[key]] == [each.name for each in made[:PAGE]]
        await result(client, action, NextToken=listed["NextToken"])
        [*_, query] = [query for what, query in service.asked if what == "stacks"]
        assert query.page == Page(limit=PAGE + 1, marker=made[PAGE - 1].id)


async def test_token_is_valid_for_one_list_and_project(
    client: httpx.AsyncClient, service: FakeService, verifier: FakeVerifier
) -> None:
    for number in range(PAGE + 1):
        service.add(f"s{number}")
    token = (await result(client, "ListStacks"))["NextToken"]
    of_stack = {"StackName": "s1", "NextToken": token}
    foreign = [
        ("DescribeStacks", {"NextToken": token}),
        ("DescribeStacks", of_stack),
        ("DescribeStackEvents", of_stack),
        ("ListStackResources", of_stack),
        ("ListExports", {"NextToken": token}),
        ("DescribeAccountLimits", {"NextToken": token}),
        ("ListStackSets", {"NextToken": token}),
        *(("ListStacks", {"NextToken": each}) for each in (token[1:], "here", "s1", "ü", "=")),
    ]
    for action, parameters in foreign:
        answer = await ask(client, action, **parameters)
        assert answer.status_code == 400, action
        assert "<Code>ValidationError</Code>" in answer.text
        assert "NextToken" in answer.text
    verifier.caller = Caller("b" * 32, "u")
    assert await refusal(client, "ListStacks", NextToken=token) == (400, "ValidationError")


async def test_a_short_list_has_no_token(client: httpx.AsyncClient, service: FakeService) -> None:
    service.add("s")
    for action in ("ListStacks", "DescribeStacks"):
        assert "NextToken" not in await result(client, action)
    assert "NextToken" not in await result(client, "DescribeStackEvents", StackName="s")


@pytest.mark.parametrize(
    ("action", "status", "was_complete", "shown"),
    [
        ("CREATE", "COMPLETE", True, "CREATE_COMPLETE"),
        ("ROLLBACK", "IN_PROGRESS", False, "ROLLBACK_IN_PROGRESS"),
        ("ROLLBACK", "COMPLETE", True, "UPDATE_ROLLBACK_COMPLETE"),
        ("ROLLBACK", "FAILED", True, "UPDATE_ROLLBACK_FAILED"),
        ("INIT", "COMPLETE", False, "REVIEW_IN_PROGRESS"),
        ("SUSPEND", "COMPLETE", True, "SUSPEND_COMPLETE"),
    ],
)
async def test_statuses_have_the_names_that_clients_wait_for(
    client: httpx.AsyncClient,
    service: FakeService,
    action: str,
    status: str,
    was_complete: bool,
    shown: str,
) -> None:
    view = service.add("other")
    fields: dict[str, Any] = {"action": action, "status": status, "was_complete": was_complete}
    service.known[view.address.id] = type(view)(
        **{**{name: getattr(view, name) for name in view.__slots__}, **fields}
    )
    described = await result(client, "DescribeStacks", StackName="other")
    assert [each["StackStatus"] for each in described["Stacks"]] == [shown]
    chosen = {"StackStatusFilter.member.1": shown, "StackStatusFilter.member.2": "X_COMPLETE"}
    listed = await result(client, "ListStacks", **chosen)
    assert [each["StackStatus"] for each in listed["StackSummaries"]] == [shown]
    [*_, query] = [query for what, query in service.asked if what == "stacks"]
    assert {action, "X"} == set(query.filters["action"])
    assert {status, "COMPLETE"} == set(query.filters["status"])
    assert not query.show_deleted
    other = {"StackStatusFilter.member.1": "DELETE_COMPLETE"}
    assert await result(client, "ListStacks", **other) == {"StackSummaries": []}
    assert service.asked[-1][1].show_deleted


async def test_stack_events_have_cloudformation_type(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    address = service.add("s").address
    events = (await result(client, "DescribeStackEvents", StackName="s"))["StackEvents"]
    assert [(each["ResourceType"], each["PhysicalResourceId"]) for each in events] == [
        ("OS::Heat::None", "physical"),
        ("AWS::CloudFormation::Stack", address.arn),
    ]


async def test_tags_are_shown_with_keys_and_values(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    service.add("s", tags=("team=a=b", "word"))
    [stack] = (await result(client, "DescribeStacks", StackName="s"))["Stacks"]
    assert stack["Tags"] == [{"Key": "team", "Value": "a=b"}, {"Key": "word", "Value": ""}]


async def test_stack_is_found_by_physical_id(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    service.add("s")
    found = await result(client, "DescribeStackResources", PhysicalResourceId="p")
    assert [each["StackName"] for each in found["StackResources"]] == ["s"]
    both = {"StackName": "s", "PhysicalResourceId": "p"}
    expected = (400, "InvalidParameterCombination")
    assert await refusal(client, "DescribeStackResources", **both) == expected


async def test_unknown_stack_has_message_that_clients_match(
    client: httpx.AsyncClient,
) -> None:
    answer = await ask(client, "DescribeStacks", StackName="nope")
    assert "Stack with id nope does not exist" in answer.text


async def test_a_template_is_summarized(client: httpx.AsyncClient, service: FakeService) -> None:
    service.add("s")
    expected = {"ResourceTypes": ["A::B::C"], "Version": "2010-09-09", "Parameters": []}
    for given in ({"TemplateBody": "{}"}, {"StackName": "s"}):
        found = await result(client, "GetTemplateSummary", **given)
        assert expected.items() <= found.items()
    [*_, request] = [request for what, request in service.asked if what == "summary"]
    assert request.template == {"heat_template_version": "2021-04-16"}
    assert request.files == {"a.yaml": "x"}


async def test_a_failed_change_is_rolled_back_on_demand(
    client: httpx.AsyncClient, service: FakeService
) -> None:
    arn = service.add("s").address.arn
    assert await result(client, "RollbackStack", StackName="s") == {"StackId": arn}
    assert await result(client, "ContinueUpdateRollback", StackName="s") == {}
    assert [what for what, _ in service.asked if "rollback" in what] == [
        "begin rollback",
        "resume rollback",
    ]
    skip = {"ResourcesToSkip.member.1": "a"}
    expected = (400, "ValidationError")
    assert await refusal(client, "ContinueUpdateRollback", StackName="s", **skip) == expected


async def test_a_resource_is_signalled(client: httpx.AsyncClient, service: FakeService) -> None:
    service.add("s")
    sent = {"StackName": "s", "LogicalResourceId": "a", "UniqueId": "1"}
    assert await result(client, "SignalResource", **sent, Status="SUCCESS") == {}
    assert service.signalled == [("a", {"id": "1", "success": True})]
    assert await refusal(client, "SignalResource", **sent) == (400, "MissingParameter")
    refused = await refusal(client, "SignalResource", **sent, Status="DONE")
    assert refused == (400, "ValidationError")


async def test_stack_limit_is_shown(client: httpx.AsyncClient) -> None:
    found = await result(client, "DescribeAccountLimits")
    assert found == {"AccountLimits": [{"Name": "StackLimit", "Value": 7}]}


async def test_absent_features_have_empty_lists_and_reasons(
    client: httpx.AsyncClient, policy: FakePolicy
) -> None:
    assert await result(client, "ListStackSets") == {"Summaries": []}
    expected = (404, "StackSetNotFoundException")
    assert await refusal(client, "DescribeStackSet", StackSetName="s") == expected
    answer = await ask(client, "CreateStackSet", StackSetName="s")
    assert answer.status_code == 400
    assert "CreateStackSet is not available: there are no stack sets" in answer.text
    assert policy.asked == []


def test_each_action_that_does_something_has_a_rule() -> None:
    known = {rule.name for rule in DEFAULTS}
    assert {f"cloudformation:{action}" for action in ACTIONS.keys() - UNAVAILABLE.keys()} <= known

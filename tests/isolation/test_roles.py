"""A role has the same permissions on every path."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest

from stoker.kernel.addresses import ResourceAddress, StackAddress
from tests.isolation.people import Person, admin, demo, newcomer
from tests.recovery.service import Service, until

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "a": {"type": "OS::Heat::RandomString"},
    },
}


@pytest.fixture(scope="module")
def stack_id(service: Service) -> str:
    return demo(service).create("doors", TEMPLATE)


def test_a_reader_can_signal_nowhere(service: Service, stack_id: str) -> None:
    owner = demo(service)
    reader = newcomer(service, "only-reads", "reader", owner.project)
    assert reader.ask("GET", f"/stacks/doors/{stack_id}").status_code == 200
    signal = f"/stacks/doors/{stack_id}/resources/handle/signal"
    assert reader.ask("POST", signal).status_code == 403
    arn = quote(ResourceAddress(StackAddress(owner.project, "doors", stack_id), "handle").arn)
    for method, kind in (("PUT", "waitcondition"), ("POST", "signal")):
        address = f"{service.url}/cfn/v1/{kind}/{arn}"
        for sender, status in ((reader, 403), (owner, 200)):
            headers = {"X-Auth-Token": sender.token}
            answer = httpx.request(method, address, headers=headers, content=b"{}", timeout=30)
            assert answer.status_code == status, answer.text


def test_types_of_admins_are_listed_for_admins_only(service: Service) -> None:
    names = demo(service).ask("GET", "/resource_types").json()["resource_types"]
    assert "OS::Heat::None" in names
    assert "OS::Nova::Flavor" not in names


def test_events_of_stack_are_below_its_own_name(service: Service, stack_id: str) -> None:
    found = demo(service).ask("GET", f"/stacks/doors/{stack_id}/resources/doors/events")
    assert found.status_code == 200, found.text
    assert {event["resource_name"] for event in found.json()["events"]} == {"doors"}


FLAVOR = {"type": "OS::Nova::Flavor", "properties": {"ram": 1, "vcpus": 1, "disk": 1}}
LATE_GROUP = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "late": {"type": "OS::Heat::Value", "properties": {"type": "number", "value": 1}},
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": {"get_attr": ["late", "value"]}, "resource_def": FLAVOR},
        },
    },
}
SCALING_GROUP = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "group": {
            "type": "OS::Heat::AutoScalingGroup",
            "properties": {"min_size": 0, "max_size": 1, "resource": FLAVOR},
        },
        "grow": {
            "type": "OS::Heat::ScalingPolicy",
            "properties": {
                "adjustment_type": "change_in_capacity",
                "auto_scaling_group_id": {"get_resource": "group"},
                "scaling_adjustment": 1,
            },
        },
    },
}


def flavors(service: Service) -> int:
    return len(service.cloud("/compute/v2.1/flavors?is_public=None")["flavors"])


def reasons(person: Person, path: str) -> str:
    found = person.ask("GET", f"{path}/events?nested_depth=5").json()["events"]
    return "\n".join(str(event["resource_status_reason"]) for event in found)


def test_late_group_creates_no_forbidden_types(service: Service) -> None:
    owner, before = demo(service), flavors(service)
    answer = owner.ask("POST", "/stacks", {"stack_name": "late", "template": LATE_GROUP})
    assert answer.status_code == 201, answer.text
    path = f"/stacks/late/{answer.json()['stack']['id']}"
    until(lambda: "CREATE_FAILED" in owner.ask("GET", path).text, "the create fails")
    assert "You are not authorized to use OS::Nova::Flavor" in reasons(owner, path)
    assert flavors(service) == before


def test_a_scaling_group_makes_no_forbidden_types(service: Service) -> None:
    owner, before = demo(service), flavors(service)
    answer = owner.ask("POST", "/stacks", {"stack_name": "grows", "template": SCALING_GROUP})
    assert answer.status_code == 201, answer.text
    stack_id = answer.json()["stack"]["id"]
    until(lambda: owner.status("grows", stack_id) == "CREATE_COMPLETE", "the group is there")
    path = f"/stacks/grows/{stack_id}"
    assert owner.ask("POST", f"{path}/resources/grow/signal").status_code == 200
    until(lambda: "You are not authorized to use" in reasons(owner, path), "the signal is refused")
    assert flavors(service) == before


def test_late_group_creates_types_allowed_to_owner(service: Service) -> None:
    owner, before = admin(service), flavors(service)
    owner.create("allowed", LATE_GROUP)
    assert flavors(service) == before + 1

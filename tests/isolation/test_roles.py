"""What a role may do is the same at every door."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest

from stoker.kernel.addresses import ResourceAddress, StackAddress
from tests.isolation.people import demo, newcomer
from tests.recovery.service import Service

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


def test_events_of_the_stack_itself_are_below_its_own_name(service: Service, stack_id: str) -> None:
    found = demo(service).ask("GET", f"/stacks/doors/{stack_id}/resources/doors/events")
    assert found.status_code == 200, found.text
    assert {event["resource_name"] for event in found.json()["events"]} == {"doors"}

"""Queues of the local cloud: events that come into them, and signals that come out of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from keystoneauth1.exceptions import Unauthorized
from keystoneauth1.identity.v3 import Password
from keystoneauth1.session import Session

from tests.recovery.service import Service, until

QUEUE = "/messaging/v2/queues/events/messages?echo=true&limit=20"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("queues") / "data")
    running.start()
    yield running
    running.stop()


def events(service: Service) -> list[tuple[str, str]]:
    """Return the messages of the queue: resource and state."""
    token, _ = service.authenticate()
    headers = {"X-Auth-Token": token, "Client-ID": str(uuid4())}
    answer = httpx.get(f"{service.cloud_url}{QUEUE}", headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    told = [message["body"]["payload"] for message in answer.json()["messages"]]
    return [(each["resource_name"], each["resource_status"]) for each in told]


def test_events_reach_queue_of_the_environment(service: Service) -> None:
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"word": {"type": "OS::Heat::RandomString"}},
    }
    sinks: list[Any] = [{"type": "zaqar-queue", "target": "events", "ttl": 600}]
    body = {"stack_name": "s", "template": template, "environment": {"event_sinks": sinks}}
    answer = service.request("POST", "/stacks", body)
    assert answer.status_code == 201, answer.text
    until(lambda: ("s", "COMPLETE") in events(service), "all events are in the queue", 60)
    assert events(service) == [
        ("s", "IN_PROGRESS"),
        ("word", "IN_PROGRESS"),
        ("word", "COMPLETE"),
        ("s", "COMPLETE"),
    ]


def status(service: Service, name: str) -> str:
    found = service.stack(name)
    return str(found and found["stack_status"])


def test_message_in_queue_of_handle_is_a_signal(service: Service) -> None:
    handle = {
        "type": "OS::Heat::WaitConditionHandle",
        "properties": {"signal_transport": "ZAQAR_SIGNAL"},
    }
    condition = {
        "type": "OS::Heat::WaitCondition",
        "properties": {"handle": {"get_resource": "handle"}, "timeout": 60},
    }
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"handle": handle, "condition": condition},
        "outputs": {
            "signal": {"value": {"get_attr": ["handle", "signal"]}},
            "data": {"value": {"get_attr": ["condition", "data"]}},
        },
    }
    answer = service.request("POST", "/stacks", {"stack_name": "waits", "template": template})
    assert answer.status_code == 201, answer.text
    at = f"/stacks/waits/{answer.json()['stack']['id']}"
    handle_at = f"{at}/resources/handle"
    until(
        lambda: service.get(handle_at)["resource"]["resource_status"] == "CREATE_COMPLETE",
        "the handle is there",
    )
    told = json.loads(service.get(handle_at)["resource"]["attributes"]["signal"])
    names = ("auth_url", "user_id", "password", "project_id")
    server = Session(Password(**{name: told[name] for name in names}))
    message = {"body": {"id": "first", "data": "done"}, "ttl": 60}
    sent = server.post(
        f"/v2/queues/{told['queue_id']}/messages",
        json={"messages": [message]},
        endpoint_filter={"service_type": "messaging"},
        headers={"Client-ID": str(uuid4())},
    )
    assert sent.status_code == 201
    until(lambda: status(service, "waits") == "CREATE_COMPLETE", "the signal has come")
    assert service.get(f"{at}/outputs/data")["output"]["output_value"] == '{"first": "done"}'
    service.request("DELETE", at)
    until(lambda: service.stack("waits") is None, "the stack is gone")
    with pytest.raises(Unauthorized):  # with the user, the queue cannot be asked for any more
        Session(Password(**{name: told[name] for name in names})).get_token()

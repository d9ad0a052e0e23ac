"""Events in queues of the local cloud."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.recovery.service import Service, until

QUEUE = "/messaging/v2/queues/events/messages?echo=true&limit=20"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = Service(tmp_path / "data")
    running.start()
    yield running
    running.stop()


def events(service: Service) -> list[tuple[str, str]]:
    """What the queue tells: of which resource, in which state."""
    token, _ = service.authenticate()
    headers = {"X-Auth-Token": token, "Client-ID": str(uuid4())}
    answer = httpx.get(f"{service.cloud_url}{QUEUE}", headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    told = [message["body"]["payload"] for message in answer.json()["messages"]]
    return [(each["resource_name"], each["resource_status"]) for each in told]


def test_events_of_a_stack_are_in_the_queue_that_its_environment_names(service: Service) -> None:
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

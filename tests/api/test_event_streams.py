"""Server-sent events over HTTP, in the notation that browsers and other clients read."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from stoker.engine.model.requests import Caller, EventQuery
from stoker.engine.service.views.event_streams import StreamMessage
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import LimitExceededError, NotFoundError
from stoker.kernel.values import replace

from .fake_service import PROJECT, FakeService

STREAM = {"Accept": "text/event-stream"}


class FakeStreams:
    """Sends two events, a heartbeat, and the end."""

    def __init__(self, service: FakeService) -> None:
        self._service = service
        self.asked: list[tuple[EventQuery, bool]] = []
        self.refusal: Exception | None = None

    async def follow(
        self, caller: Caller, address: StackAddress, query: EventQuery, *, until_end: bool
    ) -> AsyncIterator[StreamMessage]:
        self.asked.append((query, until_end))
        if self.refusal is not None:
            raise self.refusal
        yield StreamMessage(await self._service.events(caller, address, query))
        yield StreamMessage()
        view = self._service.known[address.id]
        yield StreamMessage(end=replace(view, reason="a\nb"))


@pytest.fixture
def streams(service: FakeService) -> FakeStreams:
    service.event_streams = FakeStreams(service)
    return service.event_streams


def path(service: FakeService, query: str = "") -> str:
    view = next(iter(service.known.values()))
    return f"/v1/{PROJECT}/stacks/{view.address.name}/{view.address.id}/events{query}"


async def create(client: httpx.AsyncClient) -> None:
    body = {"stack_name": "s", "template": {"heat_template_version": "2018-08-31"}}
    assert (await client.post(f"/v1/{PROJECT}/stacks", json=body)).status_code == 201


async def test_stream_has_id_kind_and_json_per_event(
    client: httpx.AsyncClient, service: FakeService, streams: FakeStreams
) -> None:
    await create(client)
    answer = await client.get(path(service, "?until_end=true"), headers=STREAM)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-cache"
    first, second, life, end, rest = answer.text.split("\n\n")
    id_, kind, data = first.split("\n")
    listed = (await client.get(path(service))).json()["events"]
    row: dict[str, Any] = json.loads(data.removeprefix("data: "))
    assert row.pop("resource_type")
    assert row == listed[0]
    assert (id_, kind) == (f"id: {row['id']}", "event: event")
    assert second.startswith("id: ")
    assert life == ":"
    kind, data = end.split("\n")
    assert kind == "event: end"
    assert json.loads(data.removeprefix("data: "))["stack_status_reason"] == "a\nb"
    assert rest == ""


async def test_reconnecting_client_resumes_after_last_event_id(
    client: httpx.AsyncClient, service: FakeService, streams: FakeStreams
) -> None:
    await create(client)
    query = "?marker=first&nested_depth=3&resource_name=a"
    await client.get(path(service, query), headers=STREAM)
    await client.get(path(service, query), headers={**STREAM, "Last-Event-ID": "last"})
    (one, until_end), (two, _) = streams.asked
    assert (one.page.marker, two.page.marker) == ("first", "last")
    assert one.nested_depth == 3
    assert one.filters == {"resource_name": ("a",)}
    assert not until_end


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(NotFoundError("there is no such stack"), 404), (LimitExceededError("too many"), 400)],
)
async def test_a_refusal_is_no_stream(
    client: httpx.AsyncClient,
    service: FakeService,
    streams: FakeStreams,
    refusal: Exception,
    status: int,
) -> None:
    await create(client)
    streams.refusal = refusal
    answer = await client.get(path(service), headers=STREAM)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]

"""Messages for those who have subscribed, and for those who have a signature."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from cloud_testing.caller import Caller
from cloud_testing.doubles import ManualClock
from cloud_testing.world import HostService

QUEUE = "/v2/queues/news"
PATH = f"{QUEUE}/subscriptions"
SECONDS = 30


@pytest.fixture
async def receiver() -> AsyncIterator[HostService]:
    """An HTTP service on loopback that records its requests."""
    service = HostService()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.port = server.sockets[0].getsockname()[1]
    yield service
    server.close()
    await server.wait_closed()


async def arrived(receiver: HostService, count: int) -> None:
    async with asyncio.timeout(SECONDS):
        while len(receiver.posts) < count:  # noqa: ASYNC110 - of a service that others use, too
            await asyncio.sleep(0.01)


async def subscribe(queues: Caller, subscriber: str, **fields: Any) -> str:
    body = {"subscriber": subscriber, **fields}
    return str((await queues.call("POST", PATH, body, 201))["subscription_id"])


async def post(queues: Caller, *bodies: Any) -> None:
    messages = [{"body": body, "ttl": 60} for body in bodies]
    await queues.call("POST", f"{QUEUE}/messages", {"messages": messages}, 201)


async def test_messages_are_sent_to_subscribers(queues: Caller, receiver: HostService) -> None:
    await subscribe(queues, receiver.url)
    await post(queues, {"n": 1}, "two")
    await arrived(receiver, 2)
    assert sorted(receiver.posts) == [
        '{"ttl": 60, "body": "two", "Message_Type": "Notification", "queue_name": "news"}',
        '{"ttl": 60, "body": {"n": 1}, "Message_Type": "Notification", "queue_name": "news"}',
    ]


async def test_a_subscriber_says_what_it_is_sent(queues: Caller, receiver: HostService) -> None:
    options = {"post_data": '{"input": "$zaqar_message$"}', "post_headers": {"X-Own": "1"}}
    await subscribe(queues, receiver.url, options=options)
    await post(queues, "hello")
    await arrived(receiver, 1)
    assert receiver.posts[0].startswith('{"input": {"ttl": 60, "body": "hello"')


async def test_a_receiver_that_is_away_is_tried_again(
    queues: Caller, receiver: HostService, clock: ManualClock
) -> None:
    async with await asyncio.start_server(receiver.answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
    policy = {"retries_with_no_delay": 0, "minimum_delay": 5, "maximum_delay": 15}
    url = f"http://127.0.0.1:{port}/"
    await subscribe(queues, url, options={"_retry_policy": policy})
    before = clock.now()
    await post(queues, "hello")
    async with asyncio.timeout(SECONDS):
        while (clock.now() - before).total_seconds() < 3 * 5 + 5 + 10 + 3 * 15:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_subscriptions_are_shown_changed_and_end(queues: Caller, clock: ManualClock) -> None:
    made = await subscribe(queues, "http://127.0.0.1:1/a", ttl=600)
    await subscribe(queues, "mailto:b@example.org", ttl=60)
    body = {"subscriber": "http://127.0.0.1:1/a"}
    answer = await queues.call("POST", PATH, body, 409)
    assert answer["title"] == "Resource conflict"
    shown = await queues.get(f"{PATH}/{made}")
    assert shown == {
        "id": made, "subscriber": "http://127.0.0.1:1/a", "options": {}, "ttl": 600,
        "source": "news", "age": 0, "confirmed": False,
    }  # fmt: skip
    await queues.call("PATCH", f"{PATH}/{made}", {"options": {"a": 1}, "ttl": 90}, 204)
    assert (await queues.get(f"{PATH}/{made}"))["options"] == {"a": 1}
    clock.advance(60)
    listed = (await queues.get(PATH))["subscriptions"]
    assert [(each["id"], each["age"]) for each in listed] == [(made, 60)]
    await queues.of("other", Client_ID=str(uuid4())).call("GET", f"{PATH}/{made}", expect=404)
    await queues.call("DELETE", f"{PATH}/{made}", expect=204)
    answer = await queues.call("GET", f"{PATH}/{made}", expect=404)
    assert answer["description"] == f"Subscription {made} does not exist"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "Missing parameter subscriber in body."),
        (
            {"subscriber": "ftp://a"},
            "must be supported in the list ['http', 'https', 'mailto', 'trust",
        ),
        ({"subscriber": 1}, "must be supported in the list"),
        ({"subscriber": "http://a", "ttl": 59}, "must be at least 60 seconds long."),
        ({"subscriber": "http://a", "ttl": 10**18}, "must be less than 9999-12-31"),
        ({"subscriber": "http://a", "options": [1]}, "Options must be a dict."),
    ],
)
async def test_what_makes_no_subscription_is_refused(
    queues: Caller, body: Any, reason: str
) -> None:
    answer = await queues.call("POST", PATH, body, 400)
    assert reason in answer["description"]


async def test_signature_allows_use_of_queue_parts(queues: Caller, clock: ManualClock) -> None:
    body = {"methods": ["GET", "POST"], "expires": "2026-01-01T01:00:00"}
    signed = await queues.call("POST", f"{QUEUE}/share", body)
    assert signed["paths"] == ["/v2/queues/news/messages"]
    headers = {
        "URL_Signature": signed["signature"],
        "URL_Expires": signed["expires"],
        "URL_Methods": ",".join(signed["methods"]),
        "URL_Paths": ",".join(signed["paths"]),
        "X_Project_ID": signed["project"],
        "Client_ID": str(uuid4()),
    }
    bearer = queues.of("", **headers)
    await post(bearer, "hello")
    assert len((await queues.get(f"{QUEUE}/messages"))["messages"]) == 1
    await bearer.get("/v2/queues/other/messages", 404)
    await bearer.call("DELETE", f"{QUEUE}/messages?pop=1", expect=404)
    await queues.of("", **{**headers, "URL_Methods": "GET,POST,DELETE"}).get(
        f"{QUEUE}/messages", 404
    )
    clock.advance(3600)
    await bearer.get(f"{QUEUE}/messages", 404)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"when": 1}, "Unknown keys: {'when'}"),
        ({"paths": ["stats"]}, "Invalid paths: {'stats'}"),
        ({"expires": "2020-01-01T00:00:00"}, "`expires` is lower than the current time"),
        ({"expires": 5}, "`expires` should be date format"),
        ({"methods": "GET"}, "`methods` should be a list"),
    ],
)
async def test_what_cannot_be_signed_is_refused(queues: Caller, body: Any, reason: str) -> None:
    answer = await queues.call("POST", f"{QUEUE}/share", body, 400)
    assert reason in answer["description"]

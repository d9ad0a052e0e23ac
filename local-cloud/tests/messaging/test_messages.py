"""Queues, messages and claims."""

from typing import Any

import pytest

from cloud_testing.caller import Caller
from cloud_testing.doubles import ManualClock

QUEUE = "/v2/queues/news"
PATCH = "application/openstack-messaging-v2.0-json-patch"


async def post(queues: Caller, *bodies: Any, **fields: Any) -> list[str]:
    messages = [{"body": body, **fields} for body in bodies]
    answer = await queues.call("POST", f"{QUEUE}/messages", {"messages": messages}, 201)
    return list(answer["resources"])


async def bodies(queues: Caller, query: str = "") -> list[Any]:
    return [m["body"] for m in (await queues.get(f"{QUEUE}/messages{query}"))["messages"]]


async def refusal(queues: Caller, method: str, path: str, body: Any, status: int) -> str:
    answer = await queues.call(method, path, body, status)
    assert answer["title"]
    return str(answer["description"])


async def test_a_queue_has_metadata_that_changes(queues: Caller) -> None:
    await queues.call("PUT", QUEUE, {"colour": "red", "_default_message_ttl": 600}, 201)
    await queues.call("PUT", QUEUE, {"colour": "blue"}, 204)
    shown = await queues.get(QUEUE)
    assert (shown["colour"], shown["_default_message_ttl"]) == ("red", 600)
    assert (shown["_max_messages_post_size"], shown["_max_claim_count"]) == (262144, None)
    changes = [
        {"op": "replace", "path": "/metadata/colour", "value": "green"},
        {"op": "add", "path": "/metadata/a~1b", "value": 1},
        {"op": "remove", "path": "/metadata/_default_message_ttl"},
    ]
    changed = await queues.call("PATCH", QUEUE, changes, Content_Type=PATCH)
    assert (changed["colour"], changed["a/b"], changed["_default_message_ttl"]) == (
        "green",
        1,
        3600,
    )
    missing = [{"op": "remove", "path": "/metadata/none"}]
    answer = await queues.call("PATCH", QUEUE, missing, 409, Content_Type=PATCH)
    assert answer["description"] == "Can't remove non-existent object none."
    await queues.call("PATCH", QUEUE, changes, 415)
    listed = await queues.get("/v2/queues?detailed=true&with_count=true")
    assert (listed["count"], listed["queues"][0]["metadata"]["colour"]) == (1, "green")
    assert (await queues.of("other", Client_ID="0" * 32).get("/v2/queues"))["queues"] == []
    await queues.call("DELETE", QUEUE, expect=204)
    await queues.call("DELETE", QUEUE, expect=204)
    answer = await queues.call("PATCH", QUEUE, changes, 404, Content_Type=PATCH)
    assert answer["description"] == "Queue news does not exist for project demo-project"


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"_default_message_ttl": 1}, "_default_message_ttl can not exceed 1209600 seconds"),
        ({"_default_message_ttl": "x"}, "_default_message_ttl must be integer."),
        ({"_max_messages_post_size": 0}, "_max_messages_post_size can not exceed 262144"),
        ({"_default_message_delay": 901}, "The TTL can not exceed 900 seconds"),
        ({"_retry_policy": 1}, "retry_policy must be a dict."),
        ({"x": "x" * 70_000}, "Queue metadata is too large. Max size: 65536"),
    ],
)
async def test_what_makes_no_queue_is_refused(queues: Caller, metadata: Any, reason: str) -> None:
    assert reason in await refusal(queues, "PUT", QUEUE, metadata, 400)
    assert (await queues.get("/v2/queues"))["queues"] == []


async def test_queues_are_listed_by_name_in_pages(queues: Caller) -> None:
    for number in range(12):
        await queues.call("PUT", f"/v2/queues/q{number:02}", expect=201)
    first = await queues.get("/v2/queues")
    assert [q["name"] for q in first["queues"]] == [f"q{number:02}" for number in range(10)]
    rest = await queues.get(first["links"][0]["href"])
    assert [q["name"] for q in rest["queues"]] == ["q10", "q11"]
    assert "no greater than 20" in await refusal(queues, "GET", "/v2/queues?limit=21", None, 400)
    assert "64 characters" in await refusal(queues, "PUT", f"/v2/queues/{'q' * 65}", {}, 400)
    assert "ASCII letters" in await refusal(queues, "PUT", "/v2/queues/a%20b", {}, 400)


async def test_messages_are_ordered_and_hidden_from_sender(
    queues: Caller, reader: Caller, clock: ManualClock
) -> None:
    paths = await post(queues, {"n": 1}, "two", ttl=60)
    clock.advance(5)
    await post(queues, 3)
    assert await bodies(queues) == []
    assert await bodies(queues, "?echo=true") == [{"n": 1}, "two", 3]
    first = await reader.get(f"{QUEUE}/messages?limit=1")
    (message,) = first["messages"]
    assert (message["href"], message["ttl"], message["age"]) == (paths[0], 60, 5)
    assert message["checksum"].startswith("MD5:")
    rest = await reader.get(first["links"][0]["href"])
    assert [m["body"] for m in rest["messages"]] == ["two"]
    assert (await reader.get(paths[1]))["body"] == "two"
    ids = ",".join(path.rpartition("/")[2] for path in paths)
    assert len((await reader.get(f"{QUEUE}/messages?ids={ids}"))["messages"]) == 2
    clock.advance(55)
    assert await bodies(reader) == [3]
    await reader.get(paths[1], 404)
    await reader.get(f"{QUEUE}/messages?ids={ids}", 404)


async def test_messages_go(queues: Caller, reader: Caller) -> None:
    paths = await post(queues, 1, 2, 3, 4)
    await queues.call("DELETE", paths[0], expect=204)
    await queues.call("DELETE", paths[0], expect=204)
    ids = paths[1].rpartition("/")[2]
    await queues.call("DELETE", f"{QUEUE}/messages?ids={ids}", expect=204)
    popped = await queues.call("DELETE", f"{QUEUE}/messages?pop=1")
    assert [m["body"] for m in popped["messages"]] == [3]
    assert await bodies(reader) == [4]
    await queues.call("DELETE", f"{QUEUE}/messages", expect=400)
    await queues.call("DELETE", f"{QUEUE}/messages?ids=a&pop=1", expect=400)
    await queues.call("DELETE", f"{QUEUE}/messages?pop=21", expect=400)
    await queues.call("POST", f"{QUEUE}/purge", {"resource_types": ["messages"]}, 204)
    assert (await queues.get(f"{QUEUE}/stats"))["messages"] == {"claimed": 0, "free": 0, "total": 0}


async def test_claim_hides_messages_for_a_time(
    queues: Caller, reader: Caller, clock: ManualClock
) -> None:
    await queues.call("POST", f"{QUEUE}/claims", {"ttl": 60, "grace": 60}, 204)
    paths = await post(queues, 1, 2, 3, ttl=90)
    claimed = await reader.send("POST", f"{QUEUE}/claims?limit=2", {"ttl": 60, "grace": 60})
    assert claimed.status_code == 201
    claim = claimed.headers["location"]
    first, second = claimed.json()["messages"]
    assert first["href"].partition("?claim_id=")[2] == claim.rpartition("/")[2]
    assert await bodies(reader) == [3]
    assert await bodies(reader, "?include_claimed=true") == [1, 2, 3]
    stats = (await queues.get(f"{QUEUE}/stats"))["messages"]
    assert (stats["claimed"], stats["free"], stats["oldest"]["href"]) == (2, 1, paths[0])
    assert "claimed; it cannot be deleted" in await refusal(queues, "DELETE", paths[0], None, 403)
    wrong = f"{paths[0]}?claim_id=00000000-0000-4000-8000-000000000000"
    assert "does not exist" in await refusal(queues, "DELETE", wrong, None, 400)
    await reader.call("DELETE", first["href"], expect=204)
    clock.advance(50)
    await reader.call("PATCH", claim, {"ttl": 60, "grace": 60}, 204)
    clock.advance(50)
    shown = await reader.get(claim)
    assert (shown["age"], shown["ttl"], [m["body"] for m in shown["messages"]]) == (50, 60, [2])
    assert await bodies(reader) == []
    clock.advance(10)
    await reader.get(claim, 404)
    assert await bodies(reader) == [2]
    answer = await reader.call("DELETE", second["href"], expect=400)
    assert "not currently claimed" in answer["description"]
    claimed = await reader.send("POST", f"{QUEUE}/claims")
    await reader.call("DELETE", claimed.headers["location"], expect=204)
    assert await bodies(reader) == [2]
    await reader.call("POST", f"{QUEUE}/claims", {"ttl": 1, "grace": 60}, 400)


async def test_repeatedly_claimed_message_becomes_dead_letter(
    queues: Caller, reader: Caller, clock: ManualClock
) -> None:
    await queues.call("PUT", QUEUE, {"_max_claim_count": 1, "_dead_letter_queue": "dead"}, 201)
    await post(queues, "hard")
    assert (await reader.send("POST", f"{QUEUE}/claims")).status_code == 201
    clock.advance(300)
    assert (await reader.send("POST", f"{QUEUE}/claims")).status_code == 204
    dead = (await reader.get("/v2/queues/dead/messages"))["messages"]
    assert [message["body"] for message in dead] == ["hard"]


async def test_a_delayed_message_waits(queues: Caller, reader: Caller, clock: ManualClock) -> None:
    await queues.call("PUT", QUEUE, {"_default_message_delay": 30}, 201)
    await post(queues, "later")
    assert await bodies(reader) == []
    assert await bodies(reader, "?include_delayed=true") == ["later"]
    clock.advance(30)
    assert await bodies(reader) == ["later"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "No messages were found in the request body."),
        ({"messages": []}, "No messages to enqueu."),
        ({"messages": {}}, "Document type not supported."),
        ({"messages": [{"ttl": 60}]}, 'Missing "body" field.'),
        ({"messages": [{"body": 1, "ttl": "x"}]}, 'The value of the "ttl" field must be a int.'),
        ({"messages": [{"body": 1, "ttl": 59}]}, "must be at least 60 seconds long."),
        ({"messages": [{"body": "x" * 300_000}]}, "too large. Max size 262144"),
        ({"messages": [{"body": 2**64}]}, "JSON contains integer that is too large."),
        ("[", "Request body could not be parsed."),
    ],
)
async def test_what_is_no_message_is_refused(queues: Caller, body: Any, reason: str) -> None:
    assert reason in await refusal(queues, "POST", f"{QUEUE}/messages", body, 400)


async def test_a_client_says_who_it_is(queues: Caller) -> None:
    nobody = Caller(queues._http, "/messaging")
    assert "header is required" in await refusal(nobody, "GET", "/v2/queues", None, 400)
    strange = nobody.of("demo", Client_ID="me")
    assert "hexadecimal UUID" in await refusal(strange, "GET", "/v2/queues", None, 400)
    await nobody.of("nobody").call("GET", "/v2/queues", expect=401)
    await queues.call("GET", "/v2/ping", expect=204)
    await queues.call("GET", "/v2/health", expect=403)
    versions = await nobody.call("GET", "/", expect=300)
    assert versions["versions"][0]["id"] == "2"

import gzip

import httpx
import pytest

from .fake_service import CREATED_TEXT, PROJECT, FakeService, stack_id

STACK = f"http://api:8004/v1/{PROJECT}/stacks/s/{stack_id(1)}"

GZIPPED = gzip.compress(b'{"status": "FAILURE"}', mtime=0)


@pytest.fixture
def path(base: str, service: FakeService) -> str:
    service.add("s")
    return f"{base}/stacks/s/{stack_id(1)}"


async def test_listed_resource_has_the_fields_of_heat(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path + "/resources")
    assert answer.json() == {
        "resources": [
            {
                "resource_name": "a",
                "logical_resource_id": "a",
                "physical_resource_id": "",
                "resource_type": "OS::Heat::None",
                "resource_status": "CREATE_COMPLETE",
                "resource_status_reason": "state changed",
                "creation_time": CREATED_TEXT,
                "updated_time": CREATED_TEXT,
                "required_by": [],
                "links": [
                    {"href": STACK + "/resources/a", "rel": "self"},
                    {"href": STACK, "rel": "stack"},
                ],
            }
        ]
    }


async def test_detail_adds_description_and_attributes(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path + "/resources", params={"with_detail": "true"})
    (resource,) = answer.json()["resources"]
    assert (resource["description"], resource["attributes"]) == ("", {})


async def test_filters_reach_the_engine(
    client: httpx.AsyncClient, path: str, service: FakeService
) -> None:
    query = {"nested_depth": 2, "type": ["A", "B"], "status": "FAILED"}
    await client.get(path + "/resources", params=query)
    asked = service.asked[-1][1]
    assert asked.nested_depth == 2
    assert asked.with_unstarted
    assert asked.filters == {"type": ("A", "B"), "status": ("FAILED",)}


@pytest.mark.parametrize(
    "query", [{"foo": "x"}, {"limit": 1}, {"nested_depth": "x"}, {"nested_depth": -1}]
)
async def test_unknown_filter_or_bad_depth_is_400(
    client: httpx.AsyncClient, path: str, query: dict[str, str]
) -> None:
    answer = await client.get(path + "/resources", params=query)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_single_resource_has_attributes(
    client: httpx.AsyncClient, path: str, service: FakeService
) -> None:
    answer = await client.get(path + "/resources/a?with_attr=x&with_attr=y")
    assert answer.json()["resource"]["attributes"] == {"output": 1}
    assert service.asked[-1][1] == ("x", "y")


async def test_missing_resource_is_404(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path + "/resources/zz")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "ResourceNotFound"


async def test_metadata_is_wrapped(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path + "/resources/a/metadata")).json() == {"metadata": {"m": 1}}


@pytest.mark.parametrize(
    ("content", "details"),
    [
        (b'{"status": "SUCCESS"}', {"status": "SUCCESS"}),
        (b'\xef\xbb\xbf{"status": "FAILURE"}', {"status": "FAILURE"}),
        (b"", None),
        (b"[1]", None),
    ],
)
async def test_signal_takes_an_object_or_nothing(
    client: httpx.AsyncClient,
    path: str,
    service: FakeService,
    content: bytes,
    details: dict[str, str] | None,
) -> None:
    answer = await client.post(path + "/resources/a/signal", content=content)
    assert (answer.status_code, answer.text) == (200, "null")
    assert service.signalled == [("a", details)]


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        (b"{bad", "identity", "not valid JSON"),
        # without the time: two processes collect tests of the same names
        (GZIPPED, "gzip", "It is encoded (gzip): send it plain."),
        ('{"status": "FAILURE"}'.encode("utf-16"), "identity", "not UTF-8 text"),
        (b'{"data": %s}' % (b"9" * 5000), "identity", "a number has more than 4300 digits."),
    ],
)
async def test_malformed_signal_is_400(
    client: httpx.AsyncClient,
    path: str,
    service: FakeService,
    content: bytes,
    encoding: str,
    words: str,
) -> None:
    headers = {"Content-Encoding": encoding}
    answer = await client.post(path + "/resources/a/signal", content=content, headers=headers)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]
    assert not service.signalled


@pytest.mark.parametrize(("given", "unhealthy"), [(True, True), ("true", True), ("False", False)])
async def test_mark_is_200_with_null(
    client: httpx.AsyncClient, path: str, service: FakeService, given: object, unhealthy: bool
) -> None:
    body = {"mark_unhealthy": given, "resource_status_reason": "why"}
    answer = await client.patch(path + "/resources/a", json=body)
    assert (answer.status_code, answer.text) == (200, "null")
    assert service.asked[-1][1] == ("a", unhealthy, "why")


async def test_a_mark_without_a_reason_gets_one(
    client: httpx.AsyncClient, path: str, service: FakeService
) -> None:
    await client.patch(path + "/resources/a", json={"mark_unhealthy": True})
    assert service.asked[-1][1] == ("a", True, "marked through the API")


@pytest.mark.parametrize(
    "body",
    [
        {"mark_unhealthy": "maybe"},
        {"mark_unhealthy": None},
        {"mark_unhealthy": 1},
        {"mark_unhealthy": True, "zz": 1},
        {"resource_status_reason": "why"},
        {"mark_unhealthy": True, "resource_status_reason": 5},
    ],
)
async def test_mark_with_other_content_is_400(
    client: httpx.AsyncClient, path: str, body: dict[str, object]
) -> None:
    answer = await client.patch(path + "/resources/a", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "HTTPBadRequest"


async def test_listed_event_has_the_fields_of_heat(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path + "/resources/a/events")
    assert answer.json() == {
        "events": [
            {
                "id": "1",
                "links": [
                    {"href": STACK + "/resources/a/events/1", "rel": "self"},
                    {"href": STACK + "/resources/a", "rel": "resource"},
                    {"href": STACK, "rel": "stack"},
                ],
                "event_time": CREATED_TEXT,
                "resource_name": "a",
                "logical_resource_id": "a",
                "physical_resource_id": "physical",
                "resource_status": "CREATE_COMPLETE",
                "resource_status_reason": "state changed",
            }
        ]
    }


async def test_events_are_newest_first_by_default(
    client: httpx.AsyncClient, path: str, service: FakeService
) -> None:
    await client.get(path + "/events")
    assert service.asked[-1][1].page.descending is True
    query = {"sort_dir": "asc", "limit": 3, "resource_status": "COMPLETE", "nested_depth": 1}
    await client.get(path + "/events", params=query)
    asked = service.asked[-1][1]
    assert (asked.page.descending, asked.page.limit, asked.nested_depth) == (False, 3, 1)
    assert asked.filters == {"resource_status": ("COMPLETE",)}


async def test_resource_without_events_is_404(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path + "/resources/zz/events")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "HTTPNotFound"


async def test_single_event_has_type_and_properties(client: httpx.AsyncClient, path: str) -> None:
    event = (await client.get(path + "/resources/a/events/1")).json()["event"]
    assert event["resource_type"] == "OS::Heat::None"
    assert event["resource_properties"] == {"value": "x"}


@pytest.mark.parametrize("event", ["b/events/1", "a/events/zz"])
async def test_missing_event_is_404(client: httpx.AsyncClient, path: str, event: str) -> None:
    answer = await client.get(f"{path}/resources/{event}")
    assert answer.status_code == 404
    assert answer.json()["error"]["type"] == "HTTPNotFound"


async def test_list_of_outputs_has_no_values(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path + "/outputs")).json() == {
        "outputs": [{"output_key": "o", "description": "an output"}]
    }


async def test_single_output_has_its_value(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path + "/outputs/o")).json() == {
        "output": {"output_key": "o", "description": "an output", "output_value": "v"}
    }
    assert (await client.get(path + "/outputs/zz")).status_code == 404


@pytest.mark.parametrize("below", ["", "/resources/ready"])
async def test_why_returns_causes_with_positions(
    client: httpx.AsyncClient, base: str, service: FakeService, below: str
) -> None:
    service.add("s")
    answer = await client.get(f"{base}/stacks/s/{stack_id(1)}{below}/why")
    why = answer.json()["why"]
    assert (why["stack_status"], why["since"], why["complete"]) == (
        "CREATE_COMPLETE",
        CREATED_TEXT,
        True,
    )
    [cause] = why["causes"]
    assert (cause["kind"], cause["path"]) == ("signal", ["g", "ready"])
    assert cause["signals"] == {"received": 1, "wanted": 2}
    assert cause["position"] == {"file": "member.yaml", "line": 4, "column": 3}
    assert service.asked == ([("why", "ready")] if below else [])


@pytest.mark.parametrize(
    ("query", "descending"),
    [
        ({}, True),
        ({"sort_keys": "resource_type"}, False),
        ({"sort_keys": "nonsense"}, True),
        ({"sort_keys": "resource_type", "sort_dir": "desc"}, True),
    ],
)
async def test_lists_with_sort_keys_are_ascending(
    client: httpx.AsyncClient,
    path: str,
    service: FakeService,
    query: dict[str, str],
    descending: bool,
) -> None:
    await client.get(path + "/events", params=query)
    assert service.asked[-1][1].page.descending is descending

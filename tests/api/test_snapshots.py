"""The addresses of snapshots: bodies, statuses, and the form of a snapshot."""

import httpx
import pytest

from stoker.kernel.errors import NOT_FOUND, ActionInProgressError, NotFoundError

from .conftest import FakePolicy
from .fake_service import CREATED_TEXT, FakeService, stack_id

SHOWN = {
    "id": "s1",
    "name": "n",
    "action": "CREATE",
    "status": "COMPLETE",
    "status_reason": "done",
    "data": {"resources": {}},
    "creation_time": CREATED_TEXT,
}


@pytest.fixture
def path(base: str, service: FakeService) -> str:
    service.add("s")
    return f"{base}/stacks/s/{stack_id(1)}/snapshots"


@pytest.mark.parametrize(
    ("body", "name"), [({}, None), ({"name": None}, None), ({"name": "n"}, "n"), ({"name": 5}, "5")]
)
async def test_a_new_snapshot_is_answered_bare(
    client: httpx.AsyncClient, path: str, service: FakeService, body: object, name: str | None
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == 200
    new = {"name": name, "status": "IN_PROGRESS", "status_reason": None}
    assert answer.json() == {**SHOWN, **new}
    assert service.asked == [("snapshot", name)]


@pytest.mark.parametrize("content", ["", "[]", '{"name": ["x"]}', '{"name": true}', "{"])
async def test_a_body_that_is_none_is_refused(
    client: httpx.AsyncClient, path: str, service: FakeService, content: str
) -> None:
    answer = await client.post(path, content=content)
    assert answer.status_code == 400
    assert service.asked == []


@pytest.mark.parametrize("name", ["x" * 256, "a\0b"])
async def test_a_name_that_cannot_be_kept_is_refused(
    client: httpx.AsyncClient, path: str, name: str
) -> None:
    answer = await client.post(path, json={"name": name})
    assert answer.status_code == 400
    assert "name" in answer.json()["error"]["message"]


async def test_snapshots_are_listed_and_shown(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).json() == {"snapshots": [SHOWN]}
    assert (await client.get(path + "/s1")).json() == {"snapshot": SHOWN}


async def test_delete_and_restore_are_accepted(
    client: httpx.AsyncClient, path: str, service: FakeService
) -> None:
    answer = await client.delete(path + "/s1")
    assert (answer.status_code, answer.content) == (204, b"")
    answer = await client.post(path + "/s1/restore")
    assert answer.status_code == 202
    assert service.asked == [("delete_snapshot", "s1"), ("restore_snapshot", "s1")]


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (NotFoundError("Snapshot with id s1 not found", NOT_FOUND), 404, "NotFound"),
        (ActionInProgressError("busy"), 409, "ActionInProgress"),
    ],
)
async def test_refusals_keep_their_types(
    client: httpx.AsyncClient,
    path: str,
    service: FakeService,
    refusal: Exception,
    status: int,
    kind: str,
) -> None:
    service.refusal = refusal
    answer = await client.post(path + "/s1/restore")
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)


@pytest.mark.parametrize(
    ("method", "below", "rule"),
    [
        ("POST", "", "snapshot"),
        ("GET", "", "list_snapshots"),
        ("GET", "/s1", "show_snapshot"),
        ("DELETE", "/s1", "delete_snapshot"),
        ("POST", "/s1/restore", "restore_snapshot"),
    ],
)
async def test_each_address_has_its_rule(
    client: httpx.AsyncClient,
    path: str,
    policy: FakePolicy,
    method: str,
    below: str,
    rule: str,
) -> None:
    policy.forbidden.add(f"stacks:{rule}")
    assert (await client.request(method, path + below, json={})).status_code == 403

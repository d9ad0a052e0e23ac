"""The list of disturbances: permissions, selection of calls, and effects."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.routing import BaseRoute

from localcloud.core.cloud import Cloud, LazyService
from localcloud.process.app import CloudApp
from localcloud.web.http import neutron_error, read_object, route

ADMIN = {"X-Auth-Token": "admin"}


class ThingsService(LazyService):
    """The service as the application mounts it."""

    render = staticmethod(neutron_error)
    open_paths = ("/",)

    def __init__(self, things: "Things", name: str) -> None:  # it needs nothing of a cloud
        self._things = things
        self.type = "network" if name == "neutron" else "image"
        self.name = name
        self.prefix = self.endpoint = f"/{name}"

    def routes(self) -> list[BaseRoute]:
        return [route("POST", "/v2.0/things", self._things.create, 201)]


class Things:
    """A service that records the created objects."""

    def __init__(self, name: str = "neutron") -> None:
        self.made: list[str] = []
        self.service = ThingsService(self, name)

    async def create(self, request: Request) -> dict[str, Any]:
        thing = await read_object(request, "thing")
        self.made.append(thing["name"])
        return {"thing": thing}


MakeClient = Callable[..., httpx.AsyncClient]
URL = "/neutron/v2.0/things"


async def disturb(client: httpx.AsyncClient, *rules: dict[str, Any]) -> None:
    answer = await client.put("/disturbances", json={"disturbances": rules}, headers=ADMIN)
    assert answer.status_code == 200, answer.text


async def seen(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    listed = (await client.get("/disturbances", headers=ADMIN)).json()["disturbances"]
    return list(listed)


async def make(client: httpx.AsyncClient, name: str = "a", url: str = URL) -> httpx.Response:
    return await client.post(url, json={"thing": {"name": name}})


async def until_waiting(client: httpx.AsyncClient, count: int) -> None:
    for _ in range(1000):
        if sum(rule["waiting"] for rule in await seen(client)) >= count:
            return
        await asyncio.sleep(0)
    pytest.fail(f"no {count} calls wait")


async def test_only_admin_sees_and_changes_disturbances(client_of: MakeClient) -> None:
    async with client_of(Things().service) as client:
        for method in ("GET", "PUT", "DELETE"):
            assert (await client.request(method, "/disturbances")).status_code == 403
        client.headers.pop("X-Auth-Token")
        assert (await client.get("/disturbances")).status_code == 401
        assert (await client.post("/disturbances", headers=ADMIN)).status_code == 405


@pytest.mark.parametrize(
    "rule",
    [
        [],
        {"colour": "red"},
        {"outcome": "explode"},
        {"status": 200},
        {"share": 2},
        {"before": -1},
        {"before": 1e9},
        {"times": True},
        {"path": "*" * 501},
        {"service": 7},
    ],
)
async def test_a_bad_disturbance_is_refused_and_changes_nothing(
    client_of: MakeClient, rule: Any
) -> None:
    async with client_of(Things().service) as client:
        await disturb(client, {"outcome": "refuse"})
        bad = await client.put("/disturbances", json={"disturbances": [rule]}, headers=ADMIN)
        assert bad.status_code == 400
        assert len(await seen(client)) == 1
        many = {"disturbances": [{}] * 101}
        assert (await client.put("/disturbances", json=many, headers=ADMIN)).status_code == 400


@pytest.mark.parametrize(
    ("rule", "disturbed"),
    [
        ({}, True),
        ({"service": "network"}, True),
        ({"service": "neutron"}, True),
        ({"service": "compute"}, False),
        ({"method": "post"}, True),
        ({"method": "GET"}, False),
        ({"path": "/neutron/*/things"}, True),
        ({"path": "/neutron/v2.0/thing"}, False),
        ({"body": '"name":"a"'}, True),
        ({"body": '"name":"b"'}, False),
        ({"share": 0}, False),
        ({"skip": 1}, False),
        ({"times": 0}, False),
        ({"above": 1}, False),
    ],
)
async def test_a_disturbance_strikes_the_calls_that_it_describes(
    client_of: MakeClient, rule: dict[str, Any], disturbed: bool
) -> None:
    async with client_of(Things().service) as client:
        await disturb(client, {**rule, "outcome": "refuse", "status": 503})
        assert (await make(client)).status_code == (503 if disturbed else 201)


async def test_calls_of_other_services_are_not_disturbed(client_of: MakeClient) -> None:
    async with client_of(Things().service, Things("glance").service) as client:
        await disturb(client, {"service": "image", "outcome": "refuse"})
        assert (await make(client)).status_code == 201
        assert (await make(client, url="/glance/v2.0/things")).status_code == 503


async def test_refusal_looks_genuine_and_has_no_effect(
    client_of: MakeClient,
) -> None:
    things = Things()
    async with client_of(things.service) as client:
        await disturb(
            client,
            {"outcome": "refuse", "status": 429, "retry_after": 2.5, "message": "Slow down."},
        )
        refused = await make(client)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "2.5")
        assert refused.json()["NeutronError"]["message"] == "Slow down."
        assert things.made == []


@pytest.mark.parametrize(
    ("outcome", "acts"), [("reset", False), ("lose", True), ("truncate", True)]
)
async def test_connection_is_cut_before_or_after_the_effect(
    client_of: MakeClient, outcome: str, acts: bool
) -> None:
    things = Things()
    async with client_of(things.service) as client:
        await disturb(client, {"outcome": outcome, "times": 1})
        with pytest.raises(ConnectionResetError):
            await make(client)
        assert things.made == (["a"] if acts else [])
        assert (await make(client)).status_code == 201


async def test_a_call_can_act_and_answer_with_nonsense(client_of: MakeClient) -> None:
    things = Things()
    async with client_of(things.service) as client:
        await disturb(client, {"outcome": "garble"})
        answer = await make(client)
        assert answer.status_code == 201
        with pytest.raises(json.JSONDecodeError):
            answer.json()
        await disturb(client, {"outcome": "fail", "status": 500})
        assert (await make(client, "b")).status_code == 500
        assert things.made == ["a", "b"]


async def test_call_is_held_until_disturbance_is_removed(
    client_of: MakeClient,
) -> None:
    for where, made in (("before", []), ("after", ["a"])):
        things = Things()
        async with client_of(things.service) as client:
            await disturb(client, {where: 3600})
            call = asyncio.ensure_future(make(client))
            await until_waiting(client, 1)
            assert (things.made, call.done()) == (made, False)
            await client.delete("/disturbances", headers=ADMIN)
            assert (await call).status_code == 201
            assert things.made == ["a"]


async def test_delayed_call_completes_automatically(client_of: MakeClient) -> None:
    async with client_of(Things().service) as client:
        await disturb(client, {"before": 0.01, "after": 0.01})
        assert (await make(client)).status_code == 201


async def test_calls_above_the_limit_are_refused(client_of: MakeClient) -> None:
    async with client_of(Things().service) as client:
        await disturb(
            client,
            {"method": "POST", "above": 2, "outcome": "refuse", "status": 429},
            {"method": "POST", "before": 3600},
        )
        calls = [asyncio.ensure_future(make(client)) for _ in range(3)]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        await client.delete("/disturbances", headers=ADMIN)
        assert sorted([(await call).status_code for call in calls]) == [201, 201, 429]


async def test_what_stays_in_the_list_keeps_its_counts(client_of: MakeClient) -> None:
    async with client_of(Things().service) as client:
        await disturb(client, {"skip": 1, "outcome": "refuse"})
        await make(client)
        await disturb(client, {"skip": 1, "outcome": "refuse"}, {"service": "image"})
        assert (await make(client)).status_code == 503
        assert [(rule["seen"], rule["disturbed"]) for rule in await seen(client)] == [
            (2, 1),
            (0, 0),
        ]


async def test_the_list_is_there_again_after_a_restart(client_of: MakeClient) -> None:
    async with client_of(Things().service) as client:
        await disturb(client, {"service": "network", "before": 0, "outcome": "refuse"})
    async with client_of(Things().service) as client:
        assert (await make(client)).status_code == 503


async def test_a_list_that_cannot_be_understood_is_named(cloud: Cloud) -> None:
    (cloud.settings.cloud_dir / "disturbances.json").write_text("[]")
    with pytest.raises(OSError, match=r"disturbances\.json is no list of disturbances"):
        CloudApp(cloud, [])

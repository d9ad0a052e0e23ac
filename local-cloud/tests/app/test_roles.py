"""Permissions of readers, and of users that stacks make for their servers, in each service."""

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.routing import Route

from cloud_testing.doubles import StaticTokens
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.settings import ForeignService
from localcloud.fabric.no_fabric import NoFabric
from localcloud.process.app import CloudApp
from localcloud.process.services import services

# Services where ownership decides, not only the role; their own tests have their rules.
OWN_RULES = {"identity", "object-store", "key-manager", "messaging"}
SEARCHES = (
    "/metric/v1/search/",
    "/metric/v1/aggregates",
    "/metric/v1/aggregation/",
    "/alarming/v2/query/",
)
READING = {"GET", "HEAD"}
SIGNALS = "http://127.0.0.1:8000/v1"


@pytest.fixture
async def app(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[CloudApp]:
    demo = StaticTokens.contexts["demo"]
    roles = {"reader": ("reader",), "guest": ("heat_stack_user",)}
    known = {name: replace(demo, roles=held, token=name) for name, held in roles.items()}
    monkeypatch.setattr(StaticTokens, "contexts", {**StaticTokens.contexts, **known})
    foreign = (ForeignService("cloudformation", SIGNALS),)
    cloud.settings = replace(cloud.settings, foreign_services=foreign)
    cloud.fabric = NoFabric()
    app = CloudApp(cloud, services(cloud))
    yield app
    for service in reversed(app.services):
        await service.stop()


@pytest.fixture
async def http(app: CloudApp, cloud: Cloud) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=cloud.settings.url) as client:
        yield client


def requests_of(service: LazyService) -> Iterator[tuple[str, str]]:
    """Yield every method and path of a service that needs a token."""
    for route in service.routes():
        if isinstance(route, Route):
            path = re.sub(r"\{[^}]*\}", "x", route.path)
            for method in sorted(route.methods or ()):
                if not service.is_public(method, path):
                    yield method, service.prefix + path


async def ask(http: httpx.AsyncClient, token: str, method: str, path: str, body: Any = None) -> int:
    headers = {"X-Auth-Token": token, "Client-ID": "11111111-1111-1111-1111-111111111111"}
    answer = await http.request(method, path, json=body, headers=headers)
    return answer.status_code


async def test_guest_may_use_no_route_of_other_services(
    app: CloudApp, http: httpx.AsyncClient
) -> None:
    decided_by_role = [each for each in app.services if each.type not in OWN_RULES]
    assert len(decided_by_role) == 10
    for service in decided_by_role:
        for method, path in requests_of(service):
            assert await ask(http, "guest", method, path) == 403, (method, path)


async def test_reader_may_use_no_route_that_writes(app: CloudApp, http: httpx.AsyncClient) -> None:
    for service in app.services:
        if service.type in OWN_RULES:
            continue
        for method, path in requests_of(service):
            status = await ask(http, "reader", method, path, {})
            if method not in READING and not path.startswith(SEARCHES):
                assert status == 403, (method, path)


@pytest.mark.parametrize(
    "path",
    [
        "/network/v2.0/networks",
        "/compute/v2.1/servers",
        "/image/v2/images",
        "/metric/v1/metric",
        "/alarming/v2/alarms",
        "/workflow/v2/workflows",
        "/dns/v2/zones",
        "/messaging/v2/queues",
    ],
)
async def test_reader_lists(http: httpx.AsyncClient, path: str) -> None:
    assert await ask(http, "reader", "GET", path) == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/metric/v1/search/resource/generic", {}),
        ("POST", "/alarming/v2/query/alarms", {}),
    ],
)
async def test_reader_searches(
    http: httpx.AsyncClient, method: str, path: str, body: dict[str, Any]
) -> None:
    assert await ask(http, "reader", method, path, body) == 200


@pytest.mark.parametrize("token", ["reader", "guest"])
@pytest.mark.parametrize("path", ["secrets", "containers", "orders"])
async def test_secrets_are_made_by_members_only(
    http: httpx.AsyncClient, token: str, path: str
) -> None:
    body = {"name": "x", "type": "generic", "meta": {}}
    assert await ask(http, token, "POST", f"/key-manager/v1/{path}", body) == 403


async def test_reader_writes_to_no_queue(http: httpx.AsyncClient) -> None:
    queue = "/messaging/v2/queues/q"
    assert await ask(http, "reader", "PUT", queue, {}) == 403
    message = {"messages": [{"body": 1, "ttl": 60}]}
    assert await ask(http, "reader", "POST", f"{queue}/messages", message) == 403


async def test_guest_uses_queues_and_subscribes_signals_only(http: httpx.AsyncClient) -> None:
    queue = "/messaging/v2/queues/q"
    assert await ask(http, "guest", "PUT", queue, {}) == 201
    message = {"messages": [{"body": 1, "ttl": 60}]}
    assert await ask(http, "guest", "POST", f"{queue}/messages", message) == 201
    assert await ask(http, "guest", "GET", f"{queue}/messages") == 200
    subscriptions = f"{queue}/subscriptions"
    signal = {"subscriber": f"{SIGNALS}/signal/arn?Signature=x", "ttl": 60}
    assert await ask(http, "guest", "POST", subscriptions, signal) == 201
    for address in (
        "http://127.0.0.1:8001/",
        "http://169.254.169.254/latest",
        "trust+http://127.0.0.1:8000/v1",
        "mailto:a@b.c",
    ):
        content = {"subscriber": address, "ttl": 60}
        assert await ask(http, "guest", "POST", subscriptions, content) == 403
        assert await ask(http, "demo", "POST", subscriptions, content) == 201

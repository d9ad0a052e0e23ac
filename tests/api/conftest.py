"""The REST application around a fake engine, reached over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import RestSettings
from stoker.clouds.web.templates import WebLimits, WebTemplates
from stoker.engine.model.requests import Caller
from stoker.kernel.errors import UNAVAILABLE, WRONG_SIGNATURE, ForbiddenError, RequestError

from .fake_service import PROJECT, FakeCatalogue, FakeService, one_engine

WEB = WebLimits()
CALLERS = {
    "user": Caller(PROJECT, "u1", "demo", frozenset({"member", "reader"}), token="user"),
    "admin": Caller("b" * 32, "u2", "admin", frozenset({"admin"}), is_admin=True, token="admin"),
}


@dataclass
class FakePolicy:
    """Allows all rules except the forbidden ones."""

    forbidden: set[str] = field(default_factory=lambda: {"stacks:global_index"})
    asked: list[str] = field(default_factory=list)

    def allows(self, rule: str, caller: Caller) -> bool:
        self.asked.append(rule)
        return rule not in self.forbidden


async def authenticate(headers: Mapping[str, str], project_id: str | None) -> Caller | None:
    return CALLERS.get(headers.get("x-auth-token", ""))


@dataclass
class FakeVerifier:
    """Accepts the signature ``good``; records its arguments."""

    caller: Caller = field(default_factory=lambda: Caller(PROJECT, "u", is_stack_user=True))
    shown: tuple[str, str, str, bytes] | None = None  # method, host, path and body

    async def __call__(
        self,
        *,
        method: str,
        host: str,
        path: str,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
    ) -> Caller:
        self.shown = (method, host, path, body)
        signatures = (params.get("Signature"), params.get("X-Amz-Signature"))
        if "down" in signatures:
            raise RequestError("no answer", UNAVAILABLE)
        if "good" not in signatures and "Signature=good" not in headers.get("authorization", ""):
            raise ForbiddenError("The signature is wrong.", WRONG_SIGNATURE)
        return self.caller


async def no_files(caller: Caller, container: str, without: Collection[str]) -> dict[str, str]:
    raise AssertionError("no container is read")


async def public_address(host: str, port: int) -> list[str]:
    return ["93.184.216.34"]


def templates(request: httpx.Request) -> httpx.Response:
    """The web, as far as templates are fetched from it."""
    if request.url.path == "/big":
        return httpx.Response(200, text="x" * 600_000)
    if request.url.path == "/t.yaml":
        return httpx.Response(200, text="heat_template_version: 2021-04-16")
    if request.url.path == "/down":
        raise httpx.ConnectError("refused")
    return httpx.Response(404)


@pytest.fixture
def service() -> FakeService:
    return FakeService()


@pytest.fixture
def verifier() -> FakeVerifier:
    return FakeVerifier()


@pytest.fixture
def policy() -> FakePolicy:
    return FakePolicy()


ClientFor = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def client_for(service: FakeService, policy: FakePolicy) -> AsyncIterator[ClientFor]:
    """Makes clients of an application with the given settings."""
    clients: list[httpx.AsyncClient] = []

    def make(
        token: str | None = "user",
        engines: Any = one_engine,
        web: WebLimits = WEB,
        files: Any = no_files,
        known: Any = authenticate,
        **options: Any,
    ) -> Any:
        settings = RestSettings(**options)
        fetch = WebTemplates(web, httpx.MockTransport(templates), public_address)
        app = build(
            service,
            FakeCatalogue(),
            known,
            policy,
            settings,
            engines,
            Fetching(fetch, files),
            asyncio.to_thread,
        )
        headers = {} if token is None else {"X-Auth-Token": token}
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url="http://api:8004", headers=headers)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.aclose()


@pytest.fixture
def client(client_for: ClientFor) -> httpx.AsyncClient:
    return client_for()


@pytest.fixture
def base() -> str:
    return f"/v1/{PROJECT}"

"""The API of configs and deployments on a store in memory, for people of two projects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet

from stoker.api.ports import Fetching
from stoker.api.rest.app import build
from stoker.api.rest.settings import RestSettings
from stoker.config.loading import load
from stoker.engine.model.limits import Limits
from stoker.engine.model.requests import Caller
from stoker.engine.service.signals.software import Software
from stoker.identity.policy import Policies
from stoker.kernel.ids import RandomIds
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.store import SqlStore
from tests.api.fake_service import FakeCatalogue, one_engine
from tests.store.inline import InlineRunner

OURS, THEIRS, USERS = "a" * 32, "b" * 32, "c" * 32
CALLERS = {
    "member": Caller(OURS, "u1", roles=frozenset({"member", "reader"})),
    "reader": Caller(OURS, "u2", roles=frozenset({"reader"})),
    "stranger": Caller(THEIRS, "u3", roles=frozenset({"member", "reader"})),
    "admin": Caller(THEIRS, "u4", roles=frozenset({"admin"}), is_admin=True),
    "agent": Caller(USERS, "u5", roles=frozenset({"heat_stack_user"}), is_stack_user=True),
}


@dataclass
class Clock:
    """A clock that is set by hand."""

    time: float = 1_790_000_000.0

    def now(self) -> float:
        return self.time


@dataclass
class Library:
    """Configs and deployments, as clients reach them."""

    store: SqlStore
    clock: Clock
    clients: dict[str, httpx.AsyncClient] = field(default_factory=dict)

    async def ask(
        self, who: str, method: str, path: str, body: Any = None, **query: Any
    ) -> httpx.Response:
        address = f"/v1/{CALLERS[who].project_id}{path}"
        content = None if body is None else json.dumps(body)
        return await self.clients[who].request(method, address, content=content, params=query)

    async def config(self, who: str = "member", **fields: Any) -> dict[str, Any]:
        """A new config, as it is shown."""
        answer = await self.ask(who, "POST", "/software_configs", {"name": "c", **fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json()["software_config"])

    async def deployment(self, config_id: str, who: str = "member", **fields: Any) -> Any:
        """A new deployment, as it is shown."""
        body = {"config_id": config_id, "server_id": "server", **fields}
        answer = await self.ask(who, "POST", "/software_deployments", body)
        assert answer.status_code == 200, answer.text
        return answer.json()["software_deployment"]


MakeLibrary = Callable[..., Library]


@pytest.fixture
async def library_of() -> AsyncIterator[MakeLibrary]:
    """Makes libraries with limits."""
    policies = Policies(load())
    made: list[Library] = []

    def make(**limits: Any) -> Library:
        store = SqlStore(
            open_database("sqlite://"), ColumnCipher(Fernet.generate_key()), InlineRunner()
        )
        library = Library(store, Clock())
        ports: Any = SimpleNamespace(
            store=store, clock=library.clock, ids=RandomIds(), limits=Limits(**limits)
        )
        service: Any = SimpleNamespace(software=Software(ports))

        async def known(headers: Mapping[str, str], project_id: str | None) -> Caller | None:
            return CALLERS.get(headers.get("x-auth-token", ""))

        app = build(
            service,
            FakeCatalogue(),
            known,
            policies,
            RestSettings(),
            one_engine,
            Fetching(None, None),  # type: ignore[arg-type]
            asyncio.to_thread,
        )
        for who in CALLERS:
            library.clients[who] = httpx.AsyncClient(
                transport=httpx.ASGITransport(app),
                base_url="http://api:8004",
                headers={"X-Auth-Token": who},
            )
        made.append(library)
        return library

    yield make
    for library in made:
        for client in library.clients.values():
            await client.aclose()


@pytest.fixture
def library(library_of: MakeLibrary) -> Library:
    return library_of()

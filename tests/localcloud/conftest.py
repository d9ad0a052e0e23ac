"""A cloud without the identity service and without servers, for tests of single services."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from localcloud.app import CloudApp
from localcloud.cloud import Cloud, Service
from localcloud.fabric.interface import Fabric
from localcloud.http import RequestContext, Unauthorized
from localcloud.settings import Settings
from localcloud.store import Store


class ManualClock:
    """A clock that stands still until it is told to move; sleeping moves it."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def advance(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)


class StaticTokens:
    """Tokens that are known beforehand: ``admin``, ``demo`` and ``other`` (three projects)."""

    contexts = {
        name: RequestContext(
            user_id=f"{name}-user",
            user_name=name,
            project_id=f"{name}-project",
            project_name=name,
            project_domain_id="default",
            roles=("admin", "manager", "member", "reader")
            if name == "admin"
            else ("member", "reader"),
            token=name,
        )
        for name in ("admin", "demo", "other")
    }

    def validate(self, token: str) -> RequestContext:
        if token not in self.contexts:
            raise Unauthorized("The request you have made requires authentication.")
        return self.contexts[token]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cloud(tmp_path: Path, clock: ManualClock) -> Iterator[Cloud]:
    """A cloud with static tokens and no fabric; put one into ``cloud.fabric`` where it matters."""
    settings = Settings(data_dir=tmp_path)
    settings.cloud_dir.mkdir()
    store = Store(settings.cloud_dir / "cloud.sqlite")
    yield Cloud(store, StaticTokens(), cast("Fabric", None), clock, settings)
    store.close()


@pytest.fixture
def client_of(cloud: Cloud) -> Callable[..., httpx.AsyncClient]:
    """Make an HTTP client of an application with these services, with this token."""

    def make(*services: Service, token: str | None = "demo", **options: Any) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=CloudApp(cloud, services))
        headers = {} if token is None else {"X-Auth-Token": token}
        return httpx.AsyncClient(
            transport=transport, base_url=cloud.settings.url, headers=headers, **options
        )

    return make

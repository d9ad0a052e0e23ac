"""A cloud without the identity service, for tests of single services; ``house`` has servers."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from hypothesis import HealthCheck, settings

from cloud_testing.compute import Api, House
from cloud_testing.doubles import ManualClock, StaticTokens
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Fabric
from localcloud.process.app import CloudApp

# A busy machine generates inputs slowly, and runs single examples slowly.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cloud(tmp_path: Path, clock: ManualClock) -> Iterator[Cloud]:
    """A cloud with static tokens and no fabric; put one into ``cloud.fabric`` where it matters."""
    own = Settings(data_dir=tmp_path)
    own.cloud_dir.mkdir()
    store = Store(own.cloud_dir / "cloud.sqlite")
    yield Cloud(store, StaticTokens(), cast("Fabric", None), clock, own)
    store.close()


@pytest.fixture
def client_of(cloud: Cloud) -> Callable[..., httpx.AsyncClient]:
    """Make an HTTP client of an application with these services, with this token."""

    def make(
        *services: LazyService, token: str | None = "demo", **options: Any
    ) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=CloudApp(cloud, services))
        headers = {} if token is None else {"X-Auth-Token": token}
        return httpx.AsyncClient(
            transport=transport, base_url=cloud.settings.url, headers=headers, **options
        )

    return make


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    house = House(tmp_path)
    await house.start()
    yield house
    await house.kill()


@pytest.fixture
def demo(house: House) -> Api:
    return house.user("demo")


@pytest.fixture
def other(house: House) -> Api:
    return house.user("other")


@pytest.fixture
def admin(house: House) -> Api:
    return house.user("admin")

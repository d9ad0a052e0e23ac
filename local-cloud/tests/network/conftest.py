from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from cloud_testing.network import Api
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.cloud import Cloud
from localcloud.network.service import NetworkService


@pytest.fixture
def fabric(cloud: Cloud) -> RecordingFabric:
    cloud.fabric = RecordingFabric()
    return cloud.fabric


@pytest.fixture
async def network_service(cloud: Cloud, fabric: RecordingFabric) -> AsyncIterator[NetworkService]:
    found = cloud.one(NetworkService)
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
async def apis(
    cloud: Cloud,
    network_service: NetworkService,
    client_of: Callable[..., httpx.AsyncClient],
) -> AsyncIterator[Callable[[str], Api]]:
    clients = {
        name: client_of(cloud.one(NetworkService), token=name)
        for name in ("admin", "demo", "other")
    }
    yield lambda name: Api(clients[name])
    for client in clients.values():
        await client.aclose()


@pytest.fixture
def demo(apis: Callable[[str], Api]) -> Api:
    return apis("demo")


@pytest.fixture
def other(apis: Callable[[str], Api]) -> Api:
    return apis("other")


@pytest.fixture
def admin(apis: Callable[[str], Api]) -> Api:
    return apis("admin")

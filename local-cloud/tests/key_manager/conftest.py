from collections.abc import AsyncIterator
from typing import Any

import pytest

from cloud_testing.caller import Caller
from localcloud.core.cloud import Cloud, Service
from localcloud.key_manager.routes import service as key_manager


@pytest.fixture
def service(cloud: Cloud) -> Service:
    return key_manager(cloud)


@pytest.fixture
async def keys(service: Service, client_of: Any) -> AsyncIterator[Caller]:
    """The key manager as a member of the project demo."""
    async with client_of(service, token=None) as client:
        yield Caller(client, "/key-manager/v1")
    await service.stop()

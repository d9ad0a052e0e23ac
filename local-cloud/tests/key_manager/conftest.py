from collections.abc import AsyncIterator
from typing import Any

import pytest

from cloud_testing.caller import Caller
from localcloud.core.cloud import Cloud, LazyService
from localcloud.key_manager.service import KeyManagerService


@pytest.fixture
def service(cloud: Cloud) -> LazyService:
    return KeyManagerService(cloud)


@pytest.fixture
async def keys(service: LazyService, client_of: Any) -> AsyncIterator[Caller]:
    """The key manager as a member of the project demo."""
    async with client_of(service, token=None) as client:
        yield Caller(client, "/key-manager/v1")
    await service.stop()

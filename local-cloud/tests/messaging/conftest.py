from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from cloud_testing.caller import Caller
from localcloud.core.cloud import Cloud, LazyService
from localcloud.messaging.service import MessagingService


@pytest.fixture
def service(cloud: Cloud) -> LazyService:
    return MessagingService(cloud)


@pytest.fixture
async def queues(service: LazyService, client_of: Any) -> AsyncIterator[Caller]:
    """The messaging service as a member of the project demo."""
    async with client_of(service, token=None) as client:
        yield Caller(client, "/messaging").of("demo", Client_ID=str(uuid4()))
    await service.stop()


@pytest.fixture
def reader(queues: Caller) -> Caller:
    """The same project, by another client."""
    return queues.of("demo", Client_ID=str(uuid4()))

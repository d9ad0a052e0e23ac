from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from cloud_testing.caller import Caller
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.cloud import Cloud, LazyService
from localcloud.dns.service import DnsService
from localcloud.fabric.interface import Fabric
from localcloud.process.addresses import claim_range


@pytest.fixture
def service(cloud: Cloud, tmp_path: Path) -> Iterator[LazyService]:
    """The DNS service of a cloud with addresses of its own."""
    claimed = claim_range(tmp_path / "range")
    cloud.settings = replace(cloud.settings, floating_cidr=claimed.cidr)
    cloud.fabric = cast("Fabric", RecordingFabric())
    yield DnsService(cloud)
    claimed.claim.close()


@pytest.fixture
async def names(service: LazyService, client_of: Any) -> AsyncIterator[Caller]:
    """The DNS service as a member of the project demo."""
    async with client_of(service, token=None) as client:
        yield Caller(client, "/dns/v2")
    await service.stop()

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from cloud_testing.caller import Caller
from cloud_testing.doubles import ManualClock
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.cloud import Cloud
from localcloud.fabric.interface import Fabric
from localcloud.metrics.service import MetricService


@pytest.fixture
def fabric(cloud: Cloud) -> RecordingFabric:
    made = RecordingFabric()
    cloud.fabric = cast("Fabric", made)
    return made


@pytest.fixture
async def metrics(
    cloud: Cloud, clock: ManualClock, fabric: RecordingFabric, client_of: Any
) -> AsyncIterator[Caller]:
    """The metric service as a member of the project demo."""
    mounted = MetricService(cloud)
    async with client_of(mounted, token=None) as client:
        yield Caller(client, "/metric").of("demo")
    await mounted.stop()

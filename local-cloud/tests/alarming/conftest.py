from collections.abc import AsyncIterator
from typing import Any, cast

import pytest

from cloud_testing.caller import Caller
from cloud_testing.compute import HeldClock
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.alarming.instance import Alarming
from localcloud.alarming.service import AlarmingService
from localcloud.core.cloud import Cloud
from localcloud.fabric.interface import Fabric
from localcloud.metrics.service import MetricService


@pytest.fixture
def clock() -> HeldClock:
    """A clock that does not move: only tests evaluate alarms."""
    held = HeldClock()
    held.goes.clear()
    return held


@pytest.fixture
def alarming(cloud: Cloud) -> Alarming:
    cloud.fabric = cast("Fabric", RecordingFabric())
    return cloud.one(Alarming)


@pytest.fixture
async def callers(
    cloud: Cloud, alarming: Alarming, client_of: Any
) -> AsyncIterator[tuple[Caller, Caller]]:
    services = [AlarmingService(cloud), MetricService(cloud)]
    async with client_of(*services, token=None) as client:
        yield Caller(client, "/alarming/v2"), Caller(client, "/metric/v1")
    for each in services:
        await each.stop()


@pytest.fixture
def alarms(callers: tuple[Caller, Caller]) -> Caller:
    """The alarm service as a member of the project demo."""
    return callers[0]


@pytest.fixture
def metrics(callers: tuple[Caller, Caller]) -> Caller:
    """The metric service as a member of the project demo."""
    return callers[1]

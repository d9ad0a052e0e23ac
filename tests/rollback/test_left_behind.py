"""A call that outlasts its operation: what it makes is found, or never made."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.engine_world import template
from tests.simulation.types import Types
from tests.simulation.world import CALLER, Clouds, EngineLife, Faults, Nobody, World

from stoker.clouds.workers import Workers
from stoker.engine.ports import Limits, Ports
from stoker.engine.requests import StackRequest
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.schema.resource_type import Call, Done, Outcome, ResourceType
from stoker.store.opening import OpenStore


class Slow(ResourceType):
    """An object whose creation takes longer than its stack may."""

    type_name = "Sim::Slow"
    service = "slow"

    def __init__(self) -> None:
        self.objects: set[str] = set()

    def create(self, call: Call) -> Outcome:
        time.sleep(1.5)
        self.objects.add(call.token)
        return Done(physical_id=call.token)

    def find(self, call: Call) -> str | None:
        return call.token if call.token in self.objects else None

    def delete(self, call: Call) -> Outcome:
        self.objects.discard(str(call.physical_id))
        return Done()


class OneType(Types):
    """The registry of one type."""

    def __init__(self, type_: ResourceType) -> None:
        self._types = {type_.type_name: type_}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[tuple[EngineLife, Slow]]:
    """An engine with threads, whose operations may take a second."""
    opened, clock, slow = OpenStore(None, tmp_path, None), SystemClock(), Slow()
    workers, nobody = Workers(clock), Nobody()
    ports = Ports(
        store=opened.store,
        types=OneType(slow),
        workers=workers,
        clouds=Clouds(World(1)),
        faults=Faults(),
        deferred=nobody,
        signallers=nobody,
        clock=clock,
        ids=RandomIds(),
        limits=Limits(timeout_mins=1 / 60, abandon_grace=0.1),
    )
    life = EngineLife(ports)
    yield life, slow
    await life.dispatch.close()
    workers.close()
    opened.close()


async def test_a_rollback_removes_what_a_call_makes_after_its_time(
    engine: tuple[EngineLife, Slow],
) -> None:
    life, slow = engine
    request = StackRequest(
        name="stack", template=template({"a": {"type": "Sim::Slow"}}), disable_rollback=False
    )
    address = await life.operations.create(CALLER, request)
    await life.dispatch.idle()
    stack = await life.ports.store.stack(address.id)
    assert stack is not None
    assert await life.ports.store.resources(address.id) == [], stack.reason
    await asyncio.sleep(1)
    assert slow.objects == set()

"""The servers of the cloud as resources whose metrics the cloud measures itself."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from cloud_testing.caller import Caller
from cloud_testing.compute import Api, House
from localcloud.fabric.interface import Traffic, Usage
from localcloud.metrics.instance import Metrics
from localcloud.metrics.service import MetricService
from localcloud.process.app import CloudApp


@pytest.fixture
async def metrics(house: House) -> AsyncIterator[Caller]:
    house.clock.goes.clear()  # nothing is measured but by the tests
    mounted = MetricService(house.cloud)
    transport = httpx.ASGITransport(app=CloudApp(house.cloud, [mounted]))
    async with httpx.AsyncClient(transport=transport, base_url="http://cloud") as client:
        yield Caller(client, "/metric").of("demo")
    await mounted.stop()


class Meter:
    """Lets servers use something, and has it measured."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._sampler = house.cloud.one(Metrics).state.sampler

    async def note(self, server_id: str, cpu: int, seconds: int = 5, **ports: Traffic) -> None:
        usage = Usage(cpu, 300 << 20, 1000, 2000, ports)
        self._house.fabric.usages = {server_id: usage}
        self._house.clock.advance(seconds)
        await self._sampler.measure()


async def _server(house: House, demo: Api, **fields: Any) -> str:
    made = await demo.boot(**fields)
    await house.settle()
    return str(made["id"])


async def test_what_a_server_uses_is_measured(house: House, demo: Api, metrics: Caller) -> None:
    server_id = await _server(house, demo, metadata={"metering.stack": "s"})
    meter = Meter(house)
    for number in range(13):
        await meter.note(server_id, number * 1_000_000_000)
    path = f"/v1/resource/instance/{server_id}"
    shown = await metrics.get(path)
    assert shown["display_name"] == "one"
    assert shown["metrics"].keys() >= {"cpu", "memory.usage", "vcpus"}
    query = "aggregation=rate:mean&granularity=10"
    rates = await metrics.get(f"{path}/metric/cpu/measures?{query}")
    # a second of work in five: two in each span of ten
    assert {row[2] for row in rates} == {2_000_000_000}
    memory = await metrics.get(f"{path}/metric/memory.usage/measures?granularity=60")
    assert memory[0][2] == 300
    found = await metrics.call(
        "POST", "/v1/search/resource/instance", {"=": {"metering.stack": "s"}}
    )
    assert [each["id"] for each in found] == [server_id]
    assert await metrics.of("other").get("/v1/resource/instance") == []
    await metrics.call("DELETE", path, expect=403)
    await metrics.call("POST", f"{path}/metric/cpu/measures", [], expect=403)


async def test_counter_continues_after_reboot(house: House, demo: Api, metrics: Caller) -> None:
    server_id = await _server(house, demo)
    meter = Meter(house)
    for cpu in (100, 200, 50, 90):
        await meter.note(server_id, cpu)
    path = f"/v1/resource/instance/{server_id}/metric/cpu/measures?granularity=10&aggregation=max"
    assert [row[2] for row in await metrics.get(path)] == [100, 250, 290]


async def test_ports_and_disks_are_resources_of_their_own(
    house: House, demo: Api, metrics: Caller
) -> None:
    network = await demo.network()
    server_id = await _server(house, demo, networks=[{"uuid": network}])
    (port,) = house.cloud.store.collection("network.port").find(device_id=server_id)
    meter = Meter(house)
    await meter.note(server_id, 0, **{port["id"]: Traffic(10, 1, 20, 2)})
    (interface,) = await metrics.get("/v1/resource/instance_network_interface")
    assert interface["instance_id"] == server_id
    where = f"/v1/metric/{interface['metrics']['network.outgoing.bytes']}/measures?granularity=10"
    assert (await metrics.get(where))[0][2] == 20
    (disk,) = await metrics.get("/v1/resource/instance_disk")
    where = f"/v1/metric/{disk['metrics']['disk.device.write.bytes']}/measures?granularity=10"
    assert (await metrics.get(where))[0][2] == 2000


async def test_metrics_go_with_their_server(house: House, demo: Api, metrics: Caller) -> None:
    server_id = await _server(house, demo)
    await Meter(house).note(server_id, 1)
    assert len(await metrics.get("/v1/metric")) > 4
    await demo.call("DELETE", f"/servers/{server_id}", expect=204)
    await house.settle()
    await metrics.get(f"/v1/resource/instance/{server_id}", expect=404)
    assert await metrics.get("/v1/metric") == []


async def test_unused_meters_measure_nothing(house: House, demo: Api, metrics: Caller) -> None:
    asked = []

    async def usage() -> dict[str, Usage]:
        asked.append(1)
        return {}

    house.fabric.usage = usage  # type: ignore[method-assign]
    await _server(house, demo)
    assert asked == []
    house.clock.goes.set()
    await metrics.get("/v1/resource/instance")
    sampler = house.cloud.one(Metrics).state.sampler
    await sampler.idle()
    assert 100 < len(asked) < 400
    count = len(asked)
    house.clock.advance(10_000)
    await metrics.get("/v1/resource/instance")
    await sampler.idle()
    assert len(asked) == count

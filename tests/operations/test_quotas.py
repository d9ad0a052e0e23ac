"""Quotas that plans count against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.clouds.fake_cloud import FakeCloud
from tests.engine_world import Lab, template
from tests.evaluating import with_helpers
from tests.network_world import in_network_world
from tests.simulation.types import Thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.engine.service.previews.previews import Previews
from stoker.engine.service.previews.quotas import use_of_create
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.schema.properties import Property, Type
from stoker.schema.quotas import Quota
from stoker.schema.resource_type import Call, Done, Outcome
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.source.source import Source

Resources = Mapping[str, Any]

SERVER = {
    "type": "OS::Nova::Server",
    "properties": {"flavor": "small", "image": "host", "networks": [{"network": "blue"}]},
}
PORT = {"type": "OS::Neutron::Port", "properties": {"network": "blue"}}


class Disk(Thing):
    """An object whose size counts."""

    type_name = "Sim::SizedDisk"
    properties = {"size": Property(Type.INTEGER, update_allowed=True)}
    attributes = {}
    quota = "volume/volumes"

    def create(self, call: Call) -> Outcome:
        return Done(call.physical_name)

    def quota_use(self, properties: Mapping[str, Any]) -> Mapping[str, int]:
        return {self.quota: 1, "volume/gigabytes": properties["size"]}


def volume(size: int) -> Resources:
    return {"type": "OS::Cinder::Volume", "properties": {"size": size}}


class Counting:
    """Clouds that return the requested use."""

    def __init__(self, clouds: Any) -> None:
        self._clouds = clouds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._clouds, name)

    def quotas(self, _stack: Any, use: Mapping[str, int]) -> Sequence[Quota]:
        found = []
        for key, number in use.items():
            service, _, name = key.partition("/")
            found.append(Quota(service, name, number, 5, 6))
        return found


async def create_use(previews: Previews, resources: Resources, **request: Any) -> Mapping[str, int]:
    body = StackRequest(name="another", template=template(resources), **request)
    plan = await previews.create(CALLER, body, quotas=True)
    return {each.name: each.requested for each in plan.quotas}


async def update_use(lab: Lab, previews: Previews, resources: Resources) -> Mapping[str, int]:
    body = StackRequest(template=template(resources))
    address = (await lab.stack()).address
    plan = await previews.update(CALLER, address, body, quotas=True)
    return {each.name: each.requested for each in plan.quotas}


def in_counting_world(story: Any) -> None:
    async def counted(lab: Lab, cloud: FakeCloud) -> None:
        clouds: Any = Counting(lab.engine.ports.clouds)
        ports = replace(lab.engine.ports, clouds=clouds)
        await story(lab, Previews(ports, Finder(ports)))

    in_network_world(counted, Disk())


def test_create_counts_resources_of_nested_stacks() -> None:
    async def story(lab: Lab, previews: Previews) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 3, "resource_def": {"type": "child.yaml"}},
        }
        files = {"child.yaml": str(template({"server": SERVER, "port": PORT}))}
        use = await create_use(previews, {"group": group, "volume": volume(7)}, files=files)
        assert use == {"small": 3, "instances": 3, "port": 6, "gigabytes": 7, "volumes": 1}

    in_counting_world(story)


def test_imported_and_external_objects_count_for_nothing() -> None:
    imported = {**volume(7), "metadata": {"stoker": {"import": "an-id"}}}
    external = {**volume(7), "external_id": "another-id"}
    parsed = parse(Source(template({"a": imported, "b": external, "c": PORT})))
    evaluation = Evaluation(parsed, with_helpers(), Registry())
    assert use_of_create(evaluation) == {"network/port": 1}


def test_update_counts_only_additions() -> None:
    async def story(lab: Lab, previews: Previews) -> None:
        net = {"type": "OS::Neutron::Net"}
        await lab.create(template({"net": net}))
        assert await lab.status() == "CREATE_COMPLETE"
        assert await update_use(lab, previews, {"net": net, "more": net, "volume": volume(2)}) == {
            "network": 1,
            "volumes": 1,
            "gigabytes": 2,
        }
        assert await update_use(lab, previews, {"net": net}) == {}

    in_counting_world(story)


def test_growth_counts_by_difference() -> None:
    async def story(lab: Lab, previews: Previews) -> None:
        def disk(size: int) -> Resources:
            return {"disk": {"type": "Sim::SizedDisk", "properties": {"size": size}}}

        await lab.create(template(disk(2)))
        assert await update_use(lab, previews, disk(5)) == {"gigabytes": 3}

    in_counting_world(story)


def test_preview_without_request_reads_no_quotas() -> None:
    async def story(lab: Lab, previews: Previews) -> None:
        body = StackRequest(name="another", template=template({"server": SERVER}))
        assert (await previews.create(CALLER, body)).quotas == ()

    in_counting_world(story)

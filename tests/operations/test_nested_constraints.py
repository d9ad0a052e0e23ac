"""Values of nested stacks that the cloud does not have are rejected with the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.network_world import AllTypes
from tests.simulation.world import CALLER, Clouds, World

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.values import replace
from stoker.template.definition import CustomCheck

CHILD = """
heat_template_version: 2018-08-31
parameters:
  flavor: {type: string, constraints: [{custom_constraint: nova.flavor}]}
resources:
  thing: {type: Sim::Thing, properties: {value: {get_param: flavor}}}
"""
MIDDLE = """
heat_template_version: 2018-08-31
parameters:
  flavor: {type: string}
resources:
  below: {type: child.yaml, properties: {flavor: {get_param: flavor}}}
"""
PORT = """
heat_template_version: 2018-08-31
parameters: {network: {type: string}}
resources:
  port:
    type: OS::Neutron::Port
    properties: {network: {get_param: network}}
"""
CLOUDFORMATION = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Key: {Type: "AWS::EC2::KeyPair::KeyName"}
Resources:
  Thing: {Type: "Sim::Thing", Properties: {value: {Ref: Key}}}
"""
FILES = {
    "child.yaml": CHILD,
    "middle.yaml": MIDDLE,
    "cloudformation.yaml": CLOUDFORMATION,
    "port.yaml": PORT,
}


class Catalog(Clouds):
    """Has some names, and records the requests."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.names = {"small", "large"}
        self.asked: list[str] = []
        self.answers = True

    def known_faults(self, stack: Stack, checks: Sequence[CustomCheck]) -> Sequence[str | None]:
        self.asked += [each.value for each in checks]
        lacks = [self.answers and each.value not in self.names for each in checks]
        return [
            f"there is no {each.value!r}" if absent else None
            for each, absent in zip(checks, lacks, strict=True)
        ]

    check = known_faults


class CatalogWorld(World):
    """A world whose cloud has a catalog."""

    def ports(self, *arguments: Any, **changes: Any) -> Ports:
        ports = super().ports(*arguments, **changes)
        return replace(ports, clouds=Catalog(self, ports.lease))


def in_catalog_world(story: Any) -> None:
    world = CatalogWorld(1, types=AllTypes())
    world.live(lambda engine: story(Lab(engine, world), engine.ports.clouds))


def nested(flavor: Any, file: str = "child.yaml", name: str = "flavor") -> Mapping[str, Any]:
    return {"type": file, "properties": {name: flavor}}


def group(flavor: str, count: int = 3) -> Mapping[str, Any]:
    properties = {"count": count, "resource_def": nested(flavor)}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


def cloudformation(key: str) -> Mapping[str, Any]:
    properties = {"TemplateURL": "cloudformation.yaml", "Parameters": {"Key": key}}
    return {"type": "AWS::CloudFormation::Stack", "properties": properties}


def wanted(**resources: Any) -> StackRequest:
    return StackRequest(name="stack", template=template(resources), files=FILES)


@pytest.mark.parametrize(
    ("resource", "place"),
    [
        pytest.param(nested("nope"), "resources.a.properties.flavor", id="passed on"),
        pytest.param(
            nested("nope", "middle.yaml"),
            "middle.yaml:6:42: resources.below.properties.flavor",
            id="grandchild",
        ),
        pytest.param(
            nested("nope", "port.yaml", "network"),
            "port.yaml:7:18: resources.port.properties.network",
            id="property",
        ),
        pytest.param(group("nope"), "resources.a.properties.resource_def.properties", id="group"),
        pytest.param(
            cloudformation("nope"), "cloudformation.yaml:4:3: Parameters.Key", id="CloudFormation"
        ),
    ],
)
def test_create_rejects_absent_values_of_nested_stacks(resource: Any, place: str) -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        for call in (lab.engine.operations.create, lab.engine.service.previews.create):
            with pytest.raises(DiagnosticError) as refused:
                await call(CALLER, wanted(a=resource))
            [fault] = refused.value.diagnostics
            assert str(fault).startswith(place)
            assert fault.message.split(",")[0] == "there is no 'nope'"
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    in_catalog_world(story)


def test_tree_asks_for_each_value_once() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        flavors = ["small", "large"] * 50
        many = {f"n{at}": nested(each, "middle.yaml") for at, each in enumerate(flavors)}
        await lab.engine.operations.create(CALLER, wanted(**many, group=group("small", 40)))
        assert sorted(catalog.asked) == ["large", "small"]

    in_catalog_world(story)


def test_fault_of_shared_file_names_each_nested_stack() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        port = nested("nope", "port.yaml", "network")
        properties = {"count": 3, "resource_def": port}
        group = {"type": "OS::Heat::ResourceGroup", "properties": properties}
        many = {f"n{at}": port for at in range(4)}
        for resources, places in (
            ({"a": port, "g": group}, "a, g/0"),
            (many, "n0, n1, n2 and 1 more"),
        ):
            with pytest.raises(DiagnosticError) as refused:
                await lab.engine.operations.create(CALLER, wanted(**resources))
            [fault] = refused.value.diagnostics
            assert fault.message == f"there is no 'nope', in {places}"

    in_catalog_world(story)


def test_rejected_parameter_is_not_repeated_below() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        constraints = [{"custom_constraint": "nova.flavor"}]
        parameters = {"flavor": {"type": "string", "constraints": constraints}}
        body = template(
            {"a": nested({"get_param": "flavor"}, "middle.yaml")}, parameters=parameters
        )
        given = {"flavor": "nope"}
        request = StackRequest(name="stack", template=body, files=FILES, parameters=given)
        with pytest.raises(DiagnosticError) as refused:
            await lab.engine.operations.create(CALLER, request)
        assert [each.path for each in refused.value.diagnostics] == [("parameters", "flavor")]

    in_catalog_world(story)


def test_update_rejects_new_absent_value_of_nested_stack() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        await lab.create(template({"a": group("small", 1)}), files=FILES)
        with pytest.raises(DiagnosticError, match="there is no 'nope'"):
            await lab.begin_update(template({"a": group("nope", 1)}), files=FILES)
        assert await lab.status() == "CREATE_COMPLETE"

    in_catalog_world(story)


def test_update_accepts_deleted_values_of_existing_members() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        await lab.create(template({"a": group("small", 2)}), files=FILES)
        catalog.names.clear()
        await lab.update(template({"a": group("small", 1)}), files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE"
        with pytest.raises(DiagnosticError, match="there is no 'small'"):
            await lab.begin_update(template({"a": group("small", 2)}), files=FILES)

    in_catalog_world(story)


def test_update_accepts_deleted_values_of_moved_stack() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        await lab.create(template({"a": group("small", 1)}), files=FILES)
        catalog.names.clear()
        await lab.update(template({"b": group("small", 1)}), files=FILES, moves={"a": "b"})
        assert await lab.status() == "UPDATE_COMPLETE"
        with pytest.raises(DiagnosticError, match="there is no 'small'"):
            await lab.begin_update(template({"c": group("small", 1)}), files=FILES)

    in_catalog_world(story)


def test_object_that_the_stack_creates_is_not_absent() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        pair = {"type": "OS::Nova::KeyPair", "properties": {"name": "nope"}}
        request = wanted(pair=pair, a=cloudformation("nope"))
        await lab.engine.service.previews.create(CALLER, request)

    in_catalog_world(story)


def test_cloud_without_answer_rejects_no_nested_value() -> None:
    async def story(lab: Lab, catalog: Catalog) -> None:
        catalog.answers = False
        await lab.create(template({"a": nested("nope")}), files=FILES)
        assert await lab.status() == "CREATE_COMPLETE"

    in_catalog_world(story)

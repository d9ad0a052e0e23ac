"""Objects in the cloud that prevent a create are found before the request is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.network_world import in_network_world
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError

Resources = Mapping[str, Any]

PAIR: Resources = {
    "pair": {
        "type": "OS::Nova::KeyPair",
        "properties": {"name": "alice", "public_key": "ssh-rsa AA"},
    }
}


def ports(**networks: Any) -> Resources:
    return {
        "port": {
            "type": "OS::Neutron::Port",
            "properties": {
                "network": networks["network"],
                "fixed_ips": [{"ip_address": networks["address"], **networks.get("more", {})}],
            },
        }
    }


async def judge(lab: Lab, resources: Resources, **request: Any) -> Sequence[str]:
    """Return the errors of a preview of a create."""
    body = StackRequest(name="another", template=template(resources), **request)
    try:
        await lab.engine.service.previews.create(CALLER, body)
    except DiagnosticError as refused:
        return [str(each) for each in refused.diagnostics]
    return []


def test_taken_name_is_rejected_with_the_request() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        assert await judge(lab, PAIR) == []
        cloud.tables["keypairs"]["alice"] = {"id": "alice", "name": "alice", "public_key": "ssh"}
        [fault] = await judge(lab, PAIR)
        assert fault == (
            "resources.pair: the key pair alice already exists, and belongs to no stack of this"
            " project: use another name, or import that object"
        )
        nested = {"child": {"type": "child.yaml"}}
        [fault] = await judge(lab, nested, files={"child.yaml": str(template(PAIR))})
        assert fault.startswith("child.yaml:1:")
        with pytest.raises(DiagnosticError, match="already exists"):
            await lab.begin_create(template(PAIR))

    in_network_world(story)


def test_own_name_is_no_obstacle_to_updates() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        await lab.create(template(PAIR))
        await lab.update(template({"renamed": PAIR["pair"]}))
        assert await lab.status() == "UPDATE_COMPLETE"
        [fault] = await judge(lab, PAIR)
        assert (
            "alice already exists, and belongs to the resource renamed of the stack stack" in fault
        )

    in_network_world(story)


def test_address_of_another_port_is_rejected() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        net = cloud.put("networks", name="blue")
        taken = [{"ip_address": "10.0.0.5", "subnet_id": "any"}]
        port = cloud.put("ports", network_id=net, fixed_ips=taken)
        assert await judge(lab, ports(network=net, address="10.0.0.6")) == []
        [fault] = await judge(lab, ports(network=net, address="10.0.0.5"))
        assert fault.startswith("resources.port.properties.fixed_ips[0].ip_address: the port")
        assert f"the port {port} has the address 10.0.0.5: choose another" in fault

    in_network_world(story)


def test_address_outside_existing_subnet_is_rejected() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        net = cloud.put("networks", name="blue")
        subnet = cloud.put("subnets", name="low", network_id=net, cidr="10.0.0.0/24")
        [fault] = await judge(lab, ports(network=net, address="10.0.1.5", more={"subnet": subnet}))
        assert "10.0.1.5 is not in 10.0.0.0/24, the range of the subnet low" in fault

    in_network_world(story)


def test_hidden_name_is_masked_in_the_error() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        cloud.tables["keypairs"]["alice"] = {"id": "alice", "name": "alice", "public_key": "ssh"}
        pair = {**PAIR["pair"], "properties": {"name": {"get_param": "name"}}}
        parameters = {"name": {"type": "string", "hidden": True}}
        body = template({"pair": pair}, parameters=parameters)
        request = StackRequest(name="another", template=body, parameters={"name": "alice"})
        with pytest.raises(DiagnosticError) as refused:
            await lab.engine.operations.create(CALLER, request)
        assert "alice" not in str(refused.value)
        assert "the key pair ****** already exists" in str(refused.value)

    in_network_world(story)


def test_broken_service_is_no_obstacle() -> None:
    async def story(lab: Lab, cloud: Any) -> None:
        cloud.tables["keypairs"]["alice"] = {"id": "alice", "name": "alice", "public_key": "ssh"}
        cloud.refuse("GET", "/os-keypairs", 503, "maintenance")
        assert await judge(lab, PAIR) == []

    in_network_world(story)

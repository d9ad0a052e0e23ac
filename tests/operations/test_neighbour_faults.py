"""Resources that the network service rejects because of other resources of the template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, template
from tests.network_world import in_network_world
from tests.simulation.world import CALLER

from stoker.engine.model.records import Stack
from stoker.engine.model.requests import StackRequest
from stoker.kernel.diagnostics import DiagnosticError

Resources = Mapping[str, Any]


def resource(type_name: str, **properties: Any) -> Mapping[str, Any]:
    return {"type": f"OS::Neutron::{type_name}", "properties": properties}


def ref(name: str) -> Mapping[str, str]:
    return {"get_resource": name}


NET: Resources = {
    "net": resource("Net"),
    "subnet": resource("Subnet", network=ref("net"), cidr="10.0.0.0/24"),
}
PORT = resource("Port", network=ref("net"))
REACHED: Resources = {
    **NET,
    "port": PORT,
    "address": resource("FloatingIP", floating_network="public", port_id=ref("port")),
}
INTERFACE = resource("RouterInterface", router=ref("router"), subnet=ref("subnet"))
GATEWAY = {"external_gateway_info": {"network": "public"}}


def port_at(address: str, subnet: Any) -> Resources:
    return resource(
        "Port", network=ref("net"), fixed_ips=[{"subnet": subnet, "ip_address": address}]
    )


async def judge(lab: Lab, resources: Resources, **request: Any) -> Sequence[str]:
    """Return the errors of a preview of a create."""
    body = StackRequest(name="stack", template=template(resources), **request)
    try:
        await lab.engine.service.previews.create(CALLER, body)
    except DiagnosticError as refused:
        return [str(each) for each in refused.diagnostics]
    return []


def faults_of(resources: Resources, **request: Any) -> Sequence[str]:
    found: list[str] = []

    async def story(lab: Lab, _: Any) -> None:
        found.extend(await judge(lab, resources, **request))

    in_network_world(story)
    return found


def test_address_outside_its_subnet_is_rejected() -> None:
    [fault] = faults_of({**NET, "port": port_at("10.0.1.5", ref("subnet"))})
    assert fault == (
        "resources.port.properties.fixed_ips[0].ip_address: 10.0.1.5 is not in 10.0.0.0/24, the"
        " range of the subnet subnet: choose an address of this range, or another subnet"
    )
    assert faults_of({**NET, "port": port_at("10.0.0.5", ref("subnet"))}) == []
    assert faults_of({**NET, "port": port_at("10.0.1.5", "existing")}) == []


def test_server_address_outside_its_subnet_is_rejected() -> None:
    networks = [{"network": ref("net"), "subnet": ref("subnet"), "fixed_ip": "10.0.1.5"}]
    properties = {"flavor": "small", "image": "host", "networks": networks}
    server = {"type": "OS::Nova::Server", "properties": properties}
    [fault] = faults_of({**NET, "server": server})
    assert fault.startswith("resources.server.properties.networks[0].fixed_ip: 10.0.1.5 is not in")


def test_allocation_pool_outside_its_subnet_is_rejected() -> None:
    pools = [{"start": "10.0.0.5", "end": "10.0.1.9"}]
    subnet = resource("Subnet", network=ref("net"), cidr="10.0.0.0/24", allocation_pools=pools)
    [fault] = faults_of({"net": resource("Net"), "subnet": subnet})
    assert "allocation_pools[0].end: 10.0.1.9 is not in 10.0.0.0/24" in fault


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        pytest.param({}, "no router connects net to the network", id="no router"),
        pytest.param(
            {"router": resource("Router"), "interface": INTERFACE},
            "the router has no external gateway",
            id="no gateway",
        ),
        pytest.param(
            {"router": resource("Router", **GATEWAY)}, "no router connects net", id="no interface"
        ),
    ],
)
def test_floating_ip_without_route_is_rejected(more: Resources, fault: str) -> None:
    [found] = faults_of({**REACHED, **more})
    assert found.startswith("resources.address.properties.port_id: the port port cannot be reached")
    assert fault in found
    nested = {"child": {"type": "child.yaml"}}
    files = {"child.yaml": str(template({**REACHED, **more}))}
    [found] = faults_of(nested, files=files)
    assert found.startswith("child.yaml:1:")


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"router": resource("Router", **GATEWAY), "i": INTERFACE}, id="router"),
        pytest.param(
            {"i": resource("RouterInterface", router="existing", subnet=ref("subnet"))},
            id="existing router",
        ),
        pytest.param(
            {
                "router": resource("Router"),
                "gateway": resource("RouterGateway", router_id=ref("router"), network="public"),
                "i": INTERFACE,
            },
            id="gateway of its own",
        ),
        pytest.param(
            {"routing": {"type": "OS::Heat::Value", "properties": {"value": ref("subnet")}}},
            id="subnet passed on",
        ),
        pytest.param(
            {
                "net": resource("Net", name="app"),
                "i": resource("RouterInterface", router="existing", subnet="app-subnet"),
            },
            id="network with a name",
        ),
        pytest.param(
            {"net": resource("Net", value_specs={}), "port": resource("Port", network="x")},
            id="existing network",
        ),
    ],
)
def test_floating_ip_with_possible_route_is_accepted(more: Resources) -> None:
    assert faults_of({**REACHED, **more}) == []


def test_floating_ip_of_existing_network_is_accepted() -> None:
    async def story(lab: Lab, _: Any) -> None:
        await lab.create(template(NET))
        assert await lab.status() == "CREATE_COMPLETE"
        # A router that the stack does not know may have been connected since.
        await lab.begin_update(template(REACHED))

    in_network_world(story)


@pytest.mark.parametrize("declared", [True, False])
def test_floating_ip_of_renamed_network_is_accepted(*, declared: bool) -> None:
    async def story(lab: Lab, _: Any) -> None:
        subnet = resource("Subnet", network=ref("old"), cidr="10.0.0.0/24")
        await lab.create(template({"old": NET["net"], "subold": subnet}))
        assert await lab.status() == "CREATE_COMPLETE"
        metadata = {"metadata": {"stoker": {"moved_from": "old"}}} if declared else {}
        moved = {**REACHED, "net": {**NET["net"], **metadata}}
        moves = {"subold": "subnet", **({} if declared else {"old": "net"})}
        await lab.begin_update(template(moved), moves=moves)

    in_network_world(story)


def test_service_without_gateways_rejects_no_floating_ip() -> None:
    async def story(lab: Lab, _: Any) -> None:
        class Other(type(lab.engine.ports.clouds)):  # type: ignore[misc]
            def lacking(self, _stack: Stack, checks: Sequence[Any]) -> Sequence[str | None]:
                return ["Required extension is not available." for _ in checks]

        clouds: Any = Other(lab.world.network)  # type: ignore[attr-defined]
        operations = lab.unheard(clouds=clouds)
        await operations.create(CALLER, StackRequest(name="stack", template=template(REACHED)))

    in_network_world(story)

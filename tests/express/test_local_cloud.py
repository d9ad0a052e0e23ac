"""Express operations in the local cloud, with servers that boot slowly."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.recovery.service import Service, until

BOOT_SECONDS = 4
NETS = [{"network": {"get_resource": "net"}}]
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.20.0.0/24"},
        },
        "router": {
            "type": "OS::Neutron::Router",
            "properties": {"external_gateway_info": {"network": "public"}},
        },
        "interface": {
            "type": "OS::Neutron::RouterInterface",
            "properties": {
                "router": {"get_resource": "router"},
                "subnet": {"get_resource": "subnet"},
            },
        },
        "server": {
            "type": "OS::Nova::Server",
            "properties": {"image": "host", "flavor": "slow", "networks": NETS},
        },
        "user": {
            "type": "OS::Nova::Server",
            "properties": {
                "image": "host",
                "flavor": "slow",
                "networks": NETS,
                "metadata": {"peer": {"get_attr": ["server", "first_address"]}},
            },
        },
        "address": {
            "type": "OS::Neutron::FloatingIP",
            "depends_on": "interface",
            "properties": {"floating_network": "public"},
        },
        "association": {
            "type": "OS::Neutron::FloatingIPAssociation",
            "properties": {
                "floatingip_id": {"get_resource": "address"},
                "port_id": {
                    "get_attr": ["server", "addresses", {"get_resource": "net"}, 0, "port"]
                },
            },
        },
    },
    "outputs": {"peer": {"value": {"get_attr": ["server", "first_address"]}}},
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    running = Service(tmp_path_factory.mktemp("express") / "data")
    running.start()
    token, _ = running.authenticate("stoker-admin")
    with httpx.Client(
        base_url=f"{running.cloud_url}/compute/v2.1", headers={"X-Auth-Token": token}, timeout=30
    ) as nova:
        size = {"name": "slow", "ram": 128, "vcpus": 1, "disk": 1}
        made = nova.post("/flavors", json={"flavor": size}).raise_for_status().json()["flavor"]
        specs = {"extra_specs": {"localcloud:boot_seconds": str(BOOT_SECONDS)}}
        nova.post(f"/flavors/{made['id']}/os-extra_specs", json=specs).raise_for_status()
    yield running
    running.stop()


def status(service: Service, name: str) -> str | None:
    stack = service.stack(name)
    return stack and str(stack["stack_status"])


def resources(service: Service, name: str) -> dict[str, str]:
    """Return the status of each resource."""
    found = service.get(f"/stacks/{name}/resources")["resources"]
    return {each["resource_name"]: each["resource_status"] for each in found}


def events(service: Service, name: str) -> list[str]:
    found = service.get(f"/stacks/{name}/events?sort_dir=asc")["events"]
    return [f"{event['resource_name']} {event['resource_status']}" for event in found]


def create(service: Service, name: str, *, express: bool) -> None:
    body = {"stack_name": name, "template": TEMPLATE, "express": express}
    assert service.request("POST", "/stacks", body).status_code == 201


def test_address_is_associated_before_server_has_booted(service: Service) -> None:
    create(service, "early", express=True)
    until(lambda: status(service, "early") == "CREATE_COMPLETE", "the stack is complete", 60)
    order = events(service, "early")
    settled = order.index("server CREATE_COMPLETE")
    assert order.index("association CREATE_COMPLETE") < settled
    assert order.index("user CREATE_IN_PROGRESS") < settled
    stack = service.stack("early")
    assert stack is not None
    address = f"/stacks/early/{stack['id']}"
    (output,) = service.get(address)["stack"]["outputs"]
    assert output["output_value"].startswith("10.20.0.")
    service.request("DELETE", f"{address}?express=true")
    until(lambda: status(service, "early") is None, "the stack is gone", 60)


def test_killed_service_completes_express_create(service: Service) -> None:
    create(service, "killed", express=True)
    until(
        lambda: resources(service, "killed").get("association") == "CREATE_COMPLETE",
        "the address is associated",
    )
    assert resources(service, "killed")["server"] == "CREATE_IN_PROGRESS"
    service.kill()
    service.start()
    until(lambda: status(service, "killed") == "CREATE_COMPLETE", "the stack is complete", 90)
    order = events(service, "killed")
    assert order.count("server CREATE_COMPLETE") == order.count("user CREATE_COMPLETE") == 1


def test_address_waits_for_server_without_express(service: Service) -> None:
    create(service, "usual", express=False)
    until(lambda: status(service, "usual") == "CREATE_COMPLETE", "the stack is complete", 60)
    order = events(service, "usual")
    assert order.index("server CREATE_COMPLETE") < order.index("association CREATE_IN_PROGRESS")

"""The network service for the compute service, and its state after a restart."""

from typing import Any

import pytest

from cloud_testing.network import Api
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.core.cloud import Cloud
from localcloud.network.service import NetworkService, PortRequest, ServerPlug
from localcloud.web.http import ApiError, RequestContext

DEMO = RequestContext(user_id="demo-user", project_id="demo-project", roles=("member",))


async def _behind_router(demo: Api) -> Any:
    network, subnet = await demo.net()
    await demo.update(
        "subnet",
        subnet["id"],
        dns_nameservers=["9.9.9.9"],
        host_routes=[{"destination": "10.5.0.0/16", "nexthop": "10.0.0.9"}],
    )
    info = {"network_id": await demo.public()}
    router = await demo.create("router", external_gateway_info=info)
    body = {"subnet_id": subnet["id"]}
    await demo.call("PUT", f"/routers/{router['id']}/add_router_interface", body)
    return network


async def test_server_gets_fully_configured_port(
    demo: Api, network_service: NetworkService, fabric: RecordingFabric
) -> None:
    network = await _behind_router(demo)
    plug = ServerPlug("server-1", hostname="web")
    request = PortRequest(network_id=network["id"], fixed_ip="10.0.0.20")
    port = await network_service.create_port_for_server(DEMO, request, plug)
    shown = await demo.show("port", port["id"])
    assert shown["status"] == "ACTIVE"
    assert shown["device_owner"] == "compute:nova"
    assert shown["dns_assignment"][0]["hostname"] == "web"
    declared = network_service.fabric_port(port["id"])
    assert fabric.ports[port["id"]] == declared
    (address,) = declared.addresses
    assert (address.ip, address.prefix_length, address.gateway) == ("10.0.0.20", 24, "10.0.0.1")
    assert address.dns == ("9.9.9.9",)
    assert address.routes == (("10.5.0.0/16", "10.0.0.9"),)

    floating_ip = await demo.create(
        "floatingip", floating_network_id=await demo.public(), port_id=port["id"]
    )
    addresses = network_service.addresses("server-1")["net"]
    assert [(a["addr"], a["OS-EXT-IPS:type"]) for a in addresses] == [
        ("10.0.0.20", "fixed"),
        (floating_ip["floating_ip_address"], "floating"),
    ]
    data = network_service.network_data("server-1")
    assert data["links"][0]["ethernet_mac_address"] == port["mac_address"]
    assert data["networks"][0]["routes"][0] == {
        "network": "0.0.0.0",
        "netmask": "0.0.0.0",
        "gateway": "10.0.0.1",
    }


async def test_created_ports_are_deleted_with_server_others_stay(
    demo: Api, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    mine = await demo.create("port", network_id=network["id"])
    plug = ServerPlug("server-1")
    made = await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), plug
    )
    await network_service.create_port_for_server(DEMO, PortRequest(port_id=mine["id"]), plug)
    order = [port["id"] for port in network_service.ports("server-1")]
    assert order == [made["id"], mine["id"]]
    with pytest.raises(ApiError) as refusal:
        await network_service.create_port_for_server(
            DEMO, PortRequest(port_id=mine["id"]), ServerPlug("server-2")
        )
    assert (refusal.value.status, refusal.value.type) == (409, "PortInUse")
    await network_service.release_server("server-1")
    (left,) = await demo.list("port", f"network_id={network['id']}")
    assert left["id"] == mine["id"]
    assert (left["device_id"], left["status"]) == ("", "DOWN")


async def test_networks_that_servers_cannot_use_are_refused(
    demo: Api, network_service: NetworkService
) -> None:
    empty = await demo.create("network")

    def refusal(request: PortRequest) -> str:
        with pytest.raises(ApiError) as error:
            network_service.check_port_request(DEMO, request)
        return error.value.type

    missing = "00000000-0000-0000-0000-000000000000"
    assert refusal(PortRequest(network_id=empty["id"])) == "NetworkRequiresSubnet"
    assert refusal(PortRequest(network_id=missing)) == "NetworkNotFound"
    assert refusal(PortRequest(port_id=missing)) == "PortNotFound"
    public = await demo.public()
    assert refusal(PortRequest(network_id=public)) == "ExternalNetworkAttachForbidden"
    assert network_service.available_networks(DEMO) == [
        network_service.state.get("network", empty["id"])
    ]


async def test_a_port_that_is_deleted_is_unplugged(
    demo: Api, admin: Api, network_service: NetworkService, fabric: RecordingFabric
) -> None:
    network, _ = await demo.net()
    port = await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-1")
    )
    assert await demo.refused_delete("port", port["id"], 403) == "PolicyNotAuthorized"
    await admin.delete("port", port["id"])
    assert ("unplug", port["id"]) in fabric.calls
    assert network_service.addresses("server-1") == {}


async def test_security_groups_of_a_running_server_change(
    demo: Api, network_service: NetworkService
) -> None:
    network, _ = await demo.net()
    await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-1")
    )
    web = await demo.create("security_group", name="web")
    assert network_service.find_security_group(DEMO, "web")["id"] == web["id"]
    await network_service.add_security_group("server-1", web["id"])
    names = [group["name"] for group in network_service.security_groups("server-1")]
    assert names == ["default", "web"]
    await network_service.remove_security_group("server-1", web["id"])
    with pytest.raises(ApiError):
        await network_service.remove_security_group("server-1", web["id"])


async def test_after_a_restart_everything_is_declared_again(
    cloud: Cloud, demo: Api, network_service: NetworkService, fabric: RecordingFabric
) -> None:
    network = await _behind_router(demo)
    port = await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-1")
    )
    await demo.create("floatingip", floating_network_id=await demo.public(), port_id=port["id"])
    fresh = RecordingFabric()
    second_life = Cloud(cloud.store, cloud.tokens, fresh, cloud.clock, cloud.settings)
    restarted = NetworkService(second_life)
    await restarted.start()
    assert fresh.networks == fabric.networks
    assert fresh.routers == fabric.routers
    assert fresh.ports == fabric.ports
    assert fresh.floating_ips == fabric.floating_ips
    externals = [n for n in restarted.state.all("network").values() if n["router:external"]]
    assert len(externals) == 1
    again = await restarted.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-2")
    )
    assert again["fixed_ips"] != port["fixed_ips"]
    await restarted.stop()


async def test_device_ids_grant_no_access_to_others(
    demo: Api, other: Api, network_service: NetworkService, fabric: RecordingFabric
) -> None:
    network, _ = await demo.net()
    await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-1")
    )
    router = await demo.create("router")
    foreign, _ = await other.net("10.8.0.0/24")
    base = {"network_id": foreign["id"]}
    values = {"device_id": router["id"], "device_owner": "network:router_interface"}
    assert await other.refused_create("port", 403, **base, **values) == "PolicyNotAuthorized"
    fake = {"device_id": "server-1", "device_owner": "compute:nova"}
    port = await other.create("port", **base, **fake)
    assert port["id"] not in [mine["id"] for mine in network_service.ports("server-1")]
    assert port["id"] not in fabric.ports
    await network_service.release_server("server-1")
    assert (await other.show("port", port["id"]))["device_id"] == "server-1"


async def test_a_port_whose_device_is_cleared_is_unplugged(
    demo: Api, network_service: NetworkService, fabric: RecordingFabric
) -> None:
    network, _ = await demo.net()
    port = await network_service.create_port_for_server(
        DEMO, PortRequest(network_id=network["id"]), ServerPlug("server-1")
    )
    await demo.update("port", port["id"], device_id="")
    assert ("unplug", port["id"]) in fabric.calls
    assert network_service.ports("server-1") == []

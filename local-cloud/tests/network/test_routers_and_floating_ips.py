"""Routers and floating IPs over the API, and their declarations to the fabric."""

from typing import Any

from cloud_testing.network import Api
from cloud_testing.recording_fabric import RecordingFabric
from localcloud.fabric.interface import Forwarding


async def _routed(demo: Api, cidr: str = "10.0.0.0/24") -> tuple[Any, Any, Any]:
    network, subnet = await demo.net(cidr)
    gateway = {"network_id": await demo.public()}
    router = await demo.create("router", name="r", external_gateway_info=gateway)
    body = {"subnet_id": subnet["id"]}
    await demo.call("PUT", f"/routers/{router['id']}/add_router_interface", body)
    return network, subnet, router


async def test_a_router_joins_a_subnet_at_its_gateway(demo: Api, fabric: RecordingFabric) -> None:
    network, subnet, router = await _routed(demo)
    (port,) = await demo.list("port", f"device_id={router['id']}")
    assert port["device_owner"] == "network:router_interface"
    assert port["fixed_ips"] == [{"subnet_id": subnet["id"], "ip_address": "10.0.0.1"}]
    assert port["status"] == "ACTIVE"
    declared = fabric.routers[router["id"]]
    assert [leg.network_id for leg in declared.legs] == [network["id"]]
    assert declared.legs[0].addresses[0].ip == "10.0.0.1"
    assert declared.gateway is not None
    assert declared.gateway.addresses[0].gateway == "127.24.4.1"
    assert declared.snat is True


async def test_a_router_with_interfaces_stays(demo: Api, fabric: RecordingFabric) -> None:
    _, subnet, router = await _routed(demo)
    assert await demo.refused_delete("router", router["id"], 409) == "RouterInUse"
    (port,) = await demo.list("port", f"device_id={router['id']}")
    assert await demo.refused_delete("port", port["id"], 409) == "ServicePortInUse"
    assert await demo.refused_delete("subnet", subnet["id"], 409) == "SubnetInUse"
    body = {"subnet_id": subnet["id"]}
    path = f"/routers/{router['id']}/remove_router_interface"
    gone = await demo.call("PUT", path, body)
    assert gone["port_id"] == port["id"]
    assert gone["subnet_ids"] == [subnet["id"]]
    error = await demo.refused("PUT", path, body, 404)
    assert error == "RouterInterfaceNotFoundForSubnet"
    await demo.delete("router", router["id"])
    assert fabric.routers == {}


async def test_a_router_takes_over_a_port(demo: Api) -> None:
    network, subnet = await demo.net()
    router = await demo.create("router")
    port = await demo.create("port", network_id=network["id"])
    path = f"/routers/{router['id']}"
    added = await demo.call("PUT", f"{path}/add_router_interface", {"port_id": port["id"]})
    assert added["subnet_id"] == subnet["id"]
    body = {"port_id": port["id"]}
    other = await demo.create("router")
    error = await demo.refused("PUT", f"/routers/{other['id']}/add_router_interface", body, 409)
    assert error == "PortInUse"
    await demo.call("PUT", f"{path}/remove_router_interface", body)
    assert await demo.refused("GET", f"/ports/{port['id']}", None, 404) == "PortNotFound"


async def test_interfaces_that_make_no_sense_are_refused(demo: Api) -> None:
    _, subnet, router = await _routed(demo)
    path = f"/routers/{router['id']}/add_router_interface"
    again = await demo.refused("PUT", path, {"subnet_id": subnet["id"]}, 400)
    assert again == "BadRequest"
    assert await demo.refused("PUT", path, {}, 400) == "BadRequest"
    both = {"subnet_id": subnet["id"], "port_id": subnet["id"]}
    assert await demo.refused("PUT", path, both, 400) == "BadRequest"
    _, overlapping = await demo.net("10.0.0.0/25")
    body = {"subnet_id": overlapping["id"]}
    assert await demo.refused("PUT", path, body, 400) == "BadRequest"
    network = await demo.create("network")
    bare = await demo.create(
        "subnet", network_id=network["id"], cidr="10.9.0.0/24", gateway_ip=None
    )
    assert await demo.refused("PUT", path, {"subnet_id": bare["id"]}, 400) == "BadRequest"


async def test_gateways_are_external_networks(demo: Api) -> None:
    network, _ = await demo.net()
    info = {"network_id": network["id"]}
    error = await demo.refused_create("router", 400, external_gateway_info=info)
    assert error == "BadRequest"
    assert await demo.list("router") == []
    snat = {"network_id": await demo.public(), "enable_snat": False}
    error = await demo.refused_create("router", 403, external_gateway_info=snat)
    assert error == "PolicyNotAuthorized"


async def test_administrators_choose_the_outer_address_and_snat(
    admin: Api, fabric: RecordingFabric
) -> None:
    info = {
        "network_id": await admin.public(),
        "enable_snat": False,
        "external_fixed_ips": [{"ip_address": "127.24.4.99"}],
    }
    router = await admin.create("router", external_gateway_info=info, distributed=False)
    shown = router["external_gateway_info"]
    assert shown["external_fixed_ips"][0]["ip_address"] == "127.24.4.99"
    assert fabric.routers[router["id"]].snat is False
    cleared = await admin.update("router", router["id"], external_gateway_info=None)
    assert cleared["external_gateway_info"] is None
    assert fabric.routers[router["id"]].gateway is None


async def test_extra_routes_lead_to_neighbours(demo: Api, fabric: RecordingFabric) -> None:
    _, subnet, router = await _routed(demo)
    route = {"destination": "192.168.0.0/16", "nexthop": "10.0.0.77"}
    far = {"destination": "192.168.0.0/16", "nexthop": "172.16.0.1"}
    error = await demo.refused_update("router", router["id"], 400, routes=[far])
    assert error == "InvalidRoutes"
    path = f"/routers/{router['id']}"
    body = {"router": {"routes": [route]}}
    added = await demo.call("PUT", f"{path}/add_extraroutes", body)
    again = await demo.call("PUT", f"{path}/add_extraroutes", body)
    assert added["router"]["routes"] == again["router"]["routes"] == [route]
    assert fabric.routers[router["id"]].routes == (("192.168.0.0/16", "10.0.0.77"),)
    out = {"subnet_id": subnet["id"]}
    error = await demo.refused("PUT", f"{path}/remove_router_interface", out, 409)
    assert error == "RouterInterfaceInUseByRoute"
    removed = await demo.call("PUT", f"{path}/remove_extraroutes", body)
    assert removed["router"]["routes"] == []


async def test_floating_ip_leads_to_port_behind_router(demo: Api, fabric: RecordingFabric) -> None:
    network, _, router = await _routed(demo)
    port = await demo.create("port", network_id=network["id"])
    public = await demo.public()
    floating_ip = await demo.create(
        "floatingip", floating_network_id=public, port_id=port["id"], description="d"
    )
    assert floating_ip["status"] == "ACTIVE"
    assert floating_ip["fixed_ip_address"] == "10.0.0.2"
    assert floating_ip["router_id"] == router["id"]
    assert floating_ip["port_details"]["network_id"] == network["id"]
    declared = fabric.floating_ips[floating_ip["id"]]
    assert declared.address == floating_ip["floating_ip_address"]
    assert declared.fixed_ip == "10.0.0.2"

    fabric.listening.append(Forwarding(floating_ip["id"], "tcp", "127.24.4.3", 8080, 80))
    shown = await demo.show("floatingip", floating_ip["id"])
    assert shown["stoker:forwardings"] == [
        {"protocol": "tcp", "host": "127.24.4.3", "port": 8080, "server_port": 80}
    ]

    off = await demo.update("floatingip", floating_ip["id"], port_id=None)
    assert (off["status"], off["port_id"], off["router_id"]) == ("DOWN", None, None)
    assert fabric.floating_ips == {}


async def test_floating_ip_blocks_removal_of_router(demo: Api) -> None:
    network, subnet, router = await _routed(demo)
    port = await demo.create("port", network_id=network["id"])
    floating_ip = await demo.create(
        "floatingip", floating_network_id=await demo.public(), port_id=port["id"]
    )
    path = f"/routers/{router['id']}/remove_router_interface"
    error = await demo.refused("PUT", path, {"subnet_id": subnet["id"]}, 409)
    assert error == "RouterInterfaceInUseByFloatingIP"
    error = await demo.refused_update("router", router["id"], 409, external_gateway_info={})
    assert error == "RouterExternalGatewayInUseByFloatingIp"
    await demo.delete("floatingip", floating_ip["id"])
    await demo.call("PUT", path, {"subnet_id": subnet["id"]})
    await demo.delete("router", router["id"])


async def test_bindings_that_cannot_work_are_refused(demo: Api, other: Api) -> None:
    public = await demo.public()
    network, _ = await demo.net()
    port = await demo.create("port", network_id=network["id"])
    base = {"floating_network_id": public}
    error = await demo.refused_create("floatingip", 404, port_id=port["id"], **base)
    assert error == "ExternalGatewayForFloatingIPNotFound"
    error = await other.refused_create("floatingip", 404, port_id=port["id"], **base)
    assert error == "PortNotFound"
    error = await demo.refused_create("floatingip", 400, floating_network_id=network["id"])
    assert error == "BadRequest"
    error = await demo.refused_create("floatingip", 400, fixed_ip_address="10.0.0.2", **base)
    assert error == "BadRequest"
    assert await demo.list("floatingip") == []


async def test_one_fixed_address_has_one_floating_ip(demo: Api) -> None:
    network, _, _ = await _routed(demo)
    port = await demo.create("port", network_id=network["id"])
    base = {"floating_network_id": await demo.public(), "port_id": port["id"]}
    await demo.create("floatingip", **base)
    error = await demo.refused_create("floatingip", 409, **base)
    assert error == "FloatingIPPortAlreadyAssociated"


async def test_a_floating_ip_outlives_its_port(demo: Api, fabric: RecordingFabric) -> None:
    network, _, _ = await _routed(demo)
    port = await demo.create("port", network_id=network["id"])
    floating_ip = await demo.create(
        "floatingip", floating_network_id=await demo.public(), port_id=port["id"]
    )
    await demo.delete("port", port["id"])
    shown = await demo.show("floatingip", floating_ip["id"])
    assert (shown["status"], shown["port_id"]) == ("DOWN", None)
    assert fabric.floating_ips == {}


async def test_an_administrator_names_the_floating_address(admin: Api, demo: Api) -> None:
    public = await admin.public()
    values = {"floating_network_id": public, "floating_ip_address": "127.24.4.200"}
    floating_ip = await admin.create("floatingip", **values)
    assert floating_ip["floating_ip_address"] == "127.24.4.200"
    assert await admin.refused_create("floatingip", 409, **values) == "IpAddressAlreadyAllocated"
    assert await demo.refused_create("floatingip", 403, **values) == "PolicyNotAuthorized"


async def test_machine_refusal_is_shown_as_status(demo: Api, fabric: RecordingFabric) -> None:
    fabric.refusals["ensure_router"] = "no bridge"
    router = await demo.create("router")
    assert (await demo.show("router", router["id"]))["status"] == "ERROR"
    fabric.refusals.clear()
    await demo.update("router", router["id"], name="again")
    assert (await demo.show("router", router["id"]))["status"] == "ACTIVE"

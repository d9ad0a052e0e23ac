"""A running server reads current metadata, and is booted again when it reboots itself."""

import asyncio
from typing import Any

from cloud_testing.compute import Api, House
from localcloud.fabric.interface import Server

CONNECTED = {"metadata": {"stage": "one"}}


async def connected(house: House, demo: Api) -> tuple[str, str, str]:
    """Ids of a running server, of its port and of the external network."""
    network = await demo.network()
    subnets = await demo.get(f"/network/v2.0/subnets?network_id={network}")
    public = (await demo.get("/network/v2.0/networks?name=public"))["networks"][0]["id"]
    gateway = {"external_gateway_info": {"network_id": public}}
    router = await demo.call("POST", "/network/v2.0/routers", {"router": gateway}, 201)
    await demo.call(
        "PUT",
        f"/network/v2.0/routers/{router['router']['id']}/add_router_interface",
        {"subnet_id": subnets["subnets"][0]["id"]},
    )
    made = await demo.boot(networks=[{"uuid": network}], **CONNECTED)
    await house.settle()
    ports = await demo.get(f"/network/v2.0/ports?device_id={made['id']}")
    return made["id"], ports["ports"][0]["id"], public


async def told(house: House, server_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata that the server reads once all changes have arrived."""
    await house.settle()
    for _ in range(5):
        await asyncio.sleep(0)
    server = house.fabric.servers[server_id]
    return server.metadata, server.ec2_metadata


async def test_floating_ip_appears_in_metadata_and_disappears(house: House, demo: Api) -> None:
    server_id, port_id, public = await connected(house, demo)
    wish = {"floatingip": {"floating_network_id": public, "port_id": port_id}}
    made = (await demo.call("POST", "/network/v2.0/floatingips", wish, 201))["floatingip"]
    _, ec2 = await told(house, server_id)
    assert ec2["public-ipv4"] == made["floating_ip_address"]
    gone = {"floatingip": {"port_id": None}}
    await demo.call("PUT", f"/network/v2.0/floatingips/{made['id']}", gone)
    _, ec2 = await told(house, server_id)
    assert ec2["public-ipv4"] == ""


async def test_metadata_items_and_names_are_current(house: House, demo: Api) -> None:
    server_id, _, _ = await connected(house, demo)
    await demo.call("POST", f"/servers/{server_id}/metadata", {"metadata": {"stage": "two"}})
    await demo.call("PUT", f"/servers/{server_id}", {"server": {"name": "other"}})
    metadata, _ = await told(house, server_id)
    assert metadata["meta"] == {"stage": "two"}
    assert metadata["name"] == "other"


async def test_security_groups_of_ports_are_current(house: House, demo: Api) -> None:
    server_id, port_id, _ = await connected(house, demo)
    body = {"security_group": {"name": "web"}}
    group = await demo.call("POST", "/network/v2.0/security-groups", body, 201)
    group_id = group["security_group"]["id"]
    port = {"port": {"security_groups": [group_id]}}
    await demo.call("PUT", f"/network/v2.0/ports/{port_id}", port)
    _, ec2 = await told(house, server_id)
    assert ec2["security-groups"] == "web"
    renamed = {"security_group": {"name": "front"}}
    await demo.call("PUT", f"/network/v2.0/security-groups/{group_id}", renamed)
    _, ec2 = await told(house, server_id)
    assert ec2["security-groups"] == "front"


async def test_a_server_that_reboots_itself_is_booted_again(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    house.fabric.exit(made["id"], 86, reboot=True)
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == "ACTIVE"
    assert house.fabric.calls.count(("boot", made["id"])) == 2
    assert made["id"] in house.fabric.running()


async def test_server_rebooting_during_build_is_booted_again(house: House, demo: Api) -> None:
    boot = house.fabric.boot

    async def boot_and_reboot(server: Server) -> None:
        await boot(server)
        if house.fabric.calls.count(("boot", server.id)) == 1:
            house.fabric.exit(server.id, 86, reboot=True)

    house.fabric.boot = boot_and_reboot
    made = await demo.boot()
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == "ACTIVE"
    assert made["id"] in house.fabric.running()


async def test_reboot_from_inside_does_not_undo_stop(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], "os-stop")
    await house.settle()
    house.fabric.exit(made["id"], 86, reboot=True)
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == "SHUTOFF"
    assert house.fabric.calls.count(("boot", made["id"])) == 1

"""Share networks and the servers of shares in them, at which servers really knock."""

from typing import Any

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.shares import Shares
from localcloud.fabric.exports import MountRefusedError
from localcloud.fabric.interface import Face


async def made_network(shares: Shares, network: str, **more: Any) -> Any:
    subnets = (await shares.api.get(f"/network/v2.0/subnets?network_id={network}"))["subnets"]
    where = {"neutron_net_id": network, "neutron_subnet_id": subnets[0]["id"]}
    body = {"share_network": {"name": "sn", **where, **more}}
    return (await shares.call("POST", "/share-networks", body))["share_network"]


async def ports(demo: Api) -> list[Any]:
    found: list[Any] = (await demo.get("/network/v2.0/ports?device_owner=manila:share"))["ports"]
    return found


async def test_a_share_network_looks_as_manila_shows_it(shares: Shares, network: str) -> None:
    made = await made_network(shares, network)
    (subnet,) = made["share_network_subnets"]
    assert (subnet["neutron_net_id"], subnet["cidr"]) == (network, None)
    path = f"/share-networks/{made['id']}"
    plain = {"id", "name", "project_id", "created_at", "updated_at", "description"}
    of_subnet = {
        "neutron_net_id", "neutron_subnet_id", "network_type", "segmentation_id", "cidr",
        "ip_version",
    }  # fmt: skip
    for version, fields in (
        ("2.0", of_subnet | {"nova_net_id"}),
        ("2.18", of_subnet | {"nova_net_id", "gateway"}),
        ("2.20", of_subnet | {"nova_net_id", "gateway", "mtu"}),
        ("2.26", of_subnet | {"gateway", "mtu"}),
        ("2.51", {"share_network_subnets"}),
        ("2.63", {"share_network_subnets", "status", "security_service_update_support"}),
    ):
        shares.api.share_version = version
        assert set((await shares.get(path))["share_network"]) == plain | fields, version
    assert (await shares.get("/share-networks"))["share_networks"] == [
        {"id": made["id"], "name": "sn"}
    ]


async def test_a_share_has_a_server_in_its_network(
    shares: Shares, ruler: Shares, demo: Api, network: str
) -> None:
    where = await made_network(shares, network)
    share = await shares.make(share_type="dhss_true", share_network_id=where["id"])
    assert share["status"] == "available"
    (port,) = await ports(demo)
    address = port["fixed_ips"][0]["ip_address"]
    assert (await shares.path_of(share["id"])).startswith(f"{address}:/shares/share-")
    (server,) = (await ruler.get("/share-servers"))["share_servers"]
    assert (server["status"], server["share_network_name"]) == ("active", "sn")
    details = (await ruler.get(f"/share-servers/{server['id']}/details"))["details"]
    assert details == {"ip": address, "service_port_id": port["id"]}
    await shares.get("/share-servers", 403)
    shown = (await shares.get(f"/share-networks/{where['id']}"))["share_network"]
    assert shown["share_network_subnets"][0]["cidr"] == "10.0.0.0/24"
    again = await shares.make(share_type="dhss_true", share_network_id=where["id"])
    assert len(await ports(demo)) == 1
    told = await shares.refusal("DELETE", f"/share-networks/{where['id']}", status=409)
    assert told == f"Can not delete share network {where['id']}, it has 2 share(s)."
    told = await ruler.refusal("DELETE", f"/share-servers/{server['id']}", status=409)
    assert told == f"Share server {server['id']} is in use."
    for each in (share, again):
        await shares.call("DELETE", f"/shares/{each['id']}", expect=202)
    await shares.house.settle()
    assert await ports(demo) == []
    assert (await ruler.get("/share-servers"))["share_servers"] == []
    await shares.call("DELETE", f"/share-networks/{where['id']}", expect=202)
    await shares.get(f"/share-networks/{where['id']}", 404)


async def test_server_mounts_from_its_observed_address(
    house: House, shares: Shares, server: str, network: str
) -> None:
    where = await made_network(shares, network)
    share = await shares.make(share_type="dhss_true", share_network_id=where["id"])
    path = await shares.path_of(share["id"])
    await shares.allow(share["id"], "10.0.0.2")
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(server, path)
    await shares.allow(share["id"], "127.0.0.1")  # whence the fabric of tests connects
    await shares.mount(server, path)
    assert shares.face(server, share["id"]) is Face.WRITE
    house.fabric.appliances.doors.clear()
    with pytest.raises(MountRefusedError, match="failed: nothing is at"):
        await shares.mount(server, path)


async def test_share_servers_exist_after_restart(
    house: House, shares: Shares, server: str, network: str
) -> None:
    where = await made_network(shares, network)
    share = await shares.make(share_type="dhss_true", share_network_id=where["id"])
    path = await shares.path_of(share["id"])
    await shares.allow(share["id"], "127.0.0.1")
    await house.restart()
    await house.settle()
    await Shares(house, house.user("demo")).mount(server, path)
    assert house.fabric.shares[server] == {share["id"]: Face.WRITE}


async def test_share_without_server_is_in_error(shares: Shares, ruler: Shares) -> None:
    body: Any = {"share_network": {"name": "empty"}}
    empty = (await shares.call("POST", "/share-networks", body))["share_network"]
    share = await shares.make(share_type="dhss_true", share_network_id=empty["id"])
    assert share["status"] == "error"
    (message,) = (await shares.get("/messages"))["messages"]
    assert (message["action_id"], message["detail_id"]) == ("002", "004")
    assert (await ruler.get("/share-servers"))["share_servers"] == []
    plain = await shares.make(share_network_id=empty["id"])
    assert plain["status"] == "error"
    assert {m["detail_id"] for m in (await shares.get("/messages"))["messages"]} == {"003", "004"}
    await ruler.call(
        "POST",
        "/types",
        {
            "share_type": {
                "name": "odd",
                "extra_specs": {"driver_handles_share_servers": "False", "foo": "bar"},
            }
        },
    )
    odd = await shares.make(share_type="odd")
    assert (odd["status"], odd["availability_zone"]) == ("error", None)
    messages = (await shares.get(f"/messages?resource_id={odd['id']}"))["messages"]
    assert messages[0]["user_message"] == (
        "allocate host: No storage could be allocated for this share request, Capabilities filter "
        "didn't succeed."
    )


async def test_share_server_enters_no_foreign_network(
    shares: Shares, other: Api, ruler: Shares
) -> None:
    theirs = await other.network("theirs")
    subnets = (await other.get(f"/network/v2.0/subnets?network_id={theirs}"))["subnets"]
    body = {
        "share_network": {"neutron_net_id": theirs, "neutron_subnet_id": subnets[0]["id"]},
    }
    where = (await shares.call("POST", "/share-networks", body))["share_network"]
    share = await shares.make(share_type="dhss_true", share_network_id=where["id"])
    assert share["status"] == "error"
    assert (await other.get("/network/v2.0/ports"))["ports"] == []


async def test_share_networks_have_subnets_and_security_services(
    shares: Shares, network: str
) -> None:
    where = await made_network(shares, network)
    path = f"/share-networks/{where['id']}"
    body = {"share-network-subnet": {"availability_zone": "nova"}}
    made = (await shares.call("POST", f"{path}/subnets", body))["share_network_subnet"]
    assert (made["availability_zone"], made["share_network_name"]) == ("nova", "sn")
    await shares.call("POST", f"{path}/subnets", body, 409)
    assert len((await shares.get(f"{path}/subnets"))["share_network_subnets"]) == 2
    await shares.call("DELETE", f"{path}/subnets/{made['id']}", expect=202)
    await shares.get(f"{path}/subnets/{made['id']}", 404)
    body = {"security_service": {"type": "ldap", "name": "l", "dns_ip": "10.0.0.9", "user": "u"}}
    service = (await shares.call("POST", "/security-services", body))["security_service"]
    assert (service["status"], service["ou"]) == ("new", None)
    add = {"add_security_service": {"security_service_id": service["id"]}}
    await shares.call("POST", f"{path}/action", add)
    told = await shares.refusal("POST", f"{path}/action", add, 409)
    assert "Security service with 'ldap' type already added" in told
    listed = await shares.get(f"/security-services?share_network_id={where['id']}")
    assert [each["id"] for each in listed["security_services"]] == [service["id"]]
    one = f"/security-services/{service['id']}"
    told = await shares.refusal("DELETE", one, status=403)
    assert told == "Cannot delete security service. It is assigned to share network(s)"
    (detail,) = (await shares.get("/security-services/detail"))["security_services"]
    assert detail["share_networks"] == [where["id"]]
    remove = {"remove_security_service": {"security_service_id": service["id"]}}
    await shares.call("POST", f"{path}/action", remove)
    await shares.call("PUT", one, {"security_service": {"name": "new"}})
    assert (await shares.get(one))["security_service"]["name"] == "new"
    await shares.call("DELETE", one, expect=202)
    await shares.get(one, 404)
    shares.api.share_version = "2.43"
    body = {"security_service": {"type": "ldap", "ou": "x"}}
    told = await shares.refusal("POST", "/security-services", body)
    assert told == '"ou" is only supported from API version 2.44.'


async def test_share_network_in_use_cannot_change(shares: Shares, network: str) -> None:
    where = await made_network(shares, network)
    await shares.make(share_type="dhss_true", share_network_id=where["id"])
    path = f"/share-networks/{where['id']}"
    await shares.call("PUT", path, {"share_network": {"name": "new"}})
    told = await shares.refusal("PUT", path, {"share_network": {"neutron_net_id": "x"}}, 403)
    assert told.startswith(
        f"Cannot update share network {where['id']}. It is used by share servers"
    )
    remove = {"remove_security_service": {"security_service_id": "x"}}
    told = await shares.refusal("POST", f"{path}/action", remove, 403)
    assert told == "Cannot remove security services. Share network is used."
    body = {"share_network": {"neutron_net_id": network}}
    told = await shares.refusal("POST", "/share-networks", body)
    assert told == (
        "When creating a new share network subnet you need to specify both neutron_net_id and "
        "neutron_subnet_id or none of them."
    )

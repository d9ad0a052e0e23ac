from typing import Any

from cloud_testing.compute import Api, House


async def group(demo: Api, policy: str, **values: Any) -> str:
    body = {"server_group": {"name": "g", "policy": policy, **values}}
    return str((await demo.call("POST", "/os-server-groups", body))["server_group"]["id"])


async def hosts_of(admin: Api) -> list[str]:
    servers = (await admin.get("/servers/detail?all_tenants=1"))["servers"]
    return [s["OS-EXT-SRV-ATTR:host"] for s in servers if s["status"] == "ACTIVE"]


async def test_anti_affinity_means_different_hosts_or_an_error(
    house: House, demo: Api, admin: Api
) -> None:
    group_id = await group(demo, "anti-affinity")
    for _ in range(4):
        await demo.boot(hints={"group": group_id})
        await house.settle()
    assert len(set(await hosts_of(admin))) == 3
    failed = (await demo.get("/servers/detail?status=ERROR"))["servers"]
    assert len(failed) == 1
    assert "No valid host" in failed[0]["fault"]["message"]
    assert len((await demo.get(f"/os-server-groups/{group_id}"))["server_group"]["members"]) == 4
    await demo.call("DELETE", f"/servers/{failed[0]['id']}", expect=204)
    await house.settle()
    assert len((await demo.get(f"/os-server-groups/{group_id}"))["server_group"]["members"]) == 3


async def test_affinity_means_one_host(house: House, demo: Api, admin: Api) -> None:
    group_id = await group(demo, "affinity")
    await demo.boot(hints={"group": group_id}, min_count=4)
    await house.settle()
    assert len(set(await hosts_of(admin))) == 1


async def test_soft_policies_never_fail(house: House, demo: Api, admin: Api) -> None:
    group_id = await group(demo, "soft-anti-affinity")
    await demo.boot(hints={"group": group_id}, min_count=6)
    await house.settle()
    found = await hosts_of(admin)
    assert sorted(found.count(h) for h in set(found)) == [2, 2, 2]


async def test_rules_allow_several_per_host(house: House, demo: Api, admin: Api) -> None:
    group_id = await group(demo, "anti-affinity", rules={"max_server_per_host": 2})
    await demo.boot(hints={"group": group_id}, min_count=6)
    await house.settle()
    assert len(await hosts_of(admin)) == 6
    body = {
        "server_group": {"name": "g", "policy": "affinity", "rules": {"max_server_per_host": 2}}
    }
    await demo.call("POST", "/os-server-groups", body, 400)


async def test_groups_of_other_projects_do_not_exist(demo: Api, other: Api, admin: Api) -> None:
    group_id = await group(demo, "affinity")
    await other.get(f"/os-server-groups/{group_id}", expect=404)
    assert (await other.get("/os-server-groups"))["server_groups"] == []
    assert len((await admin.get("/os-server-groups?all_projects=True"))["server_groups"]) == 1
    await demo.call("DELETE", f"/os-server-groups/{group_id}", expect=204)


async def test_an_aggregate_makes_an_availability_zone(house: House, demo: Api, admin: Api) -> None:
    body = {"aggregate": {"name": "a", "availability_zone": "east"}}
    made = (await admin.call("POST", "/os-aggregates", body))["aggregate"]
    await admin.call("POST", "/os-aggregates", body, 409)
    path = f"/os-aggregates/{made['id']}"
    await admin.call("POST", f"{path}/action", {"add_host": {"host": "compute-2"}})
    await admin.call("POST", f"{path}/action", {"add_host": {"host": "compute-2"}}, 409)
    await admin.call("POST", f"{path}/action", {"add_host": {"host": "mars"}}, 404)
    await admin.call("POST", f"{path}/action", {"set_metadata": {"metadata": {"ssd": "true"}}})
    zones = (await demo.get("/os-availability-zone"))["availabilityZoneInfo"]
    assert {z["zoneName"] for z in zones} == {"nova", "east"}
    server = await demo.boot(availability_zone="east")
    await house.settle()
    shown = await admin.server(server["id"])
    assert shown["OS-EXT-AZ:availability_zone"] == "east"
    assert shown["OS-EXT-SRV-ATTR:host"] == "compute-2"
    await admin.call("DELETE", path, expect=400)
    await admin.call("POST", f"{path}/action", {"remove_host": {"host": "compute-2"}})
    await admin.call("DELETE", path, expect=200)


async def test_no_server_goes_to_a_disabled_host(house: House, demo: Api, admin: Api) -> None:
    services = (await admin.get("/os-services?binary=nova-compute"))["services"]
    assert len(services) == 3
    for service in services[:2]:
        body = {"status": "disabled", "disabled_reason": "maintenance"}
        await admin.call("PUT", f"/os-services/{service['id']}", body)
    await demo.boot(min_count=3)
    await house.settle()
    assert set(await hosts_of(admin)) == {services[2]["host"]}


async def test_hypervisors_are_shown_with_servers_and_sums(
    house: House, demo: Api, admin: Api
) -> None:
    await demo.boot(flavorRef="2")
    await house.settle()
    found = (await admin.get("/os-hypervisors/detail?with_servers=true"))["hypervisors"]
    assert sum(len(h.get("servers", [])) for h in found) == 1
    assert "uptime" in found[0]
    old = (await admin.at("2.52").get("/os-hypervisors/1"))["hypervisor"]
    assert (old["id"], old["memory_mb_used"]) == (1, 512)
    sums = (await admin.at("2.87").get("/os-hypervisors/statistics"))["hypervisor_statistics"]
    assert (sums["count"], sums["running_vms"]) == (3, 1)
    await admin.get("/os-hypervisors/statistics", expect=404)


async def test_events_of_other_services_are_taken(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot()
    event = {"name": "network-changed", "server_uuid": made["id"]}
    answer = await admin.call("POST", "/os-server-external-events", {"events": [event]})
    assert answer["events"][0]["code"] == 200
    event = {**event, "server_uuid": "none"}
    await admin.call("POST", "/os-server-external-events", {"events": [event]}, 404)
    assert (await admin.get("/os-migrations"))["migrations"] == []
    assert (await demo.get("/extensions"))["extensions"] == []

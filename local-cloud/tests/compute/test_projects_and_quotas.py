import pytest

from cloud_testing.compute import Api, House


async def test_servers_of_other_projects_do_not_exist(
    house: House, demo: Api, other: Api, admin: Api
) -> None:
    made = await demo.boot()
    path = f"/servers/{made['id']}"
    message = await other.refusal("GET", path, None, 404, "itemNotFound")
    assert made["id"] in message
    await other.call("DELETE", path, expect=404)
    await other.act(made["id"], "os-stop", expect=404)
    await other.get(f"{path}/metadata", expect=404)
    await other.get(f"{path}/os-interface", expect=404)
    await other.get(f"{path}/os-instance-actions", expect=404)
    assert (await other.get("/servers"))["servers"] == []
    await other.get("/servers?all_tenants=1", expect=403)
    assert (await admin.get("/servers"))["servers"] == []
    assert len((await admin.get("/servers/detail?all_tenants=True"))["servers"]) == 1
    assert (await admin.get("/servers?all_tenants=1&project_id=x"))["servers"] == []
    assert (await admin.server(made["id"]))["tenant_id"] == "demo-project"


async def test_readers_cannot_write_and_members_cannot_administer(house: House, demo: Api) -> None:
    await demo.get("/os-hypervisors", expect=403)
    await demo.get("/os-services", expect=403)
    await demo.get("/os-aggregates", expect=403)
    await demo.call("POST", "/flavors", {"flavor": {"name": "x", "ram": 1, "vcpus": 1}}, 403)
    await demo.call("PUT", "/os-quota-sets/demo-project", {"quota_set": {"cores": 9}}, 403)
    await demo.get("/os-quota-sets/other-project", expect=403)


@pytest.mark.parametrize(
    ("limit", "flavor", "name"),
    [
        ({"instances": 1}, "42", "instances"),
        ({"cores": 3}, "3", "cores"),
        ({"ram": 900}, "2", "ram"),
    ],
)
async def test_servers_beyond_the_quota_are_forbidden(
    house: House, demo: Api, admin: Api, limit: dict[str, int], flavor: str, name: str
) -> None:
    await admin.call("PUT", "/os-quota-sets/demo-project", {"quota_set": limit})
    await demo.boot(flavorRef=flavor)
    image = house.images().records.find(name="host").__next__()["id"]
    server = {"name": "b", "imageRef": image, "flavorRef": flavor, "networks": "none"}
    message = await demo.refusal("POST", "/servers", {"server": server}, 403, "forbidden")
    assert f"Quota exceeded for {name}" in message
    assert len((await demo.get("/servers"))["servers"]) == 1


async def test_usage_counts_and_deletion_gives_back(house: House, demo: Api) -> None:
    made = await demo.boot(flavorRef="3", min_count=2, max_count=2)
    await house.settle()
    found = (await demo.get("/limits"))["limits"]["absolute"]
    assert (found["totalInstancesUsed"], found["totalCoresUsed"]) == (2, 4)
    assert found["totalRAMUsed"] == 2048
    detail = (await demo.get("/os-quota-sets/demo-project/detail"))["quota_set"]
    assert detail["cores"] == {"limit": 8000, "in_use": 4, "reserved": 0}
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    assert (await demo.get("/limits"))["limits"]["absolute"]["totalInstancesUsed"] == 1


async def test_quota_decides_number_between_min_and_max(
    house: House, demo: Api, admin: Api
) -> None:
    await admin.call("PUT", "/os-quota-sets/demo-project", {"quota_set": {"instances": 3}})
    made = await demo.boot(min_count=2, max_count=5, return_reservation_id=True)
    assert made["reservation_id"].startswith("r-")
    names = [s["name"] for s in (await demo.get("/servers"))["servers"]]
    assert sorted(names) == ["one-1", "one-2", "one-3"]
    await demo.boot(min_count=3, max_count=2, expect=400)


async def test_limits_below_usage_need_force(house: House, demo: Api, admin: Api) -> None:
    await demo.boot(min_count=2)
    body = {"quota_set": {"instances": 1}}
    await admin.call("PUT", "/os-quota-sets/demo-project", body, 400)
    body["quota_set"]["force"] = True
    assert (await admin.call("PUT", "/os-quota-sets/demo-project", body))["quota_set"][
        "instances"
    ] == 1
    await admin.call("DELETE", "/os-quota-sets/demo-project", expect=202)
    found = (await demo.get("/os-quota-sets/demo-project"))["quota_set"]
    assert found["instances"] == 2000


async def test_default_quota_class_applies_without_own_limits(demo: Api, admin: Api) -> None:
    body = {"quota_class_set": {"cores": 7}}
    await admin.call("PUT", "/os-quota-class-sets/default", body)
    assert (await demo.get("/os-quota-sets/demo-project"))["quota_set"]["cores"] == 7
    assert (await demo.get("/os-quota-sets/x/defaults"))["quota_set"]["cores"] == 7


async def test_metadata_groups_and_key_pairs_have_quotas(
    house: House, demo: Api, admin: Api
) -> None:
    limits = {"metadata_items": 1, "server_groups": 1, "key_pairs": 1}
    await admin.call("PUT", "/os-quota-sets/demo-project", {"quota_set": limits})
    await demo.boot(metadata={"a": "1", "b": "2"}, expect=403)
    made = await demo.boot(metadata={"a": "1"})
    path = f"/servers/{made['id']}/metadata"
    await demo.call("POST", path, {"metadata": {"b": "2"}}, 403)
    group = {"server_group": {"name": "g", "policy": "affinity"}}
    await demo.call("POST", "/os-server-groups", group)
    await demo.call("POST", "/os-server-groups", group, 403)
    key = {"keypair": {"name": "k"}}
    await demo.at("2.91").call("POST", "/os-keypairs", key, 201)
    key["keypair"]["name"] = "l"
    await demo.at("2.91").refusal("POST", "/os-keypairs", key, 403, "forbidden")


async def test_usage_reports_have_deleted_servers_too(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot(flavorRef="2")
    await house.settle()
    house.clock.advance(3600)
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    house.clock.advance(3600)
    usage = (await demo.get("/os-simple-tenant-usage/demo-project"))["tenant_usage"]
    assert usage["total_hours"] == 1
    assert usage["total_memory_mb_usage"] == 512
    assert usage["server_usages"][0]["state"] == "terminated"
    every = (await admin.get("/os-simple-tenant-usage"))["tenant_usages"]
    assert [u["tenant_id"] for u in every] == ["demo-project"]


async def test_usage_is_read_page_by_page(house: House, demo: Api, other: Api, admin: Api) -> None:
    made = {(await user.boot())["id"] for user in (demo, demo, demo, other)}
    await house.settle()
    house.clock.advance(3600)
    path, seen = "/os-simple-tenant-usage/demo-project?limit=2", []
    for size, more in ((2, True), (1, False)):
        answer = await demo.get(path)
        page = [each["instance_id"] for each in answer["tenant_usage"]["server_usages"]]
        assert len(page) == size
        assert answer["tenant_usage"]["total_hours"] == size
        assert ("tenant_usage_links" in answer) is more
        seen += page
        path = f"/os-simple-tenant-usage/demo-project?limit=2&marker={page[-1]}"
    assert len(set(seen)) == 3
    assert (await demo.get(path))["tenant_usage"] == {}
    await demo.get("/os-simple-tenant-usage/demo-project?marker=unknown", expect=400)
    path, seen = "/os-simple-tenant-usage?detailed=1&limit=3", []
    while found := (await admin.get(path))["tenant_usages"]:
        seen += [each["instance_id"] for usage in found for each in usage["server_usages"]]
        path = f"/os-simple-tenant-usage?detailed=1&limit=3&marker={seen[-1]}"
    assert sorted(seen) == sorted(made)
    whole = await demo.at("2.39").get("/os-simple-tenant-usage/demo-project?limit=1")
    assert len(whole["tenant_usage"]["server_usages"]) == 3


async def test_hypervisors_end_after_the_last_page(house: House, admin: Api) -> None:
    for path in ("/os-hypervisors", "/os-hypervisors/detail"):
        found = (await admin.get(path))["hypervisors"]
        assert len(found) == 3
        assert (await admin.get(f"{path}?marker={found[-1]['id']}"))["hypervisors"] == []

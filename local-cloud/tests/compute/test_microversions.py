import pytest

from cloud_testing.compute import Api, House


async def test_requested_version_is_confirmed_and_default_is_oldest(
    house: House, demo: Api
) -> None:
    answer = await demo.at("2.53").send("GET", "/flavors")
    assert answer.headers["OpenStack-API-Version"] == "compute 2.53"
    assert answer.headers["X-OpenStack-Nova-API-Version"] == "2.53"
    assert "OpenStack-API-Version" in answer.headers["Vary"]
    answer = await demo.at("latest").send("GET", "/flavors")
    assert answer.headers["OpenStack-API-Version"] == "compute 2.96"
    answer = await house.user("demo")._http.get("/compute/v2.1/flavors")
    assert answer.headers["OpenStack-API-Version"] == "compute 2.1"


async def test_versions_that_are_not_served_are_refused(demo: Api) -> None:
    answer = await demo.at("2.97").send("GET", "/flavors")
    assert answer.status_code == 406
    assert "2.96" in answer.json()["computeFault"]["message"]
    assert (await demo.at("two").send("GET", "/flavors")).status_code == 400


async def test_errors_confirm_the_version_too(demo: Api) -> None:
    answer = await demo.at("2.53").send("GET", "/flavors/none")
    assert answer.status_code == 404
    assert answer.headers["OpenStack-API-Version"] == "compute 2.53"


async def test_version_documents_need_no_token(house: House) -> None:
    nobody = Api(house.user("demo")._http)
    del nobody._http.headers["X-Auth-Token"]
    versions = (await nobody.get("/compute/"))["versions"]
    assert (versions[0]["id"], versions[0]["version"]) == ("v2.1", "2.96")
    assert (await nobody.get("/compute/v2.1/"))["version"]["min_version"] == "2.1"
    await nobody.get("/compute/v2.1/flavors", expect=401)


async def test_a_project_id_in_the_path_is_ignored(demo: Api) -> None:
    await demo.get(f"/compute/v2.1/{'a' * 32}/flavors")


@pytest.mark.parametrize(
    ("field", "first"),
    [
        ("locked", 9),
        ("description", 19),
        ("tags", 26),
        ("trusted_image_certificates", 63),
        ("server_groups", 71),
        ("locked_reason", 73),
        ("OS-EXT-SRV-ATTR:hostname", 90),
        ("pinned_availability_zone", 96),
    ],
)
async def test_each_field_appears_with_its_version(
    house: House, demo: Api, field: str, first: int
) -> None:
    made = await demo.boot()
    path = f"/servers/{made['id']}"
    assert field not in (await demo.at(f"2.{first - 1}").get(path))["server"]
    assert field in (await demo.at(f"2.{first}").get(path))["server"]


async def test_flavor_is_a_link_before_2_47(house: House, demo: Api) -> None:
    made = await demo.boot()
    old = (await demo.at("2.46").get(f"/servers/{made['id']}"))["server"]["flavor"]
    assert old["id"] == "42"
    assert old["links"][0]["href"].endswith("/flavors/42")
    new = (await demo.at("2.47").get(f"/servers/{made['id']}"))["server"]["flavor"]
    assert new == {
        "original_name": "m1.nano",
        "vcpus": 1,
        "ram": 64,
        "disk": 1,
        "ephemeral": 0,
        "swap": 0,
        "extra_specs": {},
    }


async def test_what_only_administrators_see(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot(user_data="aWQ=")
    await house.settle()
    path = f"/servers/{made['id']}"
    mine = (await demo.at("2.16").get(path))["server"]
    theirs = (await admin.at("2.16").get(path))["server"]
    for field in ("host", "instance_name", "reservation_id", "launch_index", "user_data"):
        assert f"OS-EXT-SRV-ATTR:{field}" not in mine
        assert f"OS-EXT-SRV-ATTR:{field}" in theirs
    assert theirs["OS-EXT-SRV-ATTR:user_data"] == "aWQ="
    assert theirs["host_status"] == "UP"
    assert "OS-EXT-SRV-ATTR:user_data" not in (await admin.at("2.2").get(path))["server"]


async def test_networks_must_be_said_from_2_37_on(house: House, demo: Api) -> None:
    image = house.images().records.find(name="host").__next__()["id"]
    body = {"server": {"name": "a", "imageRef": image, "flavorRef": "42"}}
    await demo.at("2.37").call("POST", "/servers", body, 400)
    await demo.at("2.36").call("POST", "/servers", body, 202)
    body["server"]["networks"] = "auto"
    message = await demo.refusal("POST", "/servers", body, 400, "badRequest")
    assert "no network" in message
    await demo.network()
    made = (await demo.call("POST", "/servers", body, 202))["server"]
    await house.settle()
    assert "net" in (await demo.server(made["id"]))["addresses"]
    await demo.network("second", "10.1.0.0/24")
    await demo.refusal("POST", "/servers", body, 409, "conflictingRequest")


@pytest.mark.parametrize(
    ("version", "field", "value"),
    [
        ("2.18", "description", "d"),
        ("2.51", "tags", ["a"]),
        ("2.57", "personality", []),
        ("2.89", "hostname", "h"),
        ("2.96", "colour", "blue"),
    ],
)
async def test_fields_of_other_versions_are_refused(
    house: House, demo: Api, version: str, field: str, value: object
) -> None:
    networks = {} if version == "2.18" else {"networks": "none"}
    image = house.images().records.find(name="host").__next__()["id"]
    server = {"name": "a", "imageRef": image, "flavorRef": "42", field: value, **networks}
    message = await demo.at(version).refusal(
        "POST", "/servers", {"server": server}, 400, "badRequest"
    )
    assert field in message


async def test_update_shows_whole_server_since_2_75(house: House, demo: Api) -> None:
    made = await demo.boot()
    body = {"server": {"name": "new", "description": "text"}}
    old = (await demo.at("2.74").call("PUT", f"/servers/{made['id']}", body))["server"]
    assert (old["name"], old["description"]) == ("new", "text")
    assert "OS-EXT-STS:vm_state" not in old
    new = await demo.call("PUT", f"/servers/{made['id']}", {"server": {"hostname": "h"}})
    assert new["server"]["OS-EXT-SRV-ATTR:hostname"] == "h"
    assert "OS-EXT-STS:vm_state" in new["server"]


async def test_flavors_follow_the_version(demo: Api) -> None:
    old = (await demo.at("2.1").get("/flavors/1"))["flavor"]
    assert old["swap"] == ""
    assert "description" not in old
    assert "extra_specs" not in old
    new = (await demo.get("/flavors/1"))["flavor"]
    assert (new["swap"], new["description"], new["extra_specs"]) == (0, None, {})


async def test_quotas_and_limits_lose_what_others_own_now(demo: Api) -> None:
    old = (await demo.at("2.35").get("/os-quota-sets/demo-project"))["quota_set"]
    assert {"floating_ips", "security_groups", "injected_files"} <= old.keys()
    new = (await demo.at("2.57").get("/os-quota-sets/demo-project"))["quota_set"]
    assert new.keys() == {
        "id",
        "instances",
        "cores",
        "ram",
        "metadata_items",
        "key_pairs",
        "server_groups",
        "server_group_members",
    }
    assert "maxPersonality" in (await demo.at("2.56").get("/limits"))["limits"]["absolute"]
    assert "maxPersonality" not in (await demo.at("2.57").get("/limits"))["limits"]["absolute"]


async def test_server_groups_have_one_policy_since_2_64(demo: Api) -> None:
    body = {"server_group": {"name": "g", "policies": ["affinity"]}}
    old = (await demo.at("2.63").call("POST", "/os-server-groups", body))["server_group"]
    assert (old["policies"], old["metadata"]) == (["affinity"], {})
    new = (await demo.get(f"/os-server-groups/{old['id']}"))["server_group"]
    assert (new["policy"], new["rules"]) == ("affinity", {})

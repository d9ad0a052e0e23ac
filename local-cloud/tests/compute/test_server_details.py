import asyncio
import base64
from typing import Any

import pytest

from cloud_testing.compute import Api, House


async def test_metadata_can_be_merged_replaced_and_removed(demo: Api) -> None:
    made = await demo.boot(metadata={"a": "1"})
    path = f"/servers/{made['id']}/metadata"
    await demo.call("POST", path, {"metadata": {"b": "2"}})
    assert (await demo.get(path))["metadata"] == {"a": "1", "b": "2"}
    await demo.call("PUT", path, {"metadata": {"c": "3"}})
    await demo.call("PUT", f"{path}/d", {"meta": {"d": "4"}})
    await demo.call("PUT", f"{path}/d", {"meta": {"e": "4"}}, 400)
    assert (await demo.get(f"{path}/d"))["meta"] == {"d": "4"}
    await demo.call("DELETE", f"{path}/c", expect=204)
    await demo.call("DELETE", f"{path}/c", expect=404)
    assert (await demo.server(made["id"]))["metadata"] == {"d": "4"}
    await demo.call("POST", path, {"metadata": {"a": 1}}, 400)
    await demo.call("POST", path, {"metadata": {"a": "x" * 256}}, 400)


async def test_tags_are_set_singly_and_together(demo: Api) -> None:
    made = await demo.boot(tags=["a"])
    path = f"/servers/{made['id']}/tags"
    assert (await demo.send("PUT", f"{path}/b")).status_code == 201
    await demo.call("PUT", f"{path}/b", expect=204)
    await demo.get(f"{path}/b", expect=204)
    await demo.get(f"{path}/c", expect=404)
    assert (await demo.get(path))["tags"] == ["a", "b"]
    await demo.call("PUT", path, {"tags": ["x"]})
    await demo.call("DELETE", f"{path}/x", expect=204)
    await demo.call("PUT", path, {"tags": ["no,comma"]}, 400)
    await demo.call("DELETE", path, expect=204)
    await demo.at("2.25").get(path, expect=404)


async def test_interfaces_can_be_plugged_and_unplugged(house: House, demo: Api) -> None:
    first, second = await demo.network(), await demo.network("more", "10.1.0.0/24")
    made = await demo.boot(networks=[{"uuid": first}])
    await house.settle()
    path = f"/servers/{made['id']}/os-interface"
    body: dict[str, Any] = {
        "interfaceAttachment": {"net_id": second, "fixed_ips": [{"ip_address": "10.1.0.9"}]}
    }
    plugged = (await demo.call("POST", path, body))["interfaceAttachment"]
    assert plugged["fixed_ips"][0]["ip_address"] == "10.1.0.9"
    assert house.fabric.plugged[made["id"]] == [plugged["port_id"]]
    assert [a["addr"] for a in (await demo.server(made["id"]))["addresses"]["more"]] == ["10.1.0.9"]
    await demo.call("POST", path, body, 400)
    assert len((await demo.get(path))["interfaceAttachments"]) == 2
    await demo.get(f"{path}/{plugged['port_id']}")
    house.clock.goes.clear()
    await demo.call("DELETE", f"{path}/{plugged['port_id']}", expect=202)
    for _ in range(50):  # whatever needs no time is done by now
        await asyncio.sleep(0)
    port = f"/network/v2.0/ports/{plugged['port_id']}"
    await demo.call("DELETE", port, expect=403)
    taken = {"networks": [{"port": plugged["port_id"]}]}
    assert "is still in use" in str(await demo.boot(409, **taken))
    await demo.call("DELETE", f"{path}/{plugged['port_id']}", expect=202)
    await demo.call("DELETE", f"{path}/{first}", expect=202)
    house.clock.goes.set()
    await house.settle()
    await demo.get(port, expect=404)
    assert "more" not in (await demo.server(made["id"]))["addresses"]
    assert house.fabric.plugged[made["id"]] == []


async def test_unplug_of_interface_completes_after_restart(house: House, demo: Api) -> None:
    network = await demo.network()
    body = {"port": {"network_id": network}}
    port = (await demo.call("POST", "/network/v2.0/ports", body, 201))["port"]["id"]
    made = await demo.boot(networks=[{"port": port}])
    await house.settle()
    house.clock.goes.clear()
    await demo.call("DELETE", f"/servers/{made['id']}/os-interface/{port}", expect=202)
    await house.restart()
    await house.settle()
    demo = house.user("demo")
    found = (await demo.get(f"/network/v2.0/ports/{port}"))["port"]
    assert (found["device_id"], found["device_owner"]) == ("", "")
    assert (await demo.server(made["id"]))["addresses"] == {}


async def test_unnamed_network_of_interface_must_be_unique(house: House, demo: Api) -> None:
    await demo.network()
    await demo.network("more", "10.1.0.0/24")
    made = await demo.boot(networks="none")
    await house.settle()
    path = f"/servers/{made['id']}/os-interface"
    body: dict[str, Any] = {"interfaceAttachment": {}}
    refused = await demo.refusal("POST", path, body, 400, "badRequest")
    assert refused.startswith("Multiple possible networks found")


async def test_interfaces_keep_the_order_of_the_request(house: House, demo: Api) -> None:
    first, second = await demo.network(), await demo.network("more", "10.1.0.0/24")
    body = {"port": {"network_id": first}}
    port = (await demo.call("POST", "/network/v2.0/ports", body, 201))["port"]
    made = await demo.boot(
        networks=[{"uuid": second, "fixed_ip": "10.1.0.7"}, {"port": port["id"]}]
    )
    await house.settle()
    ports = house.fabric.servers[made["id"]].ports
    assert [p.network_id for p in ports] == [second, first]
    assert ports[0].addresses[0].ip == "10.1.0.7"
    assert ports[1].id == port["id"]


@pytest.mark.parametrize(
    "values",
    [
        {"name": ""},
        {"name": "x" * 256},
        {"flavorRef": "none"},
        {"imageRef": "9b9e7c7e-9c3a-4a3c-8e41-000000000000"},
        {"imageRef": ""},
        {"networks": [{"uuid": "9b9e7c7e-9c3a-4a3c-8e41-000000000000"}]},
        {"networks": [{"port": "9b9e7c7e-9c3a-4a3c-8e41-000000000000"}]},
        {"networks": [{}]},
        {"networks": "some"},
        {"security_groups": [{"name": "none"}]},
        {"key_name": "none"},
        {"availability_zone": "mars"},
        {"user_data": "not base64!"},
        {"user_data": base64.b64encode(b"x" * 50000).decode()},
        {"metadata": {"k": 1}},
        {"min_count": 0},
        {"hints": {"group": "9b9e7c7e-9c3a-4a3c-8e41-000000000000"}},
        {"block_device_mapping_v2": [{"source_type": "volume", "destination_type": "volume"}]},
    ],
)
async def test_requests_that_make_no_sense_are_refused(demo: Api, values: Any) -> None:
    answer = await demo.boot(expect=400, **values)
    assert answer["badRequest"]["message"]
    assert (await demo.get("/servers"))["servers"] == []


async def test_local_block_device_image_is_a_plain_boot(house: House, demo: Api) -> None:
    image = house.images().records.find(name="host").__next__()["id"]
    device = {
        "boot_index": 0,
        "uuid": image,
        "source_type": "image",
        "destination_type": "local",
        "delete_on_termination": True,
    }
    made = await demo.boot(imageRef="", block_device_mapping_v2=[device])
    await house.settle()
    server = await demo.server(made["id"])
    assert (server["status"], server["image"]["id"]) == ("ACTIVE", image)


async def test_security_groups_of_a_server_can_change(house: House, demo: Api) -> None:
    made = await demo.boot(networks=[{"uuid": await demo.network()}])
    await house.settle()
    body = {"security_group": {"name": "web"}}
    await demo.call("POST", "/network/v2.0/security-groups", body, 201)
    await demo.act(made["id"], "addSecurityGroup", {"name": "web"})
    groups = {g["name"] for g in (await demo.server(made["id"]))["security_groups"]}
    assert groups == {"default", "web"}
    path = f"/servers/{made['id']}/os-security-groups"
    assert len((await demo.get(path))["security_groups"]) == 2
    await demo.act(made["id"], "removeSecurityGroup", {"name": "web"})
    await demo.act(made["id"], "removeSecurityGroup", {"name": "web"}, expect=404)
    await demo.act(made["id"], "addSecurityGroup", {"name": "none"}, expect=404)


async def test_personality_files_become_a_cloud_config(house: House, demo: Api) -> None:
    contents = base64.b64encode(b"text").decode()
    image = house.images().records.find(name="host").__next__()["id"]
    body = {
        "server": {
            "name": "a",
            "imageRef": image,
            "flavorRef": "42",
            "personality": [{"path": "/etc/file", "contents": contents}],
        }
    }
    made = (await demo.at("2.1").call("POST", "/servers", body, 202))["server"]
    await house.settle()
    config = house.fabric.servers[made["id"]].vendor_data["cloud-init"]
    assert isinstance(config, str)
    assert config.startswith("#cloud-config\nwrite_files:\n- path: '/etc/file'")
    assert contents in config


async def test_diagnostics_are_for_administrators(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.get(f"/servers/{made['id']}/diagnostics", expect=403)
    house.clock.advance(5)
    found = await admin.get(f"/servers/{made['id']}/diagnostics")
    assert (found["state"], found["num_cpus"], found["uptime"]) == ("running", 1, 5)


async def test_snapshot_metadata_cannot_set_reserved_properties(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    body = {"createImage": {"name": "s", "metadata": {"stoker:kind": "volume"}}}
    path = f"/servers/{made['id']}/action"
    assert "reserved" in await demo.refusal("POST", path, body, 400, "badRequest")


async def test_snapshot_boots_server_with_same_disk(house: House, demo: Api, other: Api) -> None:
    made = await demo.boot()
    await house.settle()
    disk = house.fabric.servers[made["id"]].disk
    (disk / "upper/root").mkdir(parents=True)
    (disk / "upper/root/file").write_text("content")
    (disk / "work").mkdir()
    answer = await demo.act(made["id"], "createImage", {"name": "s", "metadata": {"k": "v"}})
    await house.settle()
    image = await demo.get(f"/image/v2/images/{answer['image_id']}")
    assert (image["status"], image["image_type"], image["k"]) == ("active", "snapshot", "v")
    assert not house.fabric.paused
    copy = await demo.boot(imageRef=answer["image_id"])
    await house.settle()
    assert (await demo.server(copy["id"]))["status"] == "ACTIVE"
    booted = house.fabric.servers[copy["id"]]
    assert (booted.disk / "upper/root/file").read_text() == "content"
    assert not (booted.disk / "work").exists()
    assert booted.root is None
    await other.boot(imageRef=answer["image_id"], expect=400)


async def test_servers_outlive_their_images(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    answer = await demo.act(made["id"], "createImage", {"name": "s"})
    await house.settle()
    image = answer["image_id"]
    copy = await demo.boot(imageRef=image)
    await house.settle()
    await demo.call("DELETE", f"/image/v2/images/{image}", expect=204)
    await demo.boot(imageRef=image, expect=400)
    await demo.act(copy["id"], "reboot", {"type": "HARD"})
    await house.settle()
    assert (await demo.server(copy["id"]))["status"] == "ACTIVE"
    await house.kill()
    await house.start()
    await house.settle()
    assert (await house.user("demo").server(copy["id"]))["status"] == "ACTIVE"


async def test_backups_are_rotated(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    for number in range(3):
        value = {"name": f"b{number}", "backup_type": "daily", "rotation": 2}
        await demo.act(made["id"], "createBackup", value)
        await house.settle()
        house.clock.advance(60)
    images = (await demo.get("/image/v2/images?image_type=backup"))["images"]
    assert sorted(i["name"] for i in images) == ["b1", "b2"]

import base64
from typing import Any

import pytest

from cloud_testing.compute import Api, House


async def test_server_is_active_when_its_process_runs(house: House, demo: Api) -> None:
    network = await demo.network()
    house.fabric.gate.clear()
    made = await demo.boot(networks=[{"uuid": network}])
    assert len(made["adminPass"]) >= 12
    assert (await demo.server(made["id"]))["status"] == "BUILD"
    house.fabric.gate.set()
    await house.settle()
    server = await demo.server(made["id"])
    assert server["status"] == "ACTIVE"
    assert server["OS-EXT-STS:power_state"] == 1
    assert server["OS-EXT-STS:task_state"] is None
    assert [a["addr"] for a in server["addresses"]["net"]] == ["10.0.0.2"]
    assert made["id"] in house.fabric.running()


async def test_the_server_gets_its_documents_and_user_data(house: House, demo: Api) -> None:
    await demo.call(
        "POST",
        "/os-keypairs",
        {"keypair": {"name": "k", "public_key": KEY, "type": "ssh"}},
        201,
    )
    network = await demo.network()
    made = await demo.boot(
        name="My Server",
        networks=[{"uuid": network, "tag": "front"}],
        key_name="k",
        metadata={"role": "web"},
        user_data=base64.b64encode(b"#!/bin/sh\nid").decode(),
    )
    await house.settle()
    booted = house.fabric.servers[made["id"]]
    assert booted.hostname == "my-server"
    assert booted.user_data == b"#!/bin/sh\nid"
    assert booted.root is None
    assert booted.memory_mb == 64
    document: Any = booted.metadata
    assert document["uuid"] == made["id"]
    assert document["meta"] == {"role": "web"}
    assert document["public_keys"] == {"k": KEY}
    assert document["hostname"] == "my-server.novalocal"
    assert document["devices"][0]["tags"] == ["front"]
    assert len(base64.b64decode(document["random_seed"])) == 512
    tree: Any = booted.ec2_metadata
    assert tree["instance-id"].startswith("i-0000")
    assert tree["local-ipv4"] == "10.0.0.2"
    assert tree["public-keys"]["0"]["openssh-key"] == KEY
    data: Any = booted.network_data
    assert data["networks"][0]["ip_address"] == "10.0.0.2"


async def test_machine_failure_becomes_fault_of_server(house: House, demo: Api) -> None:
    house.fabric.refusals["boot"] = "boot: no room on the disk; remove some servers"
    made = await demo.boot()
    await house.settle()
    server = await demo.server(made["id"])
    assert server["status"] == "ERROR"
    assert server["OS-EXT-STS:vm_state"] == "error"
    assert server["fault"]["code"] == 500
    assert server["fault"]["message"] == "boot: no room on the disk; remove some servers"


async def test_server_whose_process_ended_is_shut_off(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    house.fabric.exit(made["id"])
    server = await demo.server(made["id"])
    assert (server["status"], server["OS-EXT-STS:vm_state"]) == ("SHUTOFF", "stopped")
    assert server["OS-EXT-STS:power_state"] == 4


async def test_deletion_removes_process_port_and_files(house: House, demo: Api) -> None:
    made = await demo.boot(networks=[{"uuid": await demo.network()}])
    await house.settle()
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    await demo.get(f"/servers/{made['id']}", expect=404)
    assert not house.fabric.running()
    ports = (await demo.get(f"/network/v2.0/ports?device_id={made['id']}"))["ports"]
    assert ports == []
    assert not (house.settings.cloud_dir / "servers" / made["id"]).exists()


async def test_delete_during_build_wins(house: House, demo: Api) -> None:
    house.fabric.gate.clear()
    made = await demo.boot()
    await demo.server(made["id"])
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    house.fabric.gate.set()
    await house.settle()
    await demo.get(f"/servers/{made['id']}", expect=404)
    assert not house.fabric.running()


async def test_a_port_of_the_user_survives_its_server(house: House, demo: Api) -> None:
    network = await demo.network()
    body = {"port": {"network_id": network}}
    port = (await demo.call("POST", "/network/v2.0/ports", body, 201))["port"]
    made = await demo.boot(networks=[{"port": port["id"]}])
    await house.settle()
    message = await demo.refusal(
        "POST",
        "/servers",
        {
            "server": {
                "name": "two",
                "imageRef": (await demo.server(made["id"]))["image"]["id"],
                "flavorRef": "42",
                "networks": [{"port": port["id"]}],
            }
        },
        409,
        "conflictingRequest",
    )
    assert port["id"] in message
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    found = (await demo.get(f"/network/v2.0/ports/{port['id']}"))["port"]
    assert found["device_id"] == ""


@pytest.mark.parametrize(
    ("action", "status", "running", "back"),
    [
        ("os-stop", "SHUTOFF", False, "os-start"),
        ("pause", "PAUSED", True, "unpause"),
        ("suspend", "SUSPENDED", True, "resume"),
        ("shelve", "SHELVED_OFFLOADED", False, "unshelve"),
    ],
)
async def test_each_transition_has_its_way_back(
    house: House, demo: Api, action: str, status: str, running: bool, back: str
) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], action)
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == status
    assert (made["id"] in house.fabric.running()) is running
    await demo.act(made["id"], back)
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == "ACTIVE"
    assert made["id"] in house.fabric.running()
    assert not house.fabric.paused


async def test_action_in_wrong_state_is_a_conflict(house: House, demo: Api) -> None:
    house.fabric.gate.clear()
    made = await demo.boot()
    path = f"/servers/{made['id']}/action"
    message = await demo.refusal("POST", path, {"os-stop": None}, 409, "conflictingRequest")
    assert "vm_state building" in message
    house.fabric.gate.set()
    await house.settle()
    for action in ("os-start", "unpause", "resume", "unrescue", "confirmResize", "unshelve"):
        await demo.refusal("POST", path, {action: None}, 409, "conflictingRequest")
    await demo.act(made["id"], "os-stop")
    house.fabric.gate.clear()
    await demo.act(made["id"], "os-start")
    message = await demo.refusal("POST", path, {"os-start": None}, 409, "conflictingRequest")
    assert "task_state powering-on" in message
    house.fabric.gate.set()


async def test_reboot_restarts_the_process(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    for kind in ("SOFT", "HARD"):
        house.fabric.calls.clear()
        await demo.act(made["id"], "reboot", {"type": kind})
        listed = (await demo.get("/servers/detail"))["servers"][0]
        assert listed["status"] in {"REBOOT", "HARD_REBOOT"}
        await house.settle()
        assert [c for c, _ in house.fabric.calls] == ["stop_server", "boot"]
        assert (await demo.server(made["id"]))["status"] == "ACTIVE"
    await demo.act(made["id"], "os-stop")
    await house.settle()
    await demo.act(made["id"], "reboot", {"type": "SOFT"}, expect=409)
    await demo.act(made["id"], "reboot", {"type": "HARD"})
    await demo.act(made["id"], "reboot", {"type": "WARM"}, expect=400)


async def test_a_resize_waits_for_confirmation(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], "resize", {"flavorRef": "42"}, expect=400)
    await demo.act(made["id"], "resize", {"flavorRef": "2"})
    await house.settle()
    server = await demo.server(made["id"])
    assert server["status"] == "VERIFY_RESIZE"
    assert server["flavor"]["original_name"] == "m1.small"
    assert house.fabric.servers[made["id"]].memory_mb == 512
    await demo.act(made["id"], "revertResize")
    await house.settle()
    server = await demo.server(made["id"])
    assert (server["status"], server["flavor"]["ram"]) == ("ACTIVE", 64)
    await demo.act(made["id"], "resize", {"flavorRef": "2"})
    await house.settle()
    house.clock.goes.clear()
    await demo.act(made["id"], "confirmResize", expect=204)
    assert (await demo.server(made["id"]))["status"] == "VERIFY_RESIZE"
    for action in ("confirmResize", "revertResize"):
        refused = await demo.act(made["id"], action, expect=400)
        assert refused["badRequest"]["message"] == "Instance has not been resized."
    house.clock.goes.set()
    await house.settle()
    server = await demo.server(made["id"])
    assert (server["status"], server["flavor"]["ram"]) == ("ACTIVE", 512)


async def test_confirmed_resize_completes_after_a_restart(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], "resize", {"flavorRef": "2"})
    await house.settle()
    house.clock.goes.clear()
    await demo.act(made["id"], "confirmResize", expect=204)
    await house.restart()
    await house.settle()
    server = await house.user("demo").server(made["id"])
    assert (server["status"], server["flavor"]["ram"]) == ("ACTIVE", 512)


async def test_rebuild_keeps_addresses_and_replaces_user_data(house: House, demo: Api) -> None:
    made = await demo.boot(networks=[{"uuid": await demo.network()}])
    await house.settle()
    before = await demo.server(made["id"])
    data = base64.b64encode(b"#!/bin/sh\ntrue").decode()
    value = {"imageRef": before["image"]["id"], "name": "new", "user_data": data}
    answer = (await demo.act(made["id"], "rebuild", value))["server"]
    assert answer["status"] == "REBUILD"
    assert answer["adminPass"]
    await house.settle()
    after = await demo.server(made["id"])
    assert (after["status"], after["name"]) == ("ACTIVE", "new")
    assert after["addresses"] == before["addresses"]
    assert house.fabric.servers[made["id"]].user_data == b"#!/bin/sh\ntrue"
    assert ("delete_server", made["id"]) in house.fabric.calls


async def test_a_rescue_uses_a_disk_of_its_own(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    disk = house.fabric.servers[made["id"]].disk
    assert (await demo.act(made["id"], "rescue", {}, expect=200))["adminPass"]
    await house.settle()
    assert (await demo.server(made["id"]))["status"] == "RESCUE"
    assert house.fabric.servers[made["id"]].disk != disk
    await demo.act(made["id"], "unrescue")
    await house.settle()
    assert house.fabric.servers[made["id"]].disk == disk


async def test_locked_server_refuses_its_owner(house: House, demo: Api, admin: Api) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], "lock", {"locked_reason": "in use"})
    server = await demo.server(made["id"])
    assert (server["locked"], server["locked_reason"]) == (True, "in use")
    await demo.act(made["id"], "os-stop", expect=409)
    await demo.call("DELETE", f"/servers/{made['id']}", expect=409)
    await admin.act(made["id"], "os-stop")
    await house.settle()
    await demo.act(made["id"], "unlock")
    await demo.act(made["id"], "os-start")


async def test_every_action_is_on_record_with_its_events(
    house: House, demo: Api, admin: Api
) -> None:
    made = await demo.boot()
    await house.settle()
    await demo.act(made["id"], "os-stop")
    await house.settle()
    actions = (await demo.get(f"/servers/{made['id']}/os-instance-actions"))["instanceActions"]
    assert [a["action"] for a in actions] == ["stop", "create"]
    path = f"/servers/{made['id']}/os-instance-actions/{actions[0]['request_id']}"
    event = (await demo.get(path))["instanceAction"]["events"][0]
    assert (event["event"], event["result"]) == ("compute_stop_instance", "Success")
    assert "traceback" not in event
    assert "traceback" in (await admin.get(path))["instanceAction"]["events"][0]


async def test_the_console_log_is_read_from_its_end(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    assert (await demo.act(made["id"], "os-getConsoleOutput", {}, expect=200))["output"] == ""
    log = house.settings.cloud_dir / "servers" / made["id"] / "console.log"
    log.write_text("".join(f"line {n}\n" for n in range(50000)))
    output = (await demo.act(made["id"], "os-getConsoleOutput", {"length": 2}, expect=200))[
        "output"
    ]
    assert output == "line 49998\nline 49999\n"
    output = (await demo.act(made["id"], "os-getConsoleOutput", {}, expect=200))["output"]
    assert len(output) <= 100 * 1024


async def test_unsupported_server_features_are_refused(house: House, demo: Api) -> None:
    made = await demo.boot()
    await house.settle()
    path = f"/servers/{made['id']}"
    console = {"remote_console": {"protocol": "vnc", "type": "novnc"}}
    message = await demo.refusal("POST", f"{path}/remote-consoles", console, 400, "badRequest")
    assert "novnc" in message
    await demo.act(made["id"], "os-getVNCConsole", {"type": "novnc"}, expect=400)
    await demo.act(made["id"], "addFloatingIp", {"address": "127.24.4.9"}, expect=404)
    await demo.act(made["id"], "changePassword", {"adminPass": "x"}, expect=409)
    await demo.act(made["id"], "dance", None, expect=400)
    await demo.act(made["id"], "evacuate", {}, expect=403)
    volume = {"volumeAttachment": {"volumeId": made["id"]}}
    await demo.refusal("POST", f"{path}/os-volume_attachments", volume, 404, "itemNotFound")
    assert await demo.get(f"{path}/os-volume_attachments") == {"volumeAttachments": []}


KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0N3kYp7k1z0yU0o1l6o0i8k9l3u3Qm0b9h1Y0o2W5x someone"

"""Servers and volumes: attachment, detachment, boot, and deletion with the server."""

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.volumes import Volumes


@pytest.fixture
def volumes(house: House, demo: Api) -> Volumes:
    return Volumes(house, demo)


async def booted(house: House, demo: Api, **fields: object) -> str:
    made = await demo.boot(**fields)
    await house.settle()
    return str(made["id"])


async def attached(house: House, demo: Api, server: str, volume: str, **more: object) -> dict:
    body = {"volumeAttachment": {"volumeId": volume, **more}}
    path = f"/servers/{server}/os-volume_attachments"
    made = (await demo.call("POST", path, body))["volumeAttachment"]
    await house.settle()
    return made


async def test_a_volume_is_attached_and_detached(house: House, demo: Api, volumes: Volumes) -> None:
    server, volume = await booted(house, demo), await volumes.make()
    made = await attached(house, demo, server, volume["id"])
    assert (made["device"], made["serverId"]) == ("/dev/vdb", server)
    assert house.fabric.volumes[server][volume["id"]].device == "vdb"
    held = await volumes.volume(volume["id"])
    assert held["status"] == "in-use"
    (told,) = held["attachments"]
    assert (told["server_id"], told["device"]) == (server, "/dev/vdb")
    assert told["attachment_id"] == made["attachment_id"]
    path = f"/servers/{server}/os-volume_attachments/{volume['id']}"
    old = (await demo.at("2.1").get(path))["volumeAttachment"]
    assert old == {
        "id": volume["id"],
        "volumeId": volume["id"],
        "serverId": server,
        "device": "/dev/vdb",
    }
    shown = (await demo.server(server))["os-extended-volumes:volumes_attached"]
    assert shown == [{"id": volume["id"], "delete_on_termination": False}]
    await demo.call("DELETE", path, expect=202)
    await house.settle()
    assert house.fabric.volumes[server] == {}
    assert (await volumes.volume(volume["id"]))["status"] == "available"
    await demo.call("DELETE", path, expect=404)


async def test_volume_has_one_server_unless_multiattach(
    house: House, demo: Api, admin: Api, volumes: Volumes
) -> None:
    one, two = await booted(house, demo), await booted(house, demo)
    volume = await volumes.make()
    await attached(house, demo, one, volume["id"])
    body = {"volumeAttachment": {"volumeId": volume["id"]}}
    message = await demo.refusal(
        "POST", f"/servers/{two}/os-volume_attachments", body, 400, "badRequest"
    )
    assert "status must be available or downloading to reserve" in message
    assert "attached" in await volumes.refusal("DELETE", f"/volumes/{volume['id']}")
    specs = {"name": "shared", "extra_specs": {"multiattach": "<is> True"}}
    await Volumes(house, admin).call("POST", "/types", {"volume_type": specs})
    shared = await volumes.make(volume_type="shared")
    assert shared["multiattach"] is True
    for server in (one, two):
        await attached(house, demo, server, shared["id"])
    assert len((await volumes.volume(shared["id"]))["attachments"]) == 2
    await demo.call("DELETE", f"/servers/{one}/os-volume_attachments/{shared['id']}", expect=202)
    await house.settle()
    assert (await volumes.volume(shared["id"]))["status"] == "in-use"


async def test_devices_are_named_in_order_or_as_asked(
    house: House, demo: Api, volumes: Volumes
) -> None:
    server = await booted(house, demo)
    made = [await volumes.make() for _ in range(3)]
    wishes = ({}, {"device": "/dev/vdd"}, {})
    devices = [
        (await attached(house, demo, server, each["id"], **wish))["device"]
        for each, wish in zip(made, wishes, strict=True)
    ]
    assert devices == ["/dev/vdb", "/dev/vdd", "/dev/vdc"]
    taken = {"volumeAttachment": {"volumeId": (await volumes.make())["id"], "device": "/dev/vdc"}}
    path = f"/servers/{server}/os-volume_attachments"
    await demo.refusal("POST", path, taken, 409, "conflictingRequest")


async def test_volume_outlives_its_server_and_moves_on(
    house: House, demo: Api, volumes: Volumes
) -> None:
    volume = await volumes.make()
    one = await booted(house, demo)
    await attached(house, demo, one, volume["id"])
    volumes.write(volume["id"], "kept")
    await demo.call("DELETE", f"/servers/{one}", expect=204)
    await house.settle()
    assert (await volumes.volume(volume["id"]))["status"] == "available"
    device = {"source_type": "volume", "destination_type": "volume", "uuid": volume["id"]}
    two = await booted(house, demo, block_device_mapping_v2=[_image(house), device])
    assert house.fabric.servers[two].volumes[0].id == volume["id"]
    assert volumes.read(volume["id"]) == "kept"


def _image(house: House) -> dict[str, object]:
    image = next(house.images().records.find(name="host"))["id"]
    return {"boot_index": 0, "source_type": "image", "destination_type": "local", "uuid": image}


async def test_server_boots_from_volume_of_an_image(
    house: House, demo: Api, volumes: Volumes
) -> None:
    image = next(house.images().records.find(name="host"))["id"]
    device = {
        "boot_index": 0,
        "uuid": image,
        "source_type": "image",
        "destination_type": "volume",
        "volume_size": 5,
        "delete_on_termination": True,
    }
    server = await booted(house, demo, imageRef="", block_device_mapping_v2=[device])
    shown = await demo.server(server)
    assert (shown["status"], shown["image"]) == ("ACTIVE", "")
    (told,) = shown["os-extended-volumes:volumes_attached"]
    volume = await volumes.volume(told["id"])
    assert (volume["size"], volume["status"], volume["bootable"]) == (5, "in-use", "true")
    assert volume["attachments"][0]["device"] == "/dev/vda"
    assert house.fabric.servers[server].disk == volumes.content(told["id"]).parent.parent
    assert house.fabric.servers[server].volumes == ()
    path = f"/servers/{server}/os-volume_attachments/{told['id']}"
    message = await demo.refusal("DELETE", path, None, 400, "badRequest")
    assert message == "Cannot detach a root device volume"
    await demo.call("DELETE", f"/servers/{server}", expect=204)
    await house.settle()
    await volumes.get(f"/volumes/{told['id']}", expect=404)


async def test_boot_volume_boots_the_next_server(house: House, demo: Api, volumes: Volumes) -> None:
    image = next(house.images().records.find(name="host"))["id"]
    volume = await volumes.make(imageRef=image)
    older = [{"device_name": "vda", "volume_id": volume["id"]}]
    one = await booted(house, demo, imageRef="", block_device_mapping=older)
    disk = house.fabric.servers[one].disk
    await demo.call("DELETE", f"/servers/{one}", expect=204)
    await house.settle()
    device = {"boot_index": 0, "uuid": volume["id"], "source_type": "volume"}
    two = await booted(house, demo, imageRef="", block_device_mapping_v2=[device])
    assert house.fabric.servers[two].disk == disk


async def test_image_of_volume_server_has_volume_contents(
    house: House, demo: Api, volumes: Volumes
) -> None:
    image = next(house.images().records.find(name="host"))["id"]
    volume = await volumes.make(imageRef=image)
    device = {"boot_index": 0, "uuid": volume["id"], "source_type": "volume"}
    one = await booted(house, demo, imageRef="", block_device_mapping_v2=[device])
    volumes.write(volume["id"], "on the volume")
    made = (await demo.act(one, "createImage", {"name": "s"}))["image_id"]
    await house.settle()
    two = await booted(house, demo, imageRef=made)
    disk = house.fabric.servers[two].disk
    assert (disk / "upper/root/file").read_text() == "on the volume"


REFUSED = {
    "no-volume": ({"source_type": "volume", "uuid": "9" * 32}, "failed to get volume"),
    "no-snapshot": ({"source_type": "snapshot", "uuid": "9" * 32}, "failed to get snapshot"),
    "blank-without-size": (
        {"source_type": "blank", "destination_type": "volume"},
        "Blank volumes (source: 'blank', dest: 'volume') need to have non-zero size",
    ),
    "no-source": ({"source_type": "tape"}, "Invalid source_type field"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_devices_that_cannot_be_are_refused(house: House, demo: Api, case: str) -> None:
    device, message = REFUSED[case]
    answer = await demo.boot(400, block_device_mapping_v2=[_image(house), device])
    assert message in answer["badRequest"]["message"]


async def test_volume_without_root_file_system_fails_to_boot(
    house: House, demo: Api, volumes: Volumes
) -> None:
    volume = await volumes.make()
    device = {"boot_index": 0, "uuid": volume["id"], "source_type": "volume"}
    server = await booted(house, demo, imageRef="", block_device_mapping_v2=[device])
    shown = await demo.server(server)
    assert shown["status"] == "ERROR"
    assert "no root file system" in shown["fault"]["message"]
    await demo.call("DELETE", f"/servers/{server}", expect=204)
    await house.settle()
    assert (await volumes.volume(volume["id"]))["status"] == "available"


async def test_attachments_survive_a_crash(house: House, demo: Api, volumes: Volumes) -> None:
    server, volume = await booted(house, demo), await volumes.make()
    body = {"volumeAttachment": {"volumeId": volume["id"]}}
    await demo.call("POST", f"/servers/{server}/os-volume_attachments", body)
    await house.restart()
    await house.settle()
    again = Volumes(house, house.user("demo"))
    assert (await again.volume(volume["id"]))["status"] == "in-use"
    assert volume["id"] in house.fabric.volumes[server]
    await again.api.call(
        "DELETE", f"/servers/{server}/os-volume_attachments/{volume['id']}", expect=202
    )
    await house.restart()
    await house.settle()
    again = Volumes(house, house.user("demo"))
    assert (await again.volume(volume["id"]))["status"] == "available"
    assert house.fabric.volumes[server] == {}


async def test_servers_are_paused_while_a_volume_is_copied(
    house: House, demo: Api, volumes: Volumes
) -> None:
    server, volume = await booted(house, demo), await volumes.make()
    await attached(house, demo, server, volume["id"])
    await volumes.snapshot(volume["id"], force=True)
    steps = [name for name, _ in house.fabric.calls if name in {"pause", "copy_disk"}]
    assert steps[-3:] == ["pause", "copy_disk", "pause"]
    assert server not in house.fabric.paused

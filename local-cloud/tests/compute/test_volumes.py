from pathlib import Path
from typing import Any

from cloud_testing.compute import Api, House
from localcloud.compute.volumes import BootVolume, Volumes
from localcloud.http import NotFound, RequestContext

VOLUME = "9b9e7c7e-9c3a-4a3c-8e41-111111111111"


class Storage:
    """Block storage with one bootable volume."""

    def __init__(self, directory: Path, image_id: str) -> None:
        self.volume = BootVolume(directory, image_id)
        self.attached: dict[str, list[dict[str, Any]]] = {}

    def attachments(self, server_id: str) -> list[dict[str, Any]]:
        return self.attached.get(server_id, [])

    async def attach(
        self, context: RequestContext, server: dict[str, Any], wanted: dict[str, Any]
    ) -> dict[str, Any]:
        if wanted["volumeId"] != VOLUME:
            raise NotFound(f"Volume {wanted['volumeId']} could not be found.")
        made = {**wanted, "id": "a", "device": wanted["device"] or "/dev/vdb"}
        self.attached.setdefault(server["id"], []).append(made)
        return made

    async def detach(self, server: dict[str, Any], volume_id: str) -> None:
        if not self.attached.pop(server["id"], None):
            raise NotFound(f"Volume {volume_id} is not attached.")

    def check(self, context: RequestContext, devices: list[dict[str, Any]]) -> None:
        assert devices[0]["uuid"] == VOLUME

    async def prepare(self, context: RequestContext, server: dict[str, Any]) -> None:
        device = server["block_devices"][0]
        wanted = {"volumeId": device["uuid"], "device": "/dev/vda", "tag": None}
        await self.attach(context, server, {**wanted, "delete_on_termination": True})

    def boot_volume(self, server_id: str) -> BootVolume:
        return self.volume

    async def release(self, server_id: str) -> None:
        self.attached.pop(server_id, None)


def storage(house: House, directory: Path) -> Storage:
    image = house.images().records.find(name="host").__next__()["id"]
    made = house.cloud.one(Volumes).storage = Storage(directory, image)
    return made


async def test_volumes_are_attached_and_detached(house: House, demo: Api, tmp_path: Path) -> None:
    storage(house, tmp_path)
    made = await demo.boot()
    await house.settle()
    path = f"/servers/{made['id']}/os-volume_attachments"
    body = {"volumeAttachment": {"volumeId": VOLUME}}
    attached = (await demo.call("POST", path, body))["volumeAttachment"]
    assert (attached["device"], attached["serverId"]) == ("/dev/vdb", made["id"])
    assert attached["attachment_id"] == "a"
    old = (await demo.at("2.1").get(f"{path}/{VOLUME}"))["volumeAttachment"]
    assert old == {
        "id": VOLUME,
        "volumeId": VOLUME,
        "serverId": made["id"],
        "device": "/dev/vdb",
    }
    shown = (await demo.server(made["id"]))["os-extended-volumes:volumes_attached"]
    assert shown == [{"id": VOLUME, "delete_on_termination": False}]
    await demo.call("DELETE", f"{path}/{VOLUME}", expect=202)
    await demo.call("DELETE", f"{path}/{VOLUME}", expect=404)


async def test_a_server_boots_from_a_volume_that_outlives_it(
    house: House, demo: Api, tmp_path: Path
) -> None:
    disk = tmp_path / "volume"
    disk.mkdir()
    known = storage(house, disk)
    device = {
        "boot_index": 0,
        "uuid": VOLUME,
        "source_type": "volume",
        "destination_type": "volume",
    }
    made = await demo.boot(imageRef="", block_device_mapping_v2=[device])
    await house.settle()
    server = await demo.server(made["id"])
    assert (server["status"], server["image"]) == ("ACTIVE", "")
    assert house.fabric.servers[made["id"]].disk == disk
    await demo.act(made["id"], "createImage", {"name": "s"}, expect=400)
    await demo.act(made["id"], "rescue", {}, expect=400)
    await demo.call("DELETE", f"/servers/{made['id']}", expect=204)
    await house.settle()
    assert known.attached == {}
    assert disk.exists()

"""Volumes, snapshots and backups: contents, states, and refusals."""

import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.hostile_archives import directory, file, mode_of_host_file, packed
from cloud_testing.volumes import Volumes
from localcloud.image.model.rootfs_cache import BASE


async def test_a_new_volume_looks_as_cinder_shows_it(volumes: Volumes) -> None:
    creating = await volumes.make(settled=False, name="data", metadata={"a": "b"})
    assert (creating["status"], creating["attachments"]) == ("creating", [])
    await volumes.house.settle()
    made = await volumes.volume(creating["id"])
    assert made["status"] == "available"
    assert (made["size"], made["bootable"], made["encrypted"]) == (1, "false", False)
    assert (made["volume_type"], made["availability_zone"]) == ("__DEFAULT__", "nova")
    assert made["metadata"] == {"a": "b"}
    assert "os-vol-host-attr:host" not in made
    brief = (await volumes.get("/volumes"))["volumes"]
    assert [set(each) for each in brief] == [{"id", "name", "links"}]


async def test_names_and_metadata_change(volumes: Volumes) -> None:
    made = await volumes.make(metadata={"a": "b"})
    path = f"/volumes/{made['id']}"
    await volumes.call("PUT", path, {"volume": {"name": "new", "description": "d"}})
    await volumes.call("POST", f"{path}/metadata", {"metadata": {"c": "d"}})
    await volumes.call("PUT", f"{path}/metadata/e", {"meta": {"e": "f"}})
    await volumes.call("DELETE", f"{path}/metadata/a")
    changed = await volumes.volume(made["id"])
    assert (changed["name"], changed["description"]) == ("new", "d")
    assert changed["metadata"] == {"c": "d", "e": "f"}
    found = (await volumes.get("/volumes/detail?name=new"))["volumes"]
    assert [each["id"] for each in found] == [made["id"]]


async def test_a_snapshot_keeps_what_was_there(volumes: Volumes) -> None:
    made = await volumes.make()
    volumes.write(made["id"], "before")
    snapshot = await volumes.snapshot(made["id"], name="s")
    volumes.write(made["id"], "after")
    assert snapshot["status"] == "available"
    copy = await volumes.make(size=None, snapshot_id=snapshot["id"])
    assert volumes.read(copy["id"]) == "before"
    assert copy["snapshot_id"] == snapshot["id"]
    clone = await volumes.make(source_volid=made["id"], size=2)
    assert (volumes.read(clone["id"]), clone["size"]) == ("after", 2)
    await volumes.act(made["id"], "revert", {"snapshot_id": snapshot["id"]})
    assert volumes.read(made["id"]) == "before"


async def test_backup_is_stored_in_object_store_and_restorable(volumes: Volumes) -> None:
    made = await volumes.make(name="mine")
    volumes.write(made["id"], "saved")
    backup = await volumes.backup(made["id"], name="b")
    assert (backup["status"], backup["size"], backup["object_count"]) == ("available", 1, 1)
    objects = await volumes.api.call("GET", "/v1/AUTH_demo-project/volumebackups?format=json")
    assert len(objects) == 2
    assert all(backup["id"] in each["name"] for each in objects)
    volumes.write(made["id"], "broken")
    path = f"/backups/{backup['id']}"
    body = {"restore": {"volume_id": made["id"]}}
    told = (await volumes.call("POST", f"{path}/restore", body, 202))["restore"]
    assert told == {"backup_id": backup["id"], "volume_id": made["id"], "volume_name": "mine"}
    await volumes.house.settle()
    assert volumes.read(made["id"]) == "saved"
    await volumes.call("DELETE", f"/volumes/{made['id']}", expect=202)
    await volumes.house.settle()
    told = (await volumes.call("POST", f"{path}/restore", {"restore": {}}, 202))["restore"]
    await volumes.house.settle()
    assert volumes.read(told["volume_id"]) == "saved"
    await volumes.call("DELETE", path, expect=202)
    await volumes.house.settle()
    await volumes.get(path, expect=404)
    left = await volumes.api.call("GET", "/v1/AUTH_demo-project/volumebackups?format=json")
    assert left == []


async def test_a_backup_without_its_objects_is_not_restored(volumes: Volumes) -> None:
    made = await volumes.make()
    backup = await volumes.backup(made["id"])
    listed = await volumes.api.call("GET", "/v1/AUTH_demo-project/volumebackups?format=json")
    piece = next(each["name"] for each in listed if each["name"].endswith("-00001"))
    await volumes.api.call("DELETE", f"/v1/AUTH_demo-project/volumebackups/{piece}", expect=204)
    body = {"restore": {"volume_id": made["id"]}}
    await volumes.call("POST", f"/backups/{backup['id']}/restore", body, 202)
    await volumes.house.settle()
    assert (await volumes.volume(made["id"]))["status"] == "error_restoring"
    [message] = (await volumes.get(f"/messages?resource_uuid={made['id']}"))["messages"]
    assert (message["resource_uuid"], message["message_level"]) == (made["id"], "ERROR")
    assert message["user_message"]
    assert (await volumes.get("/messages?resource_uuid=other"))["messages"] == []
    assert (await volumes.get(f"/backups/{backup['id']}"))["backup"]["status"] == "available"


async def changed_backup(volumes: Volumes, data: bytes) -> tuple[str, str]:
    """Make a volume and its backup, and overwrite a piece of the backup as its user."""
    made = await volumes.make()
    volumes.write(made["id"], "saved")
    backup = await volumes.backup(made["id"])
    account = "/v1/AUTH_demo-project/volumebackups"
    listed = await volumes.api.call("GET", f"{account}?format=json")
    piece = next(each["name"] for each in listed if each["name"].endswith("-00001"))

    async def pieces() -> AsyncIterator[bytes]:
        yield data

    await volumes.api.call("PUT", f"{account}/{piece}", pieces(), expect=201)
    return made["id"], backup["id"]


async def restored(volumes: Volumes, volume_id: str, backup_id: str) -> str:
    body = {"restore": {"volume_id": volume_id}}
    await volumes.call("POST", f"/backups/{backup_id}/restore", body, 202)
    await volumes.house.settle()
    return str((await volumes.volume(volume_id))["status"])


async def test_changed_backup_is_not_restored(volumes: Volumes) -> None:
    data = packed([directory("upper"), directory("upper/root"), file("upper/root/file", b"other")])
    volume_id, backup_id = await changed_backup(volumes, data)
    assert await restored(volumes, volume_id, backup_id) == "error_restoring"
    assert volumes.read(volume_id) == "saved"


async def test_changed_backup_of_earlier_cloud_leads_nowhere(
    volumes: Volumes, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.touch(0o600)
    volume_id, backup_id = await changed_backup(volumes, packed(mode_of_host_file(victim)))
    backups = volumes.house.cloud.store.collection("block_storage.backup")
    backup = backups.get(backup_id)
    assert backup is not None
    backups.put({**backup, "sha256": None})
    await restored(volumes, volume_id, backup_id)
    assert stat.S_IMODE(victim.stat().st_mode) == 0o600


async def test_volume_of_snapshot_with_private_base_is_refused(volumes: Volumes) -> None:
    """An image of a server is refused in the same way if its base belongs to another project."""
    images = volumes.house.images()
    private = images.record("other-project", "private", visibility="private", status="active")
    images.add(private)
    snapshot = images.record(
        "demo-project", "snapshot", status="active", properties={BASE: private["id"]}
    )
    images.add(snapshot)
    body = {"volume": {"size": 1, "imageRef": snapshot["id"]}}
    assert "is gone" in await volumes.refusal("POST", "/volumes", body)
    made = await volumes.make()
    body = {"os-reimage": {"image_id": snapshot["id"]}}
    assert "is gone" in await volumes.refusal("POST", f"/volumes/{made['id']}/action", body)


async def test_volume_becomes_image_and_image_becomes_volume(volumes: Volumes) -> None:
    made = await volumes.make()
    volumes.write(made["id"], "in the image")
    told = await volumes.act(made["id"], "os-volume_upload_image", {"image_name": "i"})
    image_id = told["os-volume_upload_image"]["image_id"]
    image = await volumes.api.get(f"/image/v2/images/{image_id}")
    assert image["status"] == "active"
    copy = await volumes.make(imageRef=image_id)
    assert volumes.read(copy["id"]) == "in the image"
    assert copy["bootable"] == "true"
    assert copy["volume_image_metadata"]["image_id"] == image_id


async def test_disk_image_is_a_file_in_its_volume(volumes: Volumes) -> None:
    body = {"name": "disk", "disk_format": "qcow2", "container_format": "bare"}
    image = await volumes.api.call("POST", "/image/v2/images", body, 201)
    await volumes.house.images().fill(
        volumes.house.images().get(image["id"]), _data(b"QFI\xfb not bootable"), 1000
    )
    made = await volumes.make(imageRef=image["id"])
    assert (volumes.content(made["id"]) / "image.qcow2").read_bytes() == b"QFI\xfb not bootable"


async def _data(content: bytes):
    yield content


async def test_a_volume_grows_and_changes_its_type(volumes: Volumes, ruler: Volumes) -> None:
    made = await volumes.make()
    await volumes.act(made["id"], "os-extend", {"new_size": 3})
    assert (await volumes.volume(made["id"]))["size"] == 3
    kind = {"volume_type": {"name": "fast", "extra_specs": {"a": "b"}}}
    await ruler.call("POST", "/types", kind)
    await volumes.act(made["id"], "os-retype", {"new_type": "fast"})
    assert (await volumes.volume(made["id"]))["volume_type"] == "fast"
    await volumes.act(made["id"], "os-update_readonly_flag", {"readonly": True})
    assert (await volumes.volume(made["id"]))["metadata"] == {"readonly": "True"}
    await volumes.act(made["id"], "os-set_bootable", {"bootable": True}, 200)
    assert (await volumes.volume(made["id"]))["bootable"] == "true"


REFUSALS = {
    "no-size": ({"size": 0}, "Invalid input for field/attribute size. Value: 0."),
    "no-number": ({"size": "large"}, "Invalid input for field/attribute size. Value: large."),
    "unknown-field": ({"what": 1}, "Additional properties are not allowed ('what' was unexpected)"),
    "zone": ({"availability_zone": "moon"}, "Availability zone 'moon' is invalid."),
    "no-image": ({"imageRef": "5f1c7d2a-0f51-4b6e-9d0e-7a8f2f5b8a11"}, "unable to access"),
    "long-name": ({"name": "n" * 256}, "name has 256 characters, more than 255."),
    "metadata": ({"metadata": {"a": 1}}, "Invalid input for field/attribute a."),
    "nothing": ({"size": None}, "it is either malformed or otherwise incorrect."),
}


@pytest.mark.parametrize("case", REFUSALS)
async def test_what_makes_no_volume_is_refused(volumes: Volumes, case: str) -> None:
    fields, message = REFUSALS[case]
    body = {"volume": {"size": 1, **fields}}
    assert message in await volumes.refusal("POST", "/volumes", body)
    assert (await volumes.get("/volumes"))["volumes"] == []


async def test_what_is_not_there_is_not_found(volumes: Volumes) -> None:
    missing = "5f1c7d2a-0f51-4b6e-9d0e-7a8f2f5b8a11"
    for kind, words in (("volumes", "Volume"), ("snapshots", "Snapshot"), ("backups", "Backup")):
        message = await volumes.refusal("GET", f"/{kind}/{missing}", status=404)
        assert message == f"{words} {missing} could not be found."
    for source in ("snapshot_id", "source_volid", "backup_id"):
        body = {"volume": {"size": 1, source: missing}}
        await volumes.refusal("POST", "/volumes", body, 404)
    body = {"volume": {"size": 1, "volume_type": "none"}}
    message = await volumes.refusal("POST", "/volumes", body, 404)
    assert message == "Volume type with name none could not be found."


async def test_states_refuse_what_they_must(volumes: Volumes) -> None:
    made = await volumes.make(size=2)
    path = f"/volumes/{made['id']}"
    snapshot = await volumes.snapshot(made["id"])
    assert "have snapshots" in await volumes.refusal("DELETE", path)
    smaller = {"volume": {"size": 1, "snapshot_id": snapshot["id"]}}
    message = await volumes.refusal("POST", "/volumes", smaller)
    assert "Volume size '1'GB cannot be smaller than the snapshot size 2GB" in message
    shrink = {"os-extend": {"new_size": 1}}
    message = await volumes.refusal("POST", f"{path}/action", shrink)
    assert "must be greater than current size. (current: 2, extended: 1)" in message
    assert "no such action" in await volumes.refusal("POST", f"{path}/action", {"os-x": {}})
    same = {"os-retype": {"new_type": "__DEFAULT__"}}
    assert "has to be different" in await volumes.refusal("POST", f"{path}/action", same)
    await volumes.call("DELETE", f"{path}?cascade=true", expect=202)
    await volumes.house.settle()
    await volumes.get(path, expect=404)
    await volumes.get(f"/snapshots/{snapshot['id']}", expect=404)
    assert not volumes.content(made["id"]).parent.parent.exists()


async def test_another_project_sees_nothing(house: House, volumes: Volumes, other: Api) -> None:
    made = await volumes.make()
    stranger = Volumes(house, other)
    await stranger.refusal("GET", f"/volumes/{made['id']}", status=404)
    await stranger.refusal("DELETE", f"/volumes/{made['id']}", status=404)
    assert (await stranger.get("/volumes/detail?all_tenants=1"))["volumes"] == []


async def test_quotas_are_kept(volumes: Volumes, ruler: Volumes) -> None:
    path = "/os-quota-sets/demo-project"
    limits = {"volumes": 2, "gigabytes": 4, "snapshots": 0, "backups": 0}
    await ruler.call("PUT", path, {"quota_set": limits})
    made = await volumes.make(size=3)
    too_large = await volumes.refusal("POST", "/volumes", {"volume": {"size": 2}}, 413)
    assert too_large == (
        "VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes "
        "quota. Requested 2G, quota is 4G and 3G has been consumed."
    )
    await volumes.make(size=1)
    too_many = await volumes.refusal("POST", "/volumes", {"volume": {"size": 1}}, 413)
    assert "Maximum number of volumes allowed (2) exceeded for quota 'volumes'" in too_many
    body = {"snapshot": {"volume_id": made["id"]}}
    assert "quota" in await volumes.refusal("POST", "/snapshots", body, 413)
    used = (await volumes.get(f"{path}?usage=True"))["quota_set"]
    assert used["gigabytes"] == {"limit": 4, "in_use": 4, "reserved": 0, "allocated": 0}
    await ruler.call("DELETE", path)
    assert (await volumes.get(path))["quota_set"]["volumes"] > 2
    message = await ruler.refusal("PUT", path, {"quota_set": {"volumes": -2}})
    assert message == "volumes must be >= -1"
    await volumes.refusal("PUT", path, {"quota_set": {"volumes": 5}}, 403)


async def test_started_work_completes_after_a_crash(house: House, volumes: Volumes) -> None:
    made = await volumes.make()
    volumes.write(made["id"], "kept")
    snapshot = await volumes.snapshot(made["id"])
    creating = await volumes.make(settled=False, snapshot_id=snapshot["id"])
    doomed = await volumes.make()
    await volumes.call("DELETE", f"/volumes/{doomed['id']}", expect=202)
    backup = (await volumes.call("POST", "/backups", {"backup": {"volume_id": made["id"]}}, 202))[
        "backup"
    ]
    await house.restart()
    again = Volumes(house, house.user("demo"))
    await house.settle()
    assert (await again.volume(creating["id"]))["status"] == "available"
    assert again.read(creating["id"]) == "kept"
    await again.get(f"/volumes/{doomed['id']}", expect=404)
    assert (await again.get(f"/backups/{backup['id']}"))["backup"]["status"] == "available"
    assert (await again.volume(made["id"]))["status"] == "available"


async def test_microversions_bring_their_fields(volumes: Volumes) -> None:
    made = await volumes.make()
    assert made["volume_type_id"]
    volumes.api.volume_version = "3.0"
    old = await volumes.volume(made["id"])
    assert "volume_type_id" not in old
    assert "group_id" not in old
    await volumes.get("/attachments", expect=404)
    volumes.api.volume_version = "3.99"
    await volumes.get("/volumes", expect=406)

"""The types of block storage through the real SDK, against a local cloud with real servers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.clouds.driving import failure
from tests.clouds.local_cloud import LocalCloud, running_cloud
from tests.resource_types_openstack.harness import (
    TYPES,
    Ground,
    PatientRow,
)
from tests.resource_types_openstack.services.cinder import CASES, FOUND_AGAIN
from tests.resource_types_openstack.trials import Trials

from stoker.clouds.objects.collections import BACKUPS, FLAVORS, IMAGES, SERVERS, VOLUMES
from stoker.clouds.objects.kinds import KINDS
from stoker.clouds.objects.lookups import Lookups
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.cinder.volume import CinderVolume
from stoker.resources.cinder.volume_type import VolumeType
from stoker.schema.resource_type import Done, Failed
from stoker.schema.resource_type.call import SnapshotFacts

SNAPSHOTS = KINDS["block-storage", "snapshot"]


def rest(seconds: float) -> None:
    """Let the cloud work, for a part of the time that a type asks for."""
    time.sleep(min(seconds, 0.02))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cloud")


@pytest.fixture(scope="module")
def local(directory: Path) -> Iterator[LocalCloud]:
    with running_cloud(directory) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def connections(local: LocalCloud) -> Mapping[str, Any]:
    return {user: local.connection(user) for user in ("demo", "admin")}


@pytest.fixture(scope="module")
def server(connections: Mapping[str, Any]) -> str:
    return booted(connections["demo"], "holder")


@pytest.fixture
def ground(connections: Mapping[str, Any], server: str) -> Iterator[Ground]:
    cloud = connections["demo"]
    volume = str(VOLUMES.create(cloud, {"size": 1})["id"])
    assert wait_for(cloud, volume, "available")
    project = str(connections["admin"].project_id)
    known = {"@server": server, "@volume": volume, "@project": project}
    yield Ground(connections, known, rest=rest)
    VOLUMES.delete(cloud, volume)


def booted(cloud: Any, name: str, **more: Any) -> str:
    [image] = IMAGES.named(cloud, "host")
    flavor = next(each for each in FLAVORS.select(cloud) if each["name"] == "m1.nano")
    body = {"name": name, "imageRef": image["id"], "flavorRef": flavor["id"], "networks": "none"}
    made = SERVERS.create(cloud, {**body, **more}, microversion="2.37")
    for _ in range(300):
        found = SERVERS.get(cloud, str(made["id"]))
        if found["status"] != "BUILD":
            assert found["status"] == "ACTIVE", found
            return str(made["id"])
        time.sleep(0.1)
    raise AssertionError("the server is still being built")


def wait_for(cloud: Any, volume_id: str, status: str) -> bool:
    for _ in range(300):
        if VOLUMES.get(cloud, volume_id)["status"] == status:
            return True
        time.sleep(0.1)
    return False


def row_of(ground: Ground, type_name: str, **given: Any) -> PatientRow:
    kind = TYPES.find(type_name)
    assert kind is not None
    token = RandomIds().token()
    cloud = ground.connections["demo"]
    return PatientRow(kind, cloud, ground.place(given), token=token, name="thing", rest=rest)


class TestTypes(Trials):
    """The types of block storage."""

    cases = CASES
    lost = FOUND_AGAIN


def content(directory: Path, volume_id: str) -> Path:
    place = directory / "cloud" / "volumes" / volume_id / "upper/root"
    place.mkdir(parents=True, exist_ok=True)
    return place / "file"


def test_a_volume_changes_in_place(ground: Ground) -> None:
    admin = PatientRow(VolumeType(), ground.connections["admin"], {"name": "quick"}).create()
    first = {"size": 1, "description": "mine", "metadata": {"a": "b"}}
    row = row_of(ground, "OS::Cinder::Volume", **first).create()
    try:
        steps: list[dict[str, Any]] = [
            {"name": "blue"},
            {"description": "other"},
            {"metadata": {"c": "d"}},
            {"size": 3},
            {"volume_type": "quick"},
            {"read_only": True},
            {"read_only": False},
        ]
        for step in steps:
            physical_id = row.physical_id
            assert row.update(**{**row.given, **step}) == Done(
                physical_id, row.type.attributes_of(row.call("READ"), row.read()["show"])
            ), step
            assert row.physical_id == physical_id
        told = row.read()
        assert (told["size"], told["volume_type"], told["status"]) == ("3", "quick", "available")
        assert (told["display_name"], told["metadata_values"]["c"]) == ("blue", "d")
        shrunk = row.update(**{**row.given, "size": 2})
        assert isinstance(shrunk, Failed)
        assert "Shrinking" in shrunk.reason
    finally:
        row.given = {**row.given, "size": 3}
        assert isinstance(row.delete(), Done)
        assert isinstance(row.delete(), Done)
        assert isinstance(admin.delete(), Done)


def test_volumes_are_made_of_what_there_is(ground: Ground, directory: Path) -> None:
    source = row_of(ground, "OS::Cinder::Volume", size=1).create()
    content(directory, str(source.physical_id)).write_text("origin")
    cloud = ground.connections["demo"]
    copy = row_of(ground, "OS::Cinder::Volume", source_volid=source.physical_id).create()
    [image] = IMAGES.named(cloud, "host")
    root = row_of(ground, "OS::Cinder::Volume", image=image["id"], size=2).create()
    backup = BACKUPS.create(cloud, {"volume_id": source.physical_id, "name": "b"})
    while BACKUPS.get(cloud, backup["id"])["status"] == "creating":
        time.sleep(0.1)
    restored = row_of(ground, "OS::Cinder::Volume", backup_id=backup["id"], size=4).create()
    ec2 = row_of(ground, "AWS::EC2::Volume", SnapshotId=backup["id"], AvailabilityZone="nova")
    ec2.create()
    for made in (copy, restored, ec2):
        assert content(directory, str(made.physical_id)).read_text() == "origin"
    assert (copy.read()["source_volid"], restored.read()["size"]) == (source.physical_id, "4")
    assert root.read()["bootable"] == "true"
    for row in (copy, root, restored, ec2, source):
        assert isinstance(row.delete(), Done)
    BACKUPS.delete(cloud, backup["id"])


def test_snapshot_is_a_restorable_backup(ground: Ground, directory: Path) -> None:
    row = row_of(ground, "OS::Cinder::Volume", size=1).create()
    held = row_of(
        ground,
        "OS::Cinder::VolumeAttachment",
        instance_uuid="@server",
        volume_id=row.physical_id,
    ).create()
    place = content(directory, str(row.physical_id))
    place.write_text("before")
    facts = SnapshotFacts("the-backup", 0.0)
    assert isinstance(row.run("SNAPSHOT", snapshot=facts), Done)
    place.write_text("after")
    kind = CinderVolume()
    before = row.call("UPDATE").properties
    wanted = kind.restored(before, row.data)
    assert wanted["backup_id"] == row.data["backup_id"]
    outcome = row.update(**{**row.given, "backup_id": wanted["backup_id"]})
    assert isinstance(outcome, Done), outcome
    assert content(directory, str(row.physical_id)).read_text() == "before"
    assert row.read()["status"] == "in-use"
    assert isinstance(held.run("CHECK"), Done)
    call = replace(row.call("DELETE_SNAPSHOT"), snapshot=facts)
    for _ in range(20):
        if isinstance(kind.delete_snapshot(call), Done):
            break
        time.sleep(0.1)
    assert BACKUPS.named(row.cloud, "the-backup") == []
    assert isinstance(held.delete(), Done)
    assert isinstance(row.delete(), Done)


def test_failed_restore_names_its_cause(ground: Ground) -> None:
    row = row_of(ground, "OS::Cinder::Volume", size=1).create()
    backup = BACKUPS.create(row.cloud, {"volume_id": row.physical_id})
    while BACKUPS.get(row.cloud, backup["id"])["status"] != "available":
        time.sleep(0.1)
    store = row.cloud.service("object-store")
    container = "/volumebackups"
    for piece in store.request(f"{container}?format=json", "GET").json():
        if str(backup["id"]) in piece["name"]:
            store.request(f"{container}/{piece['name']}", "DELETE").raise_for_status()
    reason = failure(row.update(**{**row.given, "backup_id": backup["id"]}))
    assert reason.startswith("Went to status error_restoring due to")
    assert "Unknown" not in reason
    BACKUPS.delete(row.cloud, backup["id"])
    assert isinstance(row.delete(), Done)


def test_attachment_moves_volume_to_another_server(ground: Ground, server: str) -> None:
    other = booted(ground.connections["demo"], "other")
    row = row_of(
        ground, "OS::Cinder::VolumeAttachment", instance_uuid="@server", volume_id="@volume"
    ).create()
    assert row.physical_id == ground.ids["@volume"]
    assert isinstance(row.update(**{**row.given, "instance_uuid": other}), Done)
    volume = VOLUMES.get(row.cloud, ground.ids["@volume"])
    assert [each["server_id"] for each in volume["attachments"]] == [other]
    assert isinstance(row.run("CHECK"), Done)
    assert isinstance(row.update(**{**row.given, "mountpoint": "/dev/vdf"}), Done)
    volume = VOLUMES.get(row.cloud, ground.ids["@volume"])
    assert [each["device"] for each in volume["attachments"]] == ["/dev/vdf"]
    SERVERS.delete(row.cloud, other)
    assert isinstance(row.delete(), Done)
    assert wait_for(row.cloud, ground.ids["@volume"], "available")


def test_volume_source_may_be_a_name(ground: Ground) -> None:
    cloud, volume = ground.connections["demo"], ground.ids["@volume"]
    VOLUMES.update(cloud, volume, {"name": "by name"})
    snapshot = SNAPSHOTS.create(cloud, {"volume_id": volume, "name": "by name"})
    while SNAPSHOTS.get(cloud, snapshot["id"])["status"] == "creating":
        time.sleep(0.1)
    backup = BACKUPS.create(cloud, {"volume_id": volume, "name": "by name"})
    while BACKUPS.get(cloud, backup["id"])["status"] == "creating":
        time.sleep(0.1)
    kind = VolumeType.collection.select(cloud)[0]
    wanted = {
        "source_volid": ("by name", volume),
        "snapshot_id": ("by name", snapshot["id"]),
        "backup_id": ("by name", backup["id"]),
        "volume_type": (kind["name"], kind["id"]),
    }
    lookups = Lookups(SystemClock())
    for name, (given, found) in wanted.items():
        finder = CinderVolume.properties[name].finder
        assert finder is not None
        assert lookups.find(cloud, finder, given) == found
    lookups.close()
    SNAPSHOTS.delete(cloud, snapshot["id"])
    BACKUPS.delete(cloud, backup["id"])
    while SNAPSHOTS.find(cloud, snapshot["id"]) is not None:
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, 'If neither "backup_id" nor "size" is provided'),
        ({"image": "i", "snapshot_id": "s"}, "one and only one of"),
        ({"size": 1, "image": "i", "snapshot_id": "s"}, 'If "size" is provided, only one of'),
        ({"size": 1, "image": "i"}, None),
        ({"backup_id": "b"}, None),
    ],
)
def test_a_volume_is_made_of_one_thing(given: dict[str, Any], said: str | None) -> None:
    found = CinderVolume().validate({**dict.fromkeys(CinderVolume.properties), **given})
    assert [said in each.message for each in found] == ([True] if said else [])


def released(row: PatientRow, action: str) -> None:
    """Let a server release the objects that its replacement needs, or reclaim them."""
    method = getattr(row.type, action.lower())
    for _ in range(300):
        outcome = method(row.call(action))
        row.note(outcome)
        if isinstance(outcome, Done):
            return
        time.sleep(0.1)
    raise AssertionError(outcome)


def test_server_releases_and_reclaims_its_volume(ground: Ground) -> None:
    cloud, volume = ground.connections["demo"], ground.ids["@volume"]
    [image] = IMAGES.named(cloud, "host")
    flavor = next(each for each in FLAVORS.select(cloud) if each["name"] == "m1.nano")
    given = {
        "image": image["id"],
        "flavor": flavor["id"],
        "networks": [{"allocate_network": "none"}],
        "block_device_mapping_v2": [{"volume_id": volume, "device_name": "vdc"}],
    }

    def holders() -> list[tuple[str, str]]:
        found = VOLUMES.get(cloud, volume)["attachments"]
        return [(each["server_id"], each["device"]) for each in found]

    old = row_of(ground, "OS::Nova::Server", **given)
    assert isinstance(old.run("CREATE", limit=600), Done)
    assert holders() == [(old.physical_id, "/dev/vdc")]
    released(old, "RELEASE")
    assert wait_for(cloud, volume, "available")
    new = row_of(ground, "OS::Nova::Server", **given)
    assert isinstance(new.run("CREATE", limit=600), Done)
    assert holders() == [(new.physical_id, "/dev/vdc")]
    released(new, "RELEASE")
    released(old, "RECLAIM")
    assert holders() == [(old.physical_id, "/dev/vdc")]
    assert "released_volumes" not in old.data
    for row in (new, old):
        assert isinstance(row.run("DELETE", limit=600), Done)
    assert wait_for(cloud, volume, "available")

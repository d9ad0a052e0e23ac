"""No request makes the service fail."""

from typing import Any

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.sampling import one_in
from cloud_testing.volumes import ROOT, Volumes
from localcloud.block_storage.api.endpoints import ENDPOINTS

WRAPPERS = (
    "volume", "snapshot", "backup", "restore", "volume_type", "extra_specs", "encryption",
    "qos_specs", "keys", "attachment", "quota_set", "quota_class_set", "metadata", "meta", "key",
)  # fmt: skip
ACTIONS = (
    "os-extend", "os-retype", "os-set_bootable", "os-update_readonly_flag", "os-reset_status",
    "os-volume_upload_image", "os-set_image_metadata", "os-unset_image_metadata", "revert",
    "os-reimage", "os-attach", "os-detach", "os-initialize_connection", "addProjectAccess",
    "removeProjectAccess", "os-complete", "os-update_snapshot_status", "os-nothing",
)  # fmt: skip
FIELDS = (
    "name", "size", "volume_id", "snapshot_id", "source_volid", "imageRef", "backup_id",
    "volume_type", "availability_zone", "metadata", "multiattach", "force", "new_size", "new_type",
    "bootable", "readonly", "image_name", "status", "key", "project", "container", "provider",
    "control_location", "key_size", "consumer", "volume_uuid", "connector", "mode", "volumes",
    "description", "incremental", "is_public", "instance_uuid",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, "", "x" * 300, "\x00", "\ud800", -1, 10**30, 1.5, True, [], [None], {}, {"a": {}},
    [[["a"]]],
)  # fmt: skip


def bodies(name: str) -> list[Any]:
    plain = [{name: value} for value in VALUES]
    fields = [{name: {field: value}} for field in FIELDS for value in VALUES]
    return [*plain, *fields]


@pytest.mark.parametrize("version", one_in(2, ["3.0", "3.70"]))
async def test_no_body_makes_the_service_fail(house: House, admin: Api, version: str) -> None:
    volumes = Volumes(house, admin)
    volume = await volumes.make()
    snapshot = await volumes.snapshot(volume["id"])
    backup = await volumes.backup(volume["id"])
    kind = (await volumes.call("POST", "/types", {"volume_type": {"name": "t"}}))["volume_type"]
    qos = (await volumes.call("POST", "/qos-specs", {"qos_specs": {"name": "q"}}))["qos_specs"]
    body = {"attachment": {"volume_uuid": volume["id"]}}
    attachment = (await volumes.call("POST", "/attachments", body))["attachment"]
    admin.volume_version = version
    for endpoint in (each for each in ENDPOINTS if each.method in {"POST", "PUT"}):
        path = endpoint.path.format(
            volume_id=volume["id"], snapshot_id=snapshot["id"], backup_id=backup["id"],
            type_id=kind["id"], qos_id=qos["id"], attachment_id=attachment["id"], key="key",
            encryption_id="provider", project_id="p", name="default",
        )  # fmt: skip
        names = ACTIONS if path.endswith("/action") else WRAPPERS
        tried = (b for n in names for b in bodies(n)[:: 37 + len(n) % 5])
        for body in [[], "text", {}, *tried]:
            answer = await admin.send(endpoint.method, f"{ROOT}{path}", body)
            assert answer.status_code < 500, f"{path} {body} {answer.text}"
    await house.settle()


@pytest.mark.parametrize("field", FIELDS)
async def test_hostile_field_of_new_volume_causes_no_fault(
    house: House, demo: Api, field: str
) -> None:
    for value in VALUES:
        body = {"volume": {"size": 1, field: value}}
        answer = await demo.send("POST", f"{ROOT}/volumes", body)
        assert answer.status_code < 500, answer.text
    await house.settle()


@pytest.mark.parametrize("value", ["", "x", "-1", "9" * 40, "%00", "(", "{'a'", "\u00e4", "True"])
async def test_no_query_makes_the_service_fail(house: House, admin: Api, value: str) -> None:
    await Volumes(house, admin).make()
    keys = (
        "limit", "marker", "offset", "sort", "sort_key", "sort_dir", "name", "status", "metadata",
        "all_tenants", "bootable", "is_public", "usage", "with_count", "instance_id", "detail",
    )  # fmt: skip
    paths = (
        "/volumes", "/volumes/detail", "/volumes/summary", "/snapshots", "/backups/detail",
        "/types", "/qos-specs", "/attachments", "/os-quota-sets/p", "/limits",
        "/scheduler-stats/get_pools",
    )  # fmt: skip
    for path in paths:
        for key in keys:
            answer = await admin.send("GET", f"{ROOT}{path}?{key}={value}")
            assert answer.status_code < 500, f"{path}?{key}={value} {answer.text}"

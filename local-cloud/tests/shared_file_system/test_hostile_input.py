"""No request makes the service fail."""

from typing import Any

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.sampling import one_in
from cloud_testing.shares import ROOT, Shares
from localcloud.shared_file_system.api.endpoints import ENDPOINTS

WRAPPERS = (
    "share", "snapshot", "share_type", "share_network", "share-network-subnet", "security_service",
    "quota_set", "quota_class_set", "metadata", "transfer", "accept", "resource_lock",
    "update_access", "extra_specs", "share_replica", "key",
)  # fmt: skip
ACTIONS = (
    "allow_access", "deny_access", "extend", "shrink", "reset_status", "revert", "soft_delete",
    "restore", "reset_task_state", "addProjectAccess", "removeProjectAccess",
    "add_security_service", "remove_security_service", "nothing", "os-extend", "access_list",
)  # fmt: skip
FIELDS = (
    "name", "display_name", "description", "size", "share_proto", "share_type", "snapshot_id",
    "share_network_id", "availability_zone", "metadata", "is_public", "access_type", "access_to",
    "access_level", "access_id", "new_size", "status", "share_id", "extra_specs", "neutron_net_id",
    "neutron_subnet_id", "type", "dns_ip", "password", "shares", "gigabytes", "auth_key",
    "resource_id", "resource_type", "resource_action", "lock_reason", "security_service_id",
    "project", "binary", "host", "share_type_access:is_public", "lock_deletion",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, "", "x" * 300, "\x00", "\ud800", -1, 10**30, 1.5, True, [], [None], {}, {"a": {}},
    [[["a"]]], "1" * 12,
)  # fmt: skip


def bodies(name: str) -> list[Any]:
    plain = [{name: value} for value in VALUES]
    return [*plain, *({name: {field: value}} for field in FIELDS for value in VALUES)]


@pytest.mark.parametrize("version", one_in(2, ["2.6", "2.99"]))
async def test_no_body_makes_the_service_fail(house: House, admin: Api, version: str) -> None:
    shares = Shares(house, admin)
    share = await shares.make()
    snapshot = await shares.snapshot(share["id"])
    rule = await shares.allow(share["id"], "10.0.0.1")
    network = (await shares.call("POST", "/share-networks", {"share_network": {}}))["share_network"]
    service = {"security_service": {"type": "ldap"}}
    service = (await shares.call("POST", "/security-services", service))["security_service"]
    lock = {"resource_lock": {"resource_id": share["id"]}}
    lock = (await shares.call("POST", "/resource-locks", lock))["resource_lock"]
    given = await shares.make()
    offer = {"transfer": {"share_id": given["id"]}}
    offer = (await shares.call("POST", "/share-transfers", offer, 202))["transfer"]
    admin.share_version = version
    for endpoint in (each for each in ENDPOINTS if each.method in {"POST", "PUT"}):
        path = endpoint.path.format(
            share_id=share["id"], snapshot_id=snapshot["id"], type_id="default", access_id=rule,
            share_network_id=network["id"], security_service_id=service["id"], project_id="p",
            lock_id=lock["id"], offer_id=offer["id"], transfer_id=offer["id"], name="default",
            key="key", subnet_id="x", server_id="x", export_id="x", instance_id="x",
        )  # fmt: skip
        names = ACTIONS if path.endswith("/action") else WRAPPERS
        tried = (b for n in names for b in bodies(n)[:: 37 + len(n) % 5])
        for body in [[], "text", {}, *tried]:
            answer = await admin.send(endpoint.method, f"{ROOT}{path}", body)
            assert answer.status_code < 500, f"{path} {body} {answer.text}"
    await house.settle()


@pytest.mark.parametrize("field", FIELDS)
async def test_no_field_makes_the_service_fail(house: House, demo: Api, field: str) -> None:
    shares = Shares(house, demo)
    share = await shares.make()
    path = f"{ROOT}/shares/{share['id']}/action"
    rule = {"access_type": "ip", "access_to": "10.0.0.1"}
    for value in VALUES:
        for where, body in (
            (f"{ROOT}/shares", {"share": {"share_proto": "NFS", "size": 1, field: value}}),
            (f"{ROOT}/snapshots", {"snapshot": {"share_id": share["id"], field: value}}),
            (f"{ROOT}/share-networks", {"share_network": {field: value}}),
            (path, {"allow_access": {**rule, field: value}}),
        ):
            answer = await demo.send("POST", where, body)
            assert answer.status_code < 500, answer.text
    await house.settle()


@pytest.mark.parametrize("value", ["", "x", "-1", "9" * 40, "%00", "(", "{'a'", "\u00e4", "True"])
async def test_no_query_makes_the_service_fail(house: House, admin: Api, value: str) -> None:
    await Shares(house, admin).make()
    keys = (
        "limit", "marker", "offset", "sort_key", "sort_dir", "name", "name~", "status", "metadata",
        "all_tenants", "is_public", "extra_specs", "with_count", "share_type", "share_id",
        "is_soft_deleted", "export_location_path", "security_service_id",
    )  # fmt: skip
    paths = (
        "/shares", "/shares/detail", "/snapshots/detail", "/types", "/share-networks/detail",
        "/security-services", "/share-access-rules", "/quota-sets/p", "/limits", "/messages",
        "/share_instances", "/share-servers", "/resource-locks", "/share-transfers/detail",
        "/snapshot-instances", "/services", "/scheduler-stats/pools/detail",
    )  # fmt: skip
    for path in paths:
        for key in keys:
            answer = await admin.send("GET", f"{ROOT}{path}?{key}={value}")
            assert answer.status_code < 500, f"{path}?{key}={value} {answer.text}"

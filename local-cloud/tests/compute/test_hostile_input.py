from typing import Any

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.sampling import one_in
from localcloud.compute.api.endpoints import ENDPOINTS

WRAPPERS = (
    "server", "flavor", "keypair", "quota_set", "quota_class_set", "server_group", "aggregate",
    "metadata", "meta", "tags", "interfaceAttachment", "volumeAttachment", "remote_console",
    "events", "extra_specs", "key", "status", "host",
)  # fmt: skip
ACTIONS = (
    "reboot", "rescue", "resize", "rebuild", "lock", "unshelve", "createImage", "createBackup",
    "os-getConsoleOutput", "os-resetState", "changePassword", "addSecurityGroup", "migrate",
    "addTenantAccess", "add_host", "set_metadata", "os-getVNCConsole",
)  # fmt: skip
FIELDS = (
    "name", "imageRef", "flavorRef", "networks", "metadata", "tags", "user_data", "key_name",
    "security_groups", "block_device_mapping_v2", "block_device_mapping", "availability_zone",
    "min_count", "personality",
    "hostname", "description", "ram", "vcpus", "disk", "id", "public_key", "type", "policy",
    "rules", "fixed_ips", "port_id", "net_id", "volumeId", "length", "state", "host", "rotation",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, "", "x" * 300, "\x00", "\ud800", -1, 10**30, 1.5, True, [], [None], [{}], {}, {"a": {}},
    {"name": []}, [[["a"]]],
)  # fmt: skip


def bodies(name: str) -> list[Any]:
    plain = [{name: value} for value in VALUES]
    fields = [{name: {field: value}} for field in FIELDS for value in VALUES[:14:3]]
    return [*plain, *fields]


@pytest.mark.parametrize("version", one_in(2, ["2.1", "2.96"]))
async def test_no_body_makes_the_service_fail(house: House, admin: Api, version: str) -> None:
    made = await admin.boot()
    await house.settle()
    aggregate = {"aggregate": {"name": "a"}}
    await admin.call("POST", "/os-aggregates", aggregate)
    writes = [e for e in ENDPOINTS if e.method in {"POST", "PUT"}]
    for endpoint in writes:
        path = endpoint.path.format(
            server_id=made["id"], flavor_id="1", aggregate_id="1", project_id="p", key="key",
            tag="t", class_name="default", service_id="x", group_id="g", port_id="p", name="n",
            volume_id="v",
        )  # fmt: skip
        names = ACTIONS if path.endswith("/action") else WRAPPERS
        for body in [[], "text", {}, *(b for n in names for b in bodies(n)[:: 29 + len(n) % 5])]:
            answer = await admin.at(version).send(
                "POST" if endpoint.method == "POST" else "PUT", path, body
            )
            assert answer.status_code < 500, f"{path} {body} {answer.text}"
    await house.settle()


@pytest.mark.parametrize("field", FIELDS)
async def test_hostile_field_of_new_server_causes_no_fault(
    demo: Api, house: House, field: str
) -> None:
    image = house.images().records.find(name="host").__next__()["id"]
    for value in VALUES:
        server = {"name": "a", "imageRef": image, "flavorRef": "42", "networks": "none"}
        answer = await demo.send("POST", "/servers", {"server": {**server, field: value}})
        assert answer.status_code < 500, answer.text
    await house.settle()


@pytest.mark.parametrize("value", ["", "x", "-1", "9" * 40, "%00", "(", "2026", "\u00e4", "True"])
async def test_no_query_makes_the_service_fail(house: House, admin: Api, value: str) -> None:
    await admin.boot()
    keys = (
        "limit", "marker", "sort_key", "sort_dir", "name", "status", "changes-since", "ip", "tags",
        "locked", "all_tenants", "deleted", "is_public", "minRam", "start", "end", "offset",
        "all_projects", "with_servers", "hypervisor_hostname_pattern", "config_drive", "user_id",
        "tenant_id", "detailed",
    )  # fmt: skip
    paths = (
        "/servers", "/servers/detail", "/flavors", "/os-keypairs", "/os-server-groups", "/limits",
        "/os-simple-tenant-usage", "/os-simple-tenant-usage/p", "/os-hypervisors/detail",
        "/os-services",
    )  # fmt: skip
    for path in paths:
        for key in keys:
            answer = await admin.send("GET", f"{path}?{key}={value}")
            assert answer.status_code < 500, f"{path}?{key}={value} {answer.text}"

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from email import message_from_string
from typing import Any

import pytest
from tests.clouds.driving import Row, failure
from tests.clouds.fake_cloud import FakeCloud

from localcloud.guest.cloud_init import handlers
from stoker.clouds.faults import CloudError, retry_after
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.resources.neutron.net import Net
from stoker.resources.neutron.port import Port
from stoker.resources.neutron.subnet import Subnet
from stoker.resources.nova.server.server import Server
from stoker.schema.resource_type import (
    Call,
    Done,
    Failed,
    Outcome,
    SnapshotFacts,
    Update,
    Wait,
)
from stoker.schema.software import SoftwareConfig

Make = Callable[..., Row]
CONFIG = SoftwareConfig("33333333-3333-3333-3333-333333333333", "p", 0.0, config="#!/bin/sh")


@pytest.fixture
def network(cloud: FakeCloud) -> str:
    net = Row(Net(), cloud.connection, {"name": "private"}).create()
    given = {"network": net.physical_id, "cidr": "10.0.0.0/24"}
    Row(Subnet(), cloud.connection, given).create()
    return str(net.physical_id)


@pytest.fixture
def server(cloud: FakeCloud, network: str) -> Make:
    def prepare(**given: Any) -> Row:
        basic = {
            "image": "img",
            "flavor": "small",
            "networks": [{"network": network}],
            "user_data_format": "RAW",
        }
        return Row(Server(), cloud.connection, {**basic, **given}, name="vm")

    return prepare


def live(cloud: FakeCloud) -> dict[str, Any]:
    [found] = cloud.all("servers")
    return found


def changed(row: Row, **given: Any) -> Outcome:
    return row.update(**{**row.given, **given})


def test_server_is_awaited_until_active(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert live(cloud)["status"] == "ACTIVE"
    assert row.physical_id == live(cloud)["id"]
    assert any("spawning" in str(wait.reason) for wait in row.waits)


def test_physical_id_is_returned_before_first_poll(cloud: FakeCloud, server: Make) -> None:
    outcome = Server().create(server().call("CREATE"))
    assert isinstance(outcome, Wait)
    assert outcome.physical_id == live(cloud)["id"]


def test_failed_server_has_fault_of_the_cloud(cloud: FakeCloud, server: Make) -> None:
    row = server()
    row.note(Server().create(row.call("CREATE")))
    live(cloud).update(next=[], status="ERROR", fault={"message": "No valid host", "code": 500})
    assert row.run("CREATE") == Failed(
        'Went to status ERROR due to "Message: No valid host, Code: 500"', kind="ResourceInError"
    )
    cloud.actions = [{"action": "create", "request_id": "req-1"}, {"request_id": "req-0"}]
    assert failure(row.run("CREATE")).endswith('Code: 500" (request req-1)')
    cloud.actions = []
    cloud.refused.append(("GET", f"/servers/{live(cloud)['id']}/os-instance-actions", 403, "no"))
    assert failure(row.run("CREATE")).endswith('Code: 500"')
    live(cloud)["fault"] = None
    reason = failure(row.run("CREATE"))
    assert reason == 'Went to status ERROR due to "Message: Unknown, Code: Unknown"'


@pytest.mark.parametrize("name", [None, "mail"])
def test_lost_response_creates_no_second_server_or_port(
    cloud: FakeCloud, server: Make, name: str | None
) -> None:
    cloud.lose_answer("POST", "/servers")
    row = server(name=name).create()
    assert row.physical_id == live(cloud)["id"]
    assert len(cloud.all("ports")) == 1


def test_a_lost_port_is_used_again(cloud: FakeCloud, server: Make) -> None:
    cloud.lose_answer("POST", "/ports")
    row = server()
    row.create()
    assert len(cloud.all("ports")) == 1


def test_server_delete_removes_its_own_ports_only(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    port = Row(Port(), cloud.connection, {"network": network}).create()
    row = server(networks=[{"network": network}, {"port": port.physical_id}]).create()
    assert len(cloud.all("ports")) == 2
    assert row.delete() == Done()
    assert cloud.all("servers") == []
    assert [item["id"] for item in cloud.all("ports")] == [port.physical_id]


def test_addresses_come_with_ports_subnets_and_networks(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    read = server().create().read()
    [entry] = read["addresses"]["private"]
    [port] = cloud.all("ports")
    assert entry["port"] == port["id"]
    assert entry["network"]["id"] == network
    assert entry["subnets"][0]["cidr"] == "10.0.0.0/24"
    assert read["networks"]["private"] == read["networks"][network] == [entry["addr"]]
    assert read["first_address"] == entry["addr"]
    assert read["console_urls"] == {"novnc": "http://console.example"}


def test_marker_tag_of_named_server_is_hidden(cloud: FakeCloud, server: Make) -> None:
    row = server(name="mail", tags=["blue"]).create()
    assert "stoker:abcdefgh2345" in live(cloud)["tags"]
    assert row.read()["tags"] == ["blue"]


def test_metadata_name_and_tags_change_in_place(cloud: FakeCloud, server: Make) -> None:
    row = server(metadata={"a": "1", "b": "2"}, tags=["x"]).create()
    before = row.physical_id
    assert isinstance(changed(row, metadata={"b": 3}, name="mail", tags=["y"]), Done)
    found = live(cloud)
    assert (found["id"], found["name"], found["metadata"]) == (before, "mail", {"b": "3"})
    assert found["tags"] == ["y", "stoker:abcdefgh2345"]


NOT_TEXT = {"t": True, "l": [1, True], "m": {"k": True}, "z": None, "n": 2.5, "s": "as is"}


@pytest.mark.parametrize("first", [NOT_TEXT, {"before": "1"}])
def test_server_metadata_that_is_not_text_is_json(
    cloud: FakeCloud, server: Make, first: dict[str, Any]
) -> None:
    row = server(metadata=first).create()
    assert isinstance(changed(row, metadata=NOT_TEXT), Done)
    assert live(cloud)["metadata"] == {
        "t": "true",
        "l": "[1, true]",
        "m": '{"k": true}',
        "z": "null",
        "n": "2.5",
        "s": "as is",
    }


def test_server_with_empty_key_name_has_no_key(cloud: FakeCloud, server: Make) -> None:
    server(key_name="").create()
    assert "key_name" not in live(cloud)


def test_a_changed_flavor_resizes_and_confirms(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert isinstance(changed(row, flavor="large"), Done)
    assert live(cloud)["flavor"] == {"id": "large"}
    assert live(cloud)["status"] == "ACTIVE"


def test_a_resize_that_the_cloud_undoes_fails(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    method = Server().update
    before = row.call("UPDATE").properties
    row.given = {**row.given, "flavor": "large"}
    call = row.call("UPDATE")

    def repeat(progress: dict[str, Any]) -> Outcome:
        return method(
            replace(call, update=Update(before, frozenset({"flavor"})), progress=progress)
        )

    first = repeat({})
    assert isinstance(first, Wait)
    live(cloud).update(flavor={"id": "small"}, next=[], status="ACTIVE")
    live(cloud)["OS-EXT-STS:task_state"] = None
    outcome = repeat(dict(first.progress or {}))
    assert isinstance(outcome, Failed)
    assert "was undone" in outcome.reason


def test_a_changed_image_rebuilds(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert isinstance(changed(row, image="other"), Done)
    assert live(cloud)["image"] == {"id": "other"}


def test_changed_user_data_replaces_rebuilds_or_is_ignored(cloud: FakeCloud, server: Make) -> None:
    row = server(user_data="one", user_data_update_policy="REBUILD").create()
    assert isinstance(changed(row, user_data="two"), Done)
    assert base64.b64decode(live(cloud)["user_data"]) == b"two"
    requests = len(cloud.calls)
    assert isinstance(changed(row, user_data="three", user_data_update_policy="IGNORE"), Done)
    assert len(cloud.calls) == requests


@pytest.mark.parametrize(
    ("name", "policy", "expected"),
    [
        ("flavor", {"flavor_update_policy": "RESIZE"}, False),
        ("flavor", {"flavor_update_policy": "REPLACE"}, True),
        ("image", {"image_update_policy": "REPLACE"}, True),
        ("user_data", {}, True),
        ("user_data", {"user_data_update_policy": "IGNORE"}, False),
        ("name", {"flavor_update_policy": "REPLACE"}, False),
    ],
)
def test_policies_decide_on_replacement(
    server: Make, name: str, policy: dict[str, Any], expected: bool
) -> None:
    call = replace(server(**policy).call("UPDATE"), update=Update(changed=frozenset({name})))
    assert Server().needs_replacement(call) is expected


def test_networks_are_plugged_and_unplugged(cloud: FakeCloud, server: Make, network: str) -> None:
    row = server().create()
    [first] = cloud.all("ports")
    fixed = {"network": network, "fixed_ip": "10.0.0.200"}
    assert isinstance(changed(row, networks=[{"network": network}, fixed]), Done)
    assert len([port for port in cloud.all("ports") if port["device_id"]]) == 2
    assert isinstance(changed(row, networks=[fixed]), Done)
    [left] = cloud.all("ports")
    assert left["fixed_ips"][0]["ip_address"] == "10.0.0.200"
    assert left["id"] != first["id"]


def test_floating_ip_is_associated_with_port_of_entry(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    address = cloud.put("floatingips", port_id=None)
    server(networks=[{"network": network, "floating_ip": address}]).create()
    [port] = cloud.all("ports")
    assert cloud.tables["floatingips"][address]["port_id"] == port["id"]


def test_security_groups_are_set_on_created_ports(cloud: FakeCloud, server: Make) -> None:
    group = cloud.put("security-groups", name="web")
    server(security_groups=["web"]).create()
    assert cloud.all("ports")[0]["security_groups"] == [group]


@pytest.mark.parametrize("word", ["none", "auto"])
def test_networks_can_be_left_to_the_cloud(cloud: FakeCloud, server: Make, word: str) -> None:
    server(networks=[{"allocate_network": word}]).create()
    assert live(cloud)["networks"] == word
    assert cloud.all("ports") == []


def test_server_releases_and_reclaims_its_ports(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    port = Row(Port(), cloud.connection, {"network": network}).create()
    networks = [{"port": port.physical_id}, {"network": network, "fixed_ip": "10.0.0.150"}]
    old = server(networks=networks).create()
    assert old.run("RELEASE") == Done()
    assert sorted(cloud.detached) == sorted(item["id"] for item in cloud.all("ports"))
    new = server(networks=networks, user_data="new")
    new.token = "zzzzzzzz2345"
    new.create()
    assert "10.0.0.150" in addresses(cloud, new)
    assert addresses(cloud, old) == []
    assert new.run("RELEASE") == Done()
    assert isinstance(old.run("RECLAIM"), Done)
    assert "10.0.0.150" in addresses(cloud, old)
    assert addresses(cloud, new) == []
    assert new.delete() == Done()
    assert {item["device_id"] for item in cloud.all("ports")} == {old.physical_id}
    assert old.delete() == Done()
    assert [item["id"] for item in cloud.all("ports")] == [port.physical_id]


def addresses(cloud: FakeCloud, row: Row) -> list[str]:
    return [
        ip["ip_address"]
        for port in cloud.all("ports")
        if port["device_id"] == row.physical_id
        for ip in port["fixed_ips"]
    ]


def test_server_in_error_still_releases_its_ports(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    port = Row(Port(), cloud.connection, {"network": network}).create()
    old = server(networks=[{"port": port.physical_id}]).create()
    live(cloud)["status"] = "ERROR"
    assert old.run("RELEASE") == Done()
    assert cloud.detached == []
    assert cloud.all("ports")[0]["device_id"] == ""


def test_server_without_user_ports_keeps_its_addresses(cloud: FakeCloud, server: Make) -> None:
    old = server().create()
    assert old.run("RELEASE") == Done()
    assert addresses(cloud, old) != []


def test_wait_for_detached_port_is_bounded(cloud: FakeCloud, server: Make, network: str) -> None:
    cloud.detach_polls = 1000
    row = server().create()
    before = row.call("UPDATE").properties
    row.given = {**row.given, "networks": [{"network": network, "fixed_ip": "10.0.0.99"}]}
    call = replace(row.call("UPDATE"), update=Update(before, frozenset({"networks"})))
    first = Server().update(call)
    assert isinstance(first, Wait)
    assert "detached" in str(first.reason)
    with pytest.raises(RequestError, match="still there after 300 seconds"):
        Server().update(replace(call, progress=first.progress or {}, now=call.now + 301))


def test_a_resize_is_confirmed_once(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    path = f"/servers/{row.physical_id}/action"
    assert isinstance(changed(row, flavor="large"), Done)
    assert cloud.count("POST", path) == 2


def test_confirmed_resize_continues_after_a_crash(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    before = row.call("UPDATE").properties
    live(cloud).update(status="VERIFY_RESIZE", next=[("VERIFY_RESIZE", None)])
    cloud.refuse("POST", f"/servers/{row.physical_id}/action", 400, "has not been resized")
    row.given = {**row.given, "flavor": "large"}
    call = replace(row.call("UPDATE"), update=Update(before, frozenset({"flavor"})))
    assert isinstance(Server().update(call), Wait)


def test_server_is_imaged_before_delete_unless_empty(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert isinstance(row.run("SNAPSHOT"), Done)
    assert row.data["snapshot_image_id"] == cloud.all("images")[0]["id"]
    cloud.all("images")[0]["status"] = "queued"
    call = row.call("SNAPSHOT", {"image": cloud.all("images")[0]["id"]})
    assert isinstance(Server().snapshot(call), Wait)
    assert "without data" in failure(Server().snapshot(replace(call, now=call.now + 61)))
    live(cloud)["status"] = "ERROR"
    assert "nothing to snapshot" in failure(Server().snapshot(row.call("SNAPSHOT")))
    assert Server().snapshot(replace(row.call("SNAPSHOT"), action="DELETE")) == Done(data={})
    assert len(cloud.all("images")) == 1


def test_unrecorded_image_is_found_and_deleted_with_snapshot(
    cloud: FakeCloud, server: Make
) -> None:
    row = server().create()
    call = replace(row.call("SNAPSHOT"), snapshot=SnapshotFacts("stack-web-lost"))
    assert isinstance(Server().snapshot(call), Wait)
    assert isinstance(Server().snapshot(call), Wait)
    assert [image["name"] for image in cloud.all("images")] == ["stack-web-lost"]
    gone = replace(call, action="DELETE", physical_id=None, data={})
    assert Server().delete_snapshot(gone) == Done()
    assert cloud.all("images") == []
    assert Server().delete_snapshot(gone) == Done()


def test_possibly_sent_request_prevents_second_image(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    call = row.call("SNAPSHOT")
    call = replace(call, snapshot=SnapshotFacts("lost", lands_until=call.now + 9))
    assert isinstance(Server().snapshot(call), Wait)
    assert isinstance(Server().delete_snapshot(replace(call, data={})), Wait)
    assert cloud.all("images") == []
    late = replace(call, now=call.now + 10)
    assert Server().delete_snapshot(replace(late, data={})) == Done()
    assert isinstance(Server().snapshot(late), Wait)
    assert len(cloud.all("images")) == 1


def test_failed_image_is_requested_again_within_bounds(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    call = replace(row.call("SNAPSHOT"), snapshot=SnapshotFacts("one"))
    first = Server().snapshot(call)
    assert isinstance(first, Wait)
    cloud.tables["images"].clear()
    again = Server().snapshot(replace(call, progress=first.progress or {}))
    assert isinstance(again, Wait)
    second = Server().snapshot(replace(call, progress=again.progress or {}))
    assert isinstance(second, Wait)
    assert len(cloud.all("images")) == 1
    gone = {"image": "gone", "lost": 20}
    assert "is gone" in failure(Server().snapshot(replace(call, progress=gone)))


def test_image_of_restored_server_is_no_drift(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    snapped = cloud.put("images", name="snapped", status="active", image_type="snapshot")
    other = cloud.put("images", name="other", status="active")
    live(cloud)["image"] = {"id": snapped}
    assert "image" not in (Server().live(row.call("CHECK")) or {})
    del cloud.tables["images"][snapped]
    assert "image" not in (Server().live(row.call("CHECK")) or {})
    live(cloud)["image"] = {"id": other}
    assert (Server().live(row.call("CHECK")) or {})["image"] == other


def test_server_is_restored_from_snapshot_image() -> None:
    data = {"snapshot_image_id": "snapped", "password": "secret"}
    given = {"image": "ubuntu", "flavor": "small"}
    assert Server().restored(given, data) == {"image": "snapped", "flavor": "small"}
    assert Server().restored(given, {}) == given
    volume = {"image": None, "block_device_mapping_v2": [{"volume_id": "v"}]}
    assert Server().restored(volume, data) == volume


@pytest.mark.parametrize("policy", ["REBUILD", "REPLACE"])
def test_a_restore_follows_the_image_update_policy(
    cloud: FakeCloud, server: Make, policy: str
) -> None:
    row = server(image_update_policy=policy).create()
    before = row.call("UPDATE").properties
    call = replace(
        row.call("UPDATE"),
        properties=Server().restored(before, {"snapshot_image_id": "snapped"}),
        update=Update(before, frozenset({"image"})),
    )
    assert Server().needs_replacement(call) == (policy == "REPLACE")


def test_a_check_fails_unless_the_server_is_active(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert isinstance(row.run("CHECK"), Done)
    live(cloud)["status"] = "SHUTOFF"
    assert "SHUTOFF" in failure(row.run("CHECK"))


def test_tools_user_data_contains_script_and_metadata(cloud: FakeCloud, server: Make) -> None:
    row = server(user_data="#!/bin/sh\necho hi", user_data_format="HEAT_CFNTOOLS")
    row.metadata = {"AWS::CloudFormation::Init": {}}
    row.create()
    message = message_from_string(base64.b64decode(live(cloud)["user_data"]).decode())
    parts = {part.get_filename(): part for part in message.walk() if part.get_filename()}
    assert parts["cfn-userdata"].get_content_type() == "text/x-cfninitdata"
    assert parts["cfn-userdata"].get_payload(decode=True) == b"#!/bin/sh\necho hi"
    assert b"AWS::CloudFormation::Init" in bytes(parts["cfn-init-data"].get_payload(decode=True))
    assert parts["part-handler.py"].get_content_type() == "text/part-handler"
    # the names that cloud-init looks for
    defined = re.findall(r"^def (\w+)", parts["part-handler.py"].get_payload(), re.MULTILINE)
    assert defined == ["list_types", "handle_part"]
    # The local cloud does the same without Python. It knows exactly this text.
    assert handlers.is_known(bytes(parts["part-handler.py"].get_payload(decode=True)))


def test_tools_in_server_get_the_api_address(cloud: FakeCloud, server: Make) -> None:
    row = server(user_data="#!/bin/sh", user_data_format="HEAT_CFNTOOLS")
    row.signalling = StackUsers()
    row.create()
    message = message_from_string(base64.b64decode(live(cloud)["user_data"]).decode())
    texts = {part.get_filename(): part.get_payload() for part in message.walk()}
    # read as its end is the port, and as "/v1/" comes behind it
    assert texts["cfn-metadata-server"] == "http://cfn.example:8010"
    assert "cfn_region_endpoint = cfn.example\n" in texts["cfn-boto-cfg"]
    assert "cloudwatch_region_endpoint = watch.example\n" in texts["cfn-boto-cfg"]
    assert "/etc/boto.cfg" in texts["run-cfn-userdata.sh"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"networks": [{}]}, "one of network, subnet and port"),
        ({"image": None}, "nothing to boot from"),
        ({"networks": [{"allocate_network": "auto"}, {"network": "n"}]}, "the only entry"),
        ({"block_device_mapping_v2": [{"device_name": "vda"}]}, "exactly one of"),
    ],
)
def test_a_server_that_contradicts_itself_is_refused(given: dict[str, Any], message: str) -> None:
    findings = Server().validate({"image": "img", **given})
    assert any(message in finding.message for finding in findings)


def test_taken_address_fails_server_immediately(
    cloud: FakeCloud, server: Make, network: str
) -> None:
    Row(Port(), cloud.connection, {"network": network}).create()
    [taken] = [port["fixed_ips"][0]["ip_address"] for port in cloud.all("ports")]
    row = server(networks=[{"network": network, "fixed_ip": taken}])
    with pytest.raises(RequestError, match="is taken"):
        row.run("CREATE")


def test_a_software_config_stands_for_its_content(cloud: FakeCloud, server: Make) -> None:
    row = server(user_data=CONFIG.id)
    call = replace(row.call("CREATE"), configs={CONFIG.id: CONFIG})
    Server().create(call)
    assert base64.b64decode(live(cloud)["user_data"]) == b"#!/bin/sh"


def test_port_in_use_is_requested_again(cloud: FakeCloud, server: Make) -> None:
    row = server()
    cloud.refuse("POST", "/servers", 409, "Port 1 is still in use.")
    with pytest.raises(CloudError) as fault:
        row.run("CREATE")
    assert retry_after(fault.value, 0) is not None
    assert isinstance(row.run("CREATE"), Done)
    assert len(cloud.all("ports")) == 1


class StackUsers:
    """Makes stack users that exist only here."""

    def __init__(self) -> None:
        self.users: set[str] = set()

    def create_user(self, call: Call) -> dict[str, str]:
        self.users.add(call.resource_id)
        return {"user_id": "u", "username": "n", "password": "p", "project_id": "sp"}

    def delete_user(self, call: Call) -> None:
        self.users.discard(call.resource_id)

    def create_keypair(self, call: Call, user_id: str) -> dict[str, str]:
        return {"access": "a", "secret": "s"}

    def watch_url(self, call: Call) -> str:
        return "http://watch.example:8003/v1/"

    def metadata_url(self, call: Call) -> str:
        return "http://cfn.example:8010/v1/"


@pytest.mark.parametrize(
    ("transport", "collector", "expected"),
    [
        ("POLL_SERVER_CFN", "cfn", {"access_key_id": "a", "path": "vm.Metadata"}),
        ("POLL_SERVER_HEAT", "heat", {"user_id": "u", "resource_name": "vm"}),
        ("ZAQAR_MESSAGE", "zaqar", {"user_id": "u"}),
    ],
)
def test_server_gets_address_of_its_deployments(
    cloud: FakeCloud, server: Make, transport: str, collector: str, expected: dict[str, str]
) -> None:
    row = server(user_data_format="SOFTWARE_CONFIG", software_config_transport=transport)
    users = StackUsers()
    row.signalling = users
    row.create()
    told = row.data["told"]["os-collect-config"]
    assert collector in told["collectors"]
    assert expected.items() <= told[collector].items()
    assert row.data["user_id"] == "u"
    assert cloud.count("POST", "/servers") == 1
    row.delete()
    assert users.users == set()


@pytest.mark.parametrize(
    ("transport", "service"), [("ZAQAR_MESSAGE", "message"), ("POLL_TEMP_URL", "object-store")]
)
def test_unavailable_transport_is_refused(
    cloud: FakeCloud, server: Make, transport: str, service: str
) -> None:
    cloud.missing.add(service)
    row = server(user_data_format="SOFTWARE_CONFIG", software_config_transport=transport)
    row.signalling = StackUsers()
    with pytest.raises(RequestError, match=f"{transport} needs a service of type"):
        row.create()
    assert cloud.all("servers") == []


def test_a_server_is_suspended_and_resumed_once(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    for action, status in (("suspend", "SUSPENDED"), ("resume", "ACTIVE")):
        for _ in range(2):
            assert isinstance(row.run(action.upper()), Done)
            assert live(cloud)["status"] == status
    assert cloud.count("POST", f"/servers/{row.physical_id}/action") == 2


def test_a_server_that_is_busy_is_suspended_afterwards(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    live(cloud)["next"] = [("ACTIVE", "image_uploading"), ("ACTIVE", None)]
    assert isinstance(row.run("SUSPEND"), Done)
    cloud.refuse("POST", f"/servers/{row.physical_id}/action", 409, "in task_state resuming")
    assert isinstance(Server().resume(row.call("RESUME")), Wait)


def test_failed_suspend_reports_reason(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    live(cloud)["status"] = "SHUTOFF"
    cloud.refuse("POST", f"/servers/{row.physical_id}/action", 409, "it is in vm_state stopped")
    assert "it is in vm_state stopped" in failure(row.run("SUSPEND"))
    live(cloud)["status"] = "ERROR"
    assert 'Went to status ERROR due to "Message: ' in failure(row.run("RESUME"))


def test_check_reports_expected_server_status(cloud: FakeCloud, server: Make) -> None:
    row = server().create()
    assert isinstance(row.run("CHECK"), Done)
    live(cloud)["status"] = "SHUTOFF"
    outcome = row.run("CHECK")
    assert failure(outcome) == "'status': expected 'ACTIVE', got 'SHUTOFF'"
    live(cloud)["status"] = "ERROR"
    assert 'Went to status ERROR due to "Message: ' in failure(row.run("CHECK"))


def test_server_metadata_is_recorded_before_the_server(cloud: FakeCloud, server: Make) -> None:
    row = server(user_data_format="SOFTWARE_CONFIG")
    while not cloud.all("servers"):
        outcome = row.type.create(row.call("CREATE", {}))
        told_before = dict(row.data.get("told", {}))
        row.note(outcome)
    assert told_before["deployments"] == []
    assert told_before["os-collect-config"]["cfn"]["path"] == "vm.Metadata"

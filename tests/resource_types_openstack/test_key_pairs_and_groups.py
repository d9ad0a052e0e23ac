from __future__ import annotations

from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from tests.clouds.driving import Row, failure
from tests.clouds.fake_cloud import FakeCloud

from stoker.resources.nova.flavor import Flavor
from stoker.resources.nova.keypair import KeyPair
from stoker.resources.nova.server_group import ServerGroup
from stoker.schema.resource_type import Done


def key_pair(cloud: FakeCloud, **given: Any) -> Row:
    return Row(KeyPair(), cloud.connection, {"name": "mine", **given})


def test_private_key_is_kept_on_request_only(cloud: FakeCloud) -> None:
    row = key_pair(cloud, save_private_key=True).create()
    key = load_pem_private_key(row.read()["private_key"].encode(), None)
    assert key.key_size == 2048
    row.delete()
    row = key_pair(cloud).create()
    assert row.read()["private_key"] == ""
    assert row.physical_id == "mine"


def test_private_key_is_recorded_before_the_request(cloud: FakeCloud) -> None:
    row = key_pair(cloud, save_private_key=True)
    row.note(KeyPair().create(row.call("CREATE")))
    assert "private_key" in row.data
    assert cloud.calls == []


def test_a_lost_answer_keeps_the_key(cloud: FakeCloud) -> None:
    row = key_pair(cloud, save_private_key=True)
    cloud.lose_answer("POST", "/os-keypairs")
    row.create()
    assert row.read()["public_key"].split()[1] == row.data["public_key"].split()[1]


def test_foreign_key_pair_of_same_name_is_refused(cloud: FakeCloud) -> None:
    cloud.tables["keypairs"]["mine"] = {"name": "mine", "public_key": "ssh-rsa AAAA theirs"}
    assert "is there already" in failure(key_pair(cloud).run("CREATE"))
    given = {"public_key": "ssh-rsa AAAA theirs"}
    assert "is there already" in failure(key_pair(cloud, **given).run("CREATE"))


OLD, NEW = "ssh-rsa AAAA mine", "ssh-rsa BBBB mine"


def released(row: Row) -> None:
    """Let a key pair make way for its replacement, as the engine does."""
    assert isinstance(row.run("RELEASE"), Done)


def test_key_pair_is_replaced_if_its_key_changes(cloud: FakeCloud) -> None:
    old = key_pair(cloud, public_key=OLD).create()
    new = key_pair(cloud, public_key=NEW)
    released(old)
    assert isinstance(old.run("CHECK"), Done)  # it can be uploaded again
    new.create()
    released(old)  # as after a death of the engine
    assert cloud.tables["keypairs"]["mine"]["public_key"] == NEW


def test_released_key_pair_is_uploaded_again_if_kept(cloud: FakeCloud) -> None:
    row = key_pair(cloud, save_private_key=True).create()
    before = dict(row.data)
    released(row)
    assert cloud.tables["keypairs"] == {}
    assert isinstance(row.run("RECLAIM"), Done)
    assert cloud.tables["keypairs"]["mine"]["public_key"] == before["public_key"]
    assert row.data == before


def test_key_pair_recreated_by_others_is_not_released(cloud: FakeCloud) -> None:
    row = key_pair(cloud, public_key=OLD).create()
    cloud.tables["keypairs"]["mine"]["public_key"] = "ssh-rsa CCCC theirs"
    released(row)
    assert cloud.tables["keypairs"]["mine"]["public_key"] == "ssh-rsa CCCC theirs"


def test_a_server_group_with_rules_has_one_policy(cloud: FakeCloud) -> None:
    given = {"policies": ["anti-affinity"], "rules": {"max_server_per_host": 3}}
    Row(ServerGroup(), cloud.connection, given).create()
    [group] = cloud.all("os-server-groups")
    assert (group["policy"], group["rules"]) == ("anti-affinity", {"max_server_per_host": 3})


def test_lost_flavor_is_found_by_its_marker(cloud: FakeCloud) -> None:
    given = {"name": "large", "ram": 512, "vcpus": 1}
    row = Row(Flavor(), cloud.connection, given)
    cloud.put("flavors", name="large", ram=512, vcpus=1, description=None)
    assert row.type.find(row.call("CREATE")) is None
    cloud.tables["flavors"].clear()
    cloud.lose_answer("POST", "/flavors")
    row.create()
    assert [each["id"] for each in cloud.all("flavors")] == [row.physical_id]


def lost_group(cloud: FakeCloud) -> Row:
    """A named server group whose create was sent and got no response."""
    row = Row(ServerGroup(), cloud.connection, {"name": "apart"})
    row.note(ServerGroup().create(row.call("CREATE")))
    return row


def test_lost_server_group_is_found_by_its_policies(cloud: FakeCloud) -> None:
    row = lost_group(cloud)
    cloud.put("os-server-groups", name="apart", policies=["affinity"])
    assert ServerGroup().find(row.call("CREATE")) is None
    ours = cloud.put("os-server-groups", name="apart", policies=["anti-affinity"])
    assert ServerGroup().find(row.call("CREATE")) == ours


def test_create_fails_if_two_server_groups_appeared(cloud: FakeCloud) -> None:
    row = lost_group(cloud)
    given = {"name": "apart", "policies": ["anti-affinity"]}
    ids = [cloud.put("os-server-groups", **given) for _ in range(2)]
    assert ServerGroup().find(row.call("CREATE")) is None
    reason = failure(row.run("CREATE"))
    assert all(each in reason for each in ids)
    assert ServerGroup().find(row.call("DELETE")) is None
    assert len(cloud.all("os-server-groups")) == 2

"""The ``openstack share`` commands and openstacksdk against a running cloud without servers."""

from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., list[Any]]

pytest.importorskip("manilaclient", reason="python-manilaclient is not installed")
# The libraries warn of their own code; that is none of the cloud's business.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


def test_a_share_lives_through_the_commands(openstack: Run) -> None:
    made, rule, rules, exports, shown, listed = openstack(
        "share create NFS 1 --name one --property a=b --wait",
        "share access create one ip 10.0.0.0/24 --access-level ro",
        "share access list one",
        "share export location list one",
        "share show one",
        "share list",
    )
    assert (made["status"], made["share_type_name"]) == ("available", "default")
    assert (rule["access_to"], rule["access_level"]) == ("10.0.0.0/24", "ro")
    assert [each["State"] for each in rules] == ["active"]
    assert exports[0]["Path"].startswith("127.24.")
    assert shown["properties"] == {"a": "b"}
    assert [each["Name"] for each in listed] == ["one"]
    resized, kept, copied, _, gone = openstack(
        "share resize one 2 --wait",
        "share snapshot create one --name kept --wait",
        "share create NFS 2 --name two --snapshot-id kept --wait",
        f"share access delete one {rule['id']} --wait",
        "share delete two --wait",
    )
    assert (resized, gone) == ("", "")
    assert (kept["status"], copied["status"]) == ("available", "available")
    changed, snapshots, reverted, _, _, left = openstack(
        "share set one --description d --property c=d",
        "share snapshot list",
        "share revert kept --wait",
        "share snapshot delete kept --wait",
        "share delete one --wait",
        "share list",
    )
    assert (changed, reverted, left) == ("", "", [])
    assert [each["Name"] for each in snapshots] == ["kept"]


def test_networks_and_services_through_the_commands(openstack: Run) -> None:
    network, service, _, shown, subnets, _, _ = openstack(
        "share network create --name n --neutron-net-id private --neutron-subnet-id private-subnet",
        "share security service create ldap --name l --dns-ip 10.0.0.2",
        "share network set n --new-security-service l",
        "share security service show l",
        "share network subnet create n --availability-zone nova",
        "share network unset n --security-service l",
        "share security service delete l",
    )
    assert network["status"] == "active"
    assert shown["id"] == service["id"]
    assert subnets["share_network_name"] == "n"
    deleted, left = openstack("share network delete n --wait", "share network list")
    assert (deleted, left) == ("", [])


def test_administrators_have_types_quotas_and_states(openstack: Run) -> None:
    kind, specs, everybodys, _, quota = openstack(
        "share type create gold false --snapshot-support true --public false",
        "share type set gold --extra-specs a=b",
        "share type list --all",
        "share quota set demo --shares 77",
        "share quota show demo",
        user="admin",
    )
    assert (kind["name"], kind["visibility"], specs) == ("gold", "private", "")
    assert {each["Name"] for each in everybodys} == {"default", "dhss_true", "gold"}
    assert quota["shares"] == 77
    types, limits = openstack("share type list", "share limits show --absolute")
    assert {each["Name"] for each in types} == {"default", "dhss_true"}
    assert {"Name": "maxTotalShares", "Value": 77} in limits
    made, _, broken, _, pools, services = openstack(
        "share create NFS 1 --name s --wait",
        "share set s --status error",
        "share show s",
        "share delete s --force --wait",
        "share pool list",
        "share service list",
        user="admin",
    )
    assert (made["status"], broken["status"]) == ("available", "error")
    assert len(pools) == 2
    assert {each["Status"] for each in services} == {"enabled"}


def test_openstacksdk_makes_shares(demo: Any) -> None:
    service = demo.shared_file_system
    made = service.create_share(share_protocol="NFS", size=1, name="of the sdk")
    service.wait_for_status(made, "available", interval=0.1, wait=20)
    assert [share.name for share in service.shares()] == ["of the sdk"]
    rule = service.create_access_rule(
        made.id, access_type="ip", access_to="10.0.0.1", access_level="rw"
    )
    assert [each.id for each in service.access_rules(made)] == [rule.id]
    assert [each.path for each in service.export_locations(made.id)]
    service.delete_access_rule(rule.id, made.id)
    service.delete_share(made.id)
    service.wait_for_delete(made, interval=0.1, wait=20)

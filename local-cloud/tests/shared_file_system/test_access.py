"""Access rules: forms, states, and permissions to mount a share."""

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.shares import Shares
from localcloud.fabric.exports import MountRefusedError
from localcloud.fabric.interface import Face


async def test_rule_passes_the_states_of_manila(shares: Shares) -> None:
    made = await shares.make()
    body = {
        "allow_access": {"access_type": "ip", "access_to": "10.0.0.0/24", "metadata": {"a": "b"}}
    }
    told = (await shares.call("POST", f"/shares/{made['id']}/action", body))["access"]
    assert told["state"] == "queued_to_apply"
    assert (told["access_level"], told["share_id"]) == ("rw", made["id"])
    await shares.house.settle()
    (rule,) = await shares.rules(made["id"])
    assert (rule["state"], rule["metadata"]) == ("active", {"a": "b"})
    shown = (await shares.get(f"/share-access-rules/{rule['id']}"))["access"]
    assert shown == {**rule, "share_id": made["id"]}
    await shares.act(made["id"], "deny_access", {"access_id": rule["id"]})
    assert await shares.rules(made["id"]) == []
    path = f"/shares/{made['id']}/action"
    told = await shares.refusal("POST", path, {"deny_access": {"access_id": rule["id"]}}, 404)
    assert told == "Resource could not be found."


async def test_older_versions_list_rules_by_action(shares: Shares) -> None:
    made = await shares.make()
    await shares.allow(made["id"], "10.0.0.0/24")
    for version, name, fields in (
        ("2.6", "os-access_list", set()),
        ("2.7", "access_list", set()),
        ("2.21", "access_list", {"access_key"}),
        ("2.40", "access_list", {"access_key", "created_at", "updated_at"}),
    ):
        shares.api.share_version = version
        (rule,) = (await shares.act(made["id"], name, None, 200))["access_list"]
        plain = {"id", "access_level", "access_to", "access_type", "state"}
        assert set(rule) == plain | fields, version
        assert rule["state"] == "active"
    await shares.act(made["id"], "access_list", None, 200)
    shares.api.share_version = "2.45"
    await shares.act(made["id"], "access_list", None, 404)


@pytest.mark.parametrize(
    ("kind", "who", "message"),
    [
        ("ip", "10.0.0.300", "'10.0.0.300' does not appear to be an IPv4 or IPv6 network"),
        ("ip", "10.0.0.5/8", "10.0.0.5/8 has host bits set"),
        ("foo", "x", "Only 'ip', 'user', 'cert' or 'cephx' access types are supported."),
        ("cert", "x" * 65, "Invalid CN (common name). Must be 1-64 chars long."),
        (
            "user",
            "al",
            (
                "Invalid user or group name. Must be 4-255 characters and consist of alphanumeric "
                'characters and exclude special characters "/\\[]:;|=,+*?<>'
            ),
        ),
    ],
)
async def test_meaningless_rules_are_refused_in_manila_words(
    shares: Shares, kind: str, who: str, message: str
) -> None:
    made = await shares.make()
    body = {"allow_access": {"access_type": kind, "access_to": who}}
    assert await shares.refusal("POST", f"/shares/{made['id']}/action", body) == message


async def test_the_same_client_has_one_rule(shares: Shares) -> None:
    made = await shares.make()
    await shares.allow(made["id"], "10.0.0.5/32")
    path = f"/shares/{made['id']}/action"
    body = {"allow_access": {"access_type": "ip", "access_to": "10.0.0.5"}}
    assert await shares.refusal("POST", path, body) == "Share access ip:10.0.0.5 exists."
    body = {"allow_access": {"access_type": "ip", "access_to": "10.0.0.6", "access_level": "x"}}
    told = await shares.refusal("POST", path, body)
    assert told == "Invalid access rule: Invalid share access level: x."


async def test_rule_unfit_for_protocol_ends_in_error(shares: Shares) -> None:
    made = await shares.make()
    await shares.allow(made["id"], "alice", kind="user")
    (rule,) = await shares.rules(made["id"])
    assert rule["state"] == "error"
    assert (await shares.share(made["id"]))["access_rules_status"] == "error"
    (message,) = (await shares.get("/messages"))["messages"]
    assert message["detail_id"] == "021"
    await shares.act(made["id"], "deny_access", {"access_id": rule["id"]})
    assert (await shares.share(made["id"]))["access_rules_status"] == "active"


async def test_mount_needs_a_rule(shares: Shares, server: str) -> None:
    made = await shares.make()
    path = await shares.path_of(made["id"])
    with pytest.raises(
        MountRefusedError, match=r"access denied by server while mounting 127\.24\.4\.1:/"
    ):
        await shares.mount(server, path)
    await shares.allow(made["id"], "10.0.1.0/24")
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(server, path)
    await shares.allow(made["id"], "10.0.0.0/24")
    await shares.mount(server, path)
    assert shares.face(server, made["id"]) is Face.WRITE


async def test_what_a_server_sees_follows_the_rules(shares: Shares, server: str) -> None:
    made = await shares.make()
    rule = await shares.allow(made["id"], "10.0.0.2", "ro")
    await shares.mount(server, await shares.path_of(made["id"]))
    assert shares.face(server, made["id"]) is Face.READ
    body = {"update_access": {"access_level": "rw"}}
    await shares.call("PUT", f"/share-access-rules/{rule}", body)
    await shares.house.settle()
    assert shares.face(server, made["id"]) is Face.WRITE
    await shares.act(made["id"], "deny_access", {"access_id": rule})
    assert shares.face(server, made["id"]) is Face.CLOSED
    await shares.allow(made["id"], "10.0.0.0/24")
    assert shares.face(server, made["id"]) is Face.WRITE
    await shares.act(made["id"], "soft_delete")
    assert shares.face(server, made["id"]) is Face.CLOSED
    await shares.act(made["id"], "restore")
    await shares.call("DELETE", f"/shares/{made['id']}", expect=202)
    await shares.house.settle()
    assert shares.face(server, made["id"]) is Face.CLOSED


async def test_the_narrowest_network_of_the_rules_counts(shares: Shares, server: str) -> None:
    made = await shares.make()
    await shares.allow(made["id"], "10.0.0.0/24", "rw")
    await shares.allow(made["id"], "10.0.0.2", "ro")
    await shares.mount(server, await shares.path_of(made["id"]))
    assert shares.face(server, made["id"]) is Face.READ


async def test_other_projects_servers_have_floating_addresses(
    house: House, shares: Shares, other: Api, admin: Api
) -> None:
    network = await other.network("theirs")
    body = {"network": {"name": "public", "router:external": True}}
    public = (await admin.call("POST", "/network/v2.0/networks", body, 201))["network"]["id"]
    subnet = {"network_id": public, "cidr": "127.24.4.0/24", "ip_version": 4}
    subnet["enable_dhcp"] = False
    await admin.call("POST", "/network/v2.0/subnets", {"subnet": subnet}, 201)
    body = {"router": {"external_gateway_info": {"network_id": public}}}
    router = (await other.call("POST", "/network/v2.0/routers", body, 201))["router"]["id"]
    subnets = (await other.get(f"/network/v2.0/subnets?network_id={network}"))["subnets"]
    await other.call(
        "PUT",
        f"/network/v2.0/routers/{router}/add_router_interface",
        {"subnet_id": subnets[0]["id"]},
    )
    made = await other.boot(networks=[{"uuid": network, "fixed_ip": "10.0.0.2"}])
    await house.settle()
    share = await shares.make()
    await shares.allow(share["id"], "10.0.0.2")
    path = await shares.path_of(share["id"])
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(made["id"], path)
    port = (await other.get(f"/network/v2.0/ports?device_id={made['id']}"))["ports"][0]["id"]
    wish = {"floating_network_id": public, "port_id": port}
    floating = await other.call("POST", "/network/v2.0/floatingips", {"floatingip": wish}, 201)
    address = floating["floatingip"]["floating_ip_address"]
    await shares.allow(share["id"], address)
    await shares.mount(made["id"], path)
    assert shares.face(made["id"], share["id"]) is Face.WRITE
    await other.call(
        "DELETE", f"/network/v2.0/floatingips/{floating['floatingip']['id']}", expect=204
    )
    await house.settle()
    assert shares.face(made["id"], share["id"]) is Face.CLOSED


@pytest.mark.parametrize(
    ("kind", "source", "words"),
    [
        ("nfs", "127.24.4.1:/shares/nope", "reason given by server: No such file or directory"),
        ("nfs", "nonsense", "nonsense is no share"),
        ("xfs", "127.24.4.1:/shares/x", "is no share"),
        ("cifs", "//127.24.4.1/nope", "No such file or directory"),
    ],
)
async def test_what_is_not_exported_is_not_mounted(
    shares: Shares, server: str, kind: str, source: str, words: str
) -> None:
    with pytest.raises(MountRefusedError, match=words):
        await shares.mount(server, source, kind)


async def test_share_is_at_its_own_address_only(shares: Shares, server: str) -> None:
    made = await shares.make()
    await shares.allow(made["id"], "10.0.0.0/24")
    path = (await shares.path_of(made["id"])).replace("127.24.4.1", "10.0.0.9")
    with pytest.raises(MountRefusedError, match="Connection timed out"):
        await shares.mount(server, path)


async def test_a_windows_share_knows_its_users_by_name(shares: Shares, server: str) -> None:
    made = await shares.make(share_proto="CIFS")
    await shares.allow(made["id"], "alice", kind="user", level="ro")
    path = await shares.path_of(made["id"])
    assert path.startswith("\\\\127.24.4.1\\share-")
    source = path.replace("\\", "/")
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(server, source, "cifs", "username=bobby,password=x")
    await shares.mount(server, source, "cifs", "vers=3.0,username=alice,password=x")
    assert shares.face(server, made["id"]) is Face.READ


async def test_ceph_share_requires_client_key(shares: Shares, server: str) -> None:
    made = await shares.make(share_proto="CEPHFS")
    await shares.allow(made["id"], "alice", kind="cephx")
    (rule,) = await shares.rules(made["id"])
    assert len(rule["access_key"]) == 40
    path = await shares.path_of(made["id"])
    assert path.startswith("127.24.4.1:6789:/volumes/_nogroup/")
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(server, path, "ceph", "name=alice,secret=AQ==")
    await shares.mount(server, path, "ceph", f"name=alice,secret={rule['access_key']}")
    assert shares.face(server, made["id"]) is Face.WRITE


async def test_a_server_that_boots_again_has_mounted_nothing(
    house: House, shares: Shares, server: str
) -> None:
    made = await shares.make()
    rule = await shares.allow(made["id"], "10.0.0.0/24")
    await shares.mount(server, await shares.path_of(made["id"]))
    house.fabric.exit(server)
    house.fabric.shares.clear()
    await shares.act(made["id"], "deny_access", {"access_id": rule})
    assert house.fabric.shares == {}


async def test_locks_keep_shares_and_rules(shares: Shares, others: Shares) -> None:
    made = await shares.make()
    rule = await shares.allow(made["id"], "10.0.0.9", lock_deletion=True, lock_reason="why")
    path = f"/shares/{made['id']}"
    told = await shares.refusal("POST", f"{path}/action", {"deny_access": {"access_id": rule}}, 403)
    assert told.startswith(f"Cannot deny access for share '{made['id']}' since it has been locked.")
    (lock,) = (await shares.get("/resource-locks"))["resource_locks"]
    assert (lock["resource_type"], lock["lock_reason"]) == ("access_rule", "why")
    await shares.act(made["id"], "deny_access", {"access_id": rule, "unrestrict": True})
    assert await shares.rules(made["id"]) == []
    assert (await shares.get("/resource-locks"))["resource_locks"] == []
    body = {"resource_lock": {"resource_id": made["id"], "resource_type": "share"}}
    await others.call("POST", "/resource-locks", body, 400)
    lock = (await shares.call("POST", "/resource-locks", body))["resource_lock"]
    told = await shares.refusal("DELETE", path, status=403)
    assert told == f"Resource lock/s [{lock['id']}] prevent delete action."
    await others.call("DELETE", f"/resource-locks/{lock['id']}", expect=404)
    await shares.call("DELETE", f"/resource-locks/{lock['id']}", expect=204)
    await shares.call("DELETE", path, expect=202)


async def test_transferred_share_belongs_to_key_holder(
    shares: Shares, others: Shares, server: str
) -> None:
    made = await shares.make(name="gift")
    await shares.allow(made["id"], "10.0.0.0/24")
    await shares.mount(server, await shares.path_of(made["id"]))
    body = {"transfer": {"share_id": made["id"], "name": "t"}}
    offer = (await shares.call("POST", "/share-transfers", body, 202))["transfer"]
    assert (await shares.share(made["id"]))["status"] == "awaiting_transfer"
    path = f"/share-transfers/{offer['id']}/accept"
    await others.get(f"/share-transfers/{offer['id']}", 404)
    told = await others.refusal("POST", path, {"accept": {"auth_key": "bad"}})
    assert told == (f"Invalid auth key: Attempt to transfer {offer['id']} with invalid auth key.")
    await others.refusal("POST", path, {"accept": {"auth_key": offer["auth_key"]}})
    accept = {"accept": {"auth_key": offer["auth_key"], "clear_access_rules": True}}
    await others.call("POST", path, accept, 202)
    taken = await others.share(made["id"])
    assert (taken["status"], taken["project_id"]) == ("available", "other-project")
    await shares.get(f"/shares/{made['id']}", 404)
    assert shares.face(server, made["id"]) is Face.CLOSED


async def test_unaccepted_transfer_expires(shares: Shares) -> None:
    made = await shares.make()
    body = {"transfer": {"share_id": made["id"]}}
    offer = (await shares.call("POST", "/share-transfers", body, 202))["transfer"]
    shares.house.clock.advance(301)
    path = f"/share-transfers/{offer['id']}/accept"
    await shares.call("POST", path, {"accept": {"auth_key": offer["auth_key"]}}, 404)
    assert (await shares.get("/share-transfers"))["transfers"] == []
    assert (await shares.share(made["id"]))["status"] == "available"

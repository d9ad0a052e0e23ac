"""Snapshots: contents, uses, and mounts."""

import pytest

from cloud_testing.compute import House
from cloud_testing.shares import Shares
from localcloud.fabric.exports import MountRefusedError
from localcloud.fabric.interface import Face


async def test_a_snapshot_looks_as_manila_shows_it(shares: Shares, ruler: Shares) -> None:
    share = await shares.make()
    made = await shares.snapshot(share["id"], name="s", metadata={"a": "b"})
    assert (made["status"], made["size"], made["share_size"]) == ("available", 1, 1)
    assert (made["share_id"], made["share_proto"]) == (share["id"], "NFS")
    assert made["metadata"] == {"a": "b"}
    plain = {
        "id", "name", "links", "share_id", "share_size", "created_at", "status", "description",
        "size", "share_proto",
    }  # fmt: skip
    path = f"/snapshots/{made['id']}"
    for version, more, for_admins in (
        ("2.0", set(), set()),
        ("2.12", set(), {"provider_location"}),
        ("2.17", {"user_id", "project_id"}, {"provider_location"}),
        ("2.73", {"user_id", "project_id", "metadata"}, {"provider_location"}),
    ):
        shares.api.share_version = ruler.api.share_version = version
        assert set((await shares.get(path))["snapshot"]) == plain | more, version
        assert set((await ruler.get(path))["snapshot"]) == plain | more | for_admins, version


async def test_a_snapshot_keeps_what_was_there(shares: Shares) -> None:
    share = await shares.make()
    shares.write(share["id"], "before")
    snapshot = await shares.snapshot(share["id"])
    shares.write(share["id"], "after")
    copy = await shares.make(size=None, snapshot_id=snapshot["id"])
    assert shares.read(copy["id"]) == "before"
    assert (copy["snapshot_id"], copy["size"]) == (snapshot["id"], 1)
    await shares.act(share["id"], "revert", {"snapshot_id": snapshot["id"]})
    assert shares.read(share["id"]) == "before"
    assert (await shares.share(share["id"]))["status"] == "available"
    assert (await shares.get(f"/snapshots/{snapshot['id']}"))["snapshot"]["status"] == "available"


async def test_servers_are_paused_while_share_is_copied(
    house: House, shares: Shares, server: str
) -> None:
    share = await shares.make()
    await shares.allow(share["id"], "10.0.0.0/24")
    await shares.mount(server, await shares.path_of(share["id"]))
    house.fabric.calls.clear()
    snapshot = await shares.snapshot(share["id"])
    assert house.fabric.calls == [
        ("pause", server), ("copy_disk", f"{snapshot['id']}.fresh"),
        ("remove_disk", snapshot["id"]), ("pause", server),
    ]  # fmt: skip
    assert house.fabric.paused == set()


async def test_mounted_share_is_closed_during_revert(
    house: House, shares: Shares, server: str
) -> None:
    share = await shares.make()
    await shares.allow(share["id"], "10.0.0.0/24")
    await shares.mount(server, await shares.path_of(share["id"]))
    snapshot = await shares.snapshot(share["id"])
    house.fabric.calls.clear()
    await shares.act(share["id"], "revert", {"snapshot_id": snapshot["id"]})
    methods = [method for method, _ in house.fabric.calls]
    assert methods == ["show_share", "release_share", "copy_disk", "remove_disk", "show_share"]
    assert shares.face(server, share["id"]) is Face.WRITE


async def test_impossible_snapshot_requests_are_refused_in_manila_words(
    shares: Shares,
) -> None:
    one, two = await shares.make(), await shares.make()
    first = await shares.snapshot(one["id"])
    latest = await shares.snapshot(one["id"])
    path = f"/shares/{one['id']}/action"
    told = await shares.refusal("POST", path, {"revert": {"snapshot_id": first["id"]}}, 409)
    assert told.endswith(f"Currently the latest snapshot is {latest['id']}.")
    path = f"/shares/{two['id']}/action"
    told = await shares.refusal("POST", path, {"revert": {"snapshot_id": first["id"]}})
    assert told == f"Snapshot {first['id']} is not associated with share {two['id']}."
    told = await shares.refusal("POST", path, {"revert": {"snapshot_id": "nope"}})
    assert told.endswith("Value: nope. 'nope' is not a 'uuid'")
    told = await shares.refusal("DELETE", f"/shares/{one['id']}", status=403)
    assert told == "Invalid share: Share still has 2 dependent snapshots."
    body = {"share": {"share_proto": "NFS", "size": 1, "snapshot_id": first["id"]}}
    await shares.act(one["id"], "extend", {"new_size": 2})
    larger = await shares.snapshot(one["id"])
    body["share"]["snapshot_id"] = larger["id"]
    told = await shares.refusal("POST", "/shares", body)
    assert told == (
        "Invalid input received: Share size '1' must be equal or greater than snapshot size."
    )
    body = {"snapshot": {"share_id": "nope"}}
    told = await shares.refusal("POST", "/snapshots", body, 404)
    assert told == "NotFound: Resource could not be found."


async def test_types_say_what_their_shares_can_do(shares: Shares, ruler: Shares) -> None:
    specs = {"driver_handles_share_servers": "False"}
    for name, more in (("plain", {}), ("kept", {"snapshot_support": "True"})):
        kind = {"name": name, "extra_specs": {**specs, **more}}
        await ruler.call("POST", "/types", {"share_type": kind})
    plain, kept = await shares.make(share_type="plain"), await shares.make(share_type="kept")
    told = await shares.refusal("POST", "/snapshots", {"snapshot": {"share_id": plain["id"]}}, 422)
    assert told == (
        f"Snapshots cannot be created for share '{plain['id']}' since it does not have that "
        "capability."
    )
    snapshot = await shares.snapshot(kept["id"])
    body = {"share": {"share_proto": "NFS", "size": 1, "snapshot_id": snapshot["id"]}}
    assert "does not have that capability" in await shares.refusal("POST", "/shares", body)
    action = {"revert": {"snapshot_id": snapshot["id"]}}
    told = await shares.refusal("POST", f"/shares/{kept['id']}/action", action)
    assert told.endswith("because the share does not have that capability.")
    told = await shares.refusal("GET", f"/snapshots/{snapshot['id']}/access-list")
    assert told == (
        f"Cannot control access to the snapshot {snapshot['id']} since the parent share "
        f"{kept['id']} does not support mounting its snapshots."
    )


async def test_a_snapshot_is_mounted_to_be_read(shares: Shares, server: str) -> None:
    share = await shares.make()
    snapshot = await shares.snapshot(share["id"])
    path = f"/snapshots/{snapshot['id']}"
    (location,) = (await shares.get(f"{path}/export-locations"))["share_snapshot_export_locations"]
    with pytest.raises(MountRefusedError, match="access denied"):
        await shares.mount(server, location["path"])
    rule = {"access_type": "ip", "access_to": "10.0.0.0/24"}
    told = await shares.call("POST", f"{path}/action", {"allow_access": rule}, 200)
    assert told["snapshot_access"]["state"] == "queued_to_apply"
    await shares.house.settle()
    await shares.mount(server, location["path"])
    assert shares.face(server, snapshot["id"]) is Face.READ
    (known,) = (await shares.get(f"{path}/access-list"))["snapshot_access_list"]
    assert (known["state"], known["access_to"]) == ("active", "10.0.0.0/24")
    deny = {"deny_access": {"access_id": known["id"]}}
    await shares.call("POST", f"{path}/action", deny, 202)
    await shares.house.settle()
    assert shares.face(server, snapshot["id"]) is Face.CLOSED


async def test_snapshots_go_and_have_instances(shares: Shares, ruler: Shares) -> None:
    share = await shares.make()
    snapshot = await shares.snapshot(share["id"], name="s")
    path = f"/snapshots/{snapshot['id']}"
    (brief,) = (await ruler.get("/snapshot-instances"))["snapshot_instances"]
    assert set(brief) == {"id", "snapshot_id", "status"}
    shown = (await ruler.get(f"/snapshot-instances/{brief['id']}"))["snapshot_instance"]
    assert (shown["share_id"], shown["progress"]) == (share["id"], "100%")
    await shares.call("PUT", path, {"snapshot": {"display_name": "n"}})
    assert (await shares.get(path))["snapshot"]["name"] == "n"
    await ruler.call("POST", f"{path}/action", {"reset_status": {"status": "creating"}}, 202)
    told = await shares.refusal("DELETE", path)
    assert told == (
        "Invalid share snapshot: Share Snapshot status must be one of ('available', 'error')."
    )
    await ruler.call("POST", f"{path}/action", {"force_delete": None}, 202)
    await shares.house.settle()
    await shares.get(path, 404)

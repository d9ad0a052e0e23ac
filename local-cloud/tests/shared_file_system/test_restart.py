"""A killed cloud continues with its acknowledged requests."""

from cloud_testing.compute import House
from cloud_testing.shares import Shares


async def test_interrupted_work_completes_after_restart(house: House, shares: Shares) -> None:
    kept = await shares.make()
    shares.write(kept["id"], "kept")
    snapshot = await shares.snapshot(kept["id"])
    rule = await shares.allow(kept["id"], "10.0.0.1")
    gone = await shares.make()
    body = {"share": {"share_proto": "NFS", "size": 1, "snapshot_id": snapshot["id"]}}
    made = (await shares.call("POST", "/shares", body))["share"]
    await shares.call("DELETE", f"/shares/{gone['id']}", expect=202)
    deny = {"deny_access": {"access_id": rule}}
    await shares.call("POST", f"/shares/{kept['id']}/action", deny, 202)
    grow = {"extend": {"new_size": 2}}
    await shares.call("POST", f"/shares/{kept['id']}/action", grow, 202)
    await house.restart()
    again = Shares(house, house.user("demo"))
    await again.get("/shares")
    await house.settle()
    assert (await again.share(made["id"]))["status"] == "available"
    assert again.read(made["id"]) == "kept"
    assert (await again.share(kept["id"]))["size"] == 2
    assert await again.rules(kept["id"]) == []
    await again.get(f"/shares/{gone['id']}", 404)
    assert not again.content(gone["id"]).parent.parent.exists()


async def test_unused_share_service_is_not_loaded(house: House) -> None:
    assert house.fabric.exports.mount is not None
    assert len(house.cloud.store.collection("share.type")) == 0

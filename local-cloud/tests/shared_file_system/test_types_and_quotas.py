"""Share types and their permissions; quotas, limits, and parts of the service."""

from typing import Any

import pytest

from cloud_testing.shares import Shares

SPECS = {"driver_handles_share_servers": "False"}


async def made_type(ruler: Shares, name: str, **more: Any) -> Any:
    body = {"share_type": {"name": name, "extra_specs": SPECS, **more}}
    return (await ruler.call("POST", "/types", body))["share_type"]


async def test_new_cloud_has_type_per_back_end(shares: Shares) -> None:
    answer = await shares.get("/types")
    assert answer["volume_types"] == answer["share_types"]
    names = {kind["name"]: kind["is_default"] for kind in answer["share_types"]}
    assert names == {"default": True, "dhss_true": False}
    default = (await shares.get("/types/default"))["share_type"]
    assert default["required_extra_specs"] == {"driver_handles_share_servers": "False"}
    assert default["extra_specs"]["snapshot_inherit_share_access_support"] is False


async def test_types_look_as_in_each_version(ruler: Shares, shares: Shares) -> None:
    ruler.api.share_version = shares.api.share_version = "2.6"
    body = {
        "share_type": {"name": "t", "os-share-type-access:is_public": False, "extra_specs": SPECS}
    }
    made = (await ruler.call("POST", "/types", body))["share_type"]
    assert made["os-share-type-access:is_public"] is False
    assert made["extra_specs"] == {**SPECS, "snapshot_support": "True"}
    for version, fields in (
        ("2.7", {"share_type_access:is_public"}),
        ("2.41", {"share_type_access:is_public", "description"}),
        ("2.46", {"share_type_access:is_public", "description", "is_default"}),
    ):
        ruler.api.share_version = version
        shown = (await ruler.get(f"/types/{made['id']}"))["share_type"]
        assert set(shown) == {"id", "name", "extra_specs", "required_extra_specs"} | fields


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        (
            {"extra_specs": {}},
            400,
            (
                "Invalid extra_spec: Required extra specs 'driver_handles_share_servers' not "
                "specified."
            ),
        ),
        (
            {"extra_specs": {"driver_handles_share_servers": "maybe"}},
            400,
            (
                "Invalid extra_spec: Value of required extra_spec driver_handles_share_servers is "
                "not valid."
            ),
        ),
        ({"name": ""}, 400, "Type name or description is not valid."),
        ({"name": "default"}, 409, "Share Type default already exists."),
    ],
)
async def test_invalid_type_is_refused_in_manila_words(
    ruler: Shares, fields: dict, status: int, message: str
) -> None:
    body = {"share_type": {"name": "new", "extra_specs": SPECS, **fields}}
    assert await ruler.refusal("POST", "/types", body, status) == message


async def test_private_type_is_for_named_projects(shares: Shares, ruler: Shares) -> None:
    made = await made_type(ruler, "private", **{"share_type_access:is_public": False})
    path = f"/types/{made['id']}"
    await shares.get(path, 404)
    assert (await ruler.get(f"{path}/share_type_access"))["share_type_access"] == []
    add = {"addProjectAccess": {"project": "demo-project"}}
    await ruler.call("POST", f"{path}/action", add, 202)
    await ruler.call("POST", f"{path}/action", add, 409)
    share = await shares.make(share_type="private")
    told = await ruler.refusal("DELETE", path)
    assert told == "Target share type is still in use."
    remove = {"removeProjectAccess": {"project": "demo-project"}}
    await ruler.call("POST", f"{path}/action", remove, 202)
    await ruler.call("POST", f"{path}/action", remove, 404)
    await shares.get(path, 404)
    assert (await shares.share(share["id"]))["share_type_name"] == "private"
    await shares.call("POST", f"{path}/action", add, 403)
    await shares.call("POST", "/types", {"share_type": {"name": "x", "extra_specs": SPECS}}, 403)


async def test_extra_specs_change(ruler: Shares, shares: Shares) -> None:
    path = f"/types/{(await made_type(ruler, 't'))['id']}"
    await ruler.call("POST", f"{path}/extra_specs", {"extra_specs": {"a": "b"}})
    await ruler.call("PUT", f"{path}/extra_specs/a", {"a": "c"})
    assert await ruler.get(f"{path}/extra_specs/a") == {"a": "c"}
    told = await ruler.refusal("PUT", f"{path}/extra_specs/a", {"x": "c"})
    assert told == "Request body and URI mismatch"
    bad = {"extra_specs": {"driver_handles_share_servers": "bad"}}
    told = await ruler.refusal("POST", f"{path}/extra_specs", bad)
    assert told == "Invalid extra_spec: driver_handles_share_servers: bad"
    await ruler.call("DELETE", f"{path}/extra_specs/a", expect=202)
    await ruler.call("DELETE", f"{path}/extra_specs/a", expect=404)
    required = f"{path}/extra_specs/driver_handles_share_servers"
    told = await ruler.refusal("DELETE", required, status=403)
    assert told == "Extra spec 'driver_handles_share_servers' can't be deleted."
    await shares.get(f"{path}/extra_specs", 403)
    await ruler.call("PUT", path, {"share_type": {"name": "n", "description": "d"}})
    shown = (await shares.get("/types/n"))["share_type"]
    assert shown["description"] == "d"
    await ruler.call("DELETE", path, expect=202)
    await ruler.get(path, 404)


async def test_quotas_refuse_in_manilas_words(shares: Shares, ruler: Shares) -> None:
    share = await shares.make()
    body = {"share": {"share_proto": "NFS", "size": 2}}
    path = f"/shares/{share['id']}/action"

    async def limited(query: str = "", **values: int) -> None:
        await ruler.call("DELETE", f"/quota-sets/demo-project{query}", expect=202)
        await ruler.call("PUT", f"/quota-sets/demo-project{query}", {"quota_set": values})

    await limited(shares=1)
    assert await shares.refusal("POST", "/shares", body, 413) == (
        "ShareLimitExceeded: Maximum number of shares allowed (1) either per project/user or share "
        "type quota is exceeded."
    )
    await limited(gigabytes=2)
    assert await shares.refusal("POST", "/shares", body, 413) == (
        "ShareSizeExceedsAvailableQuota: Requested share exceeds allowed project/user or share "
        "type gigabytes quota."
    )
    assert await shares.refusal("POST", path, {"extend": {"new_size": 3}}, 403) == (
        "Requested share exceeds allowed project/user or share type gigabytes quota."
    )
    await limited(per_share_gigabytes=1)
    assert await shares.refusal("POST", "/shares", body, 413) == (
        "ShareSizeExceedsLimit: Requested share size 2 is larger than maximum allowed limit 1."
    )
    await limited(snapshots=0)
    body = {"snapshot": {"share_id": share["id"]}}
    assert (await shares.refusal("POST", "/snapshots", body, 413)).startswith(
        "SnapshotLimitExceeded: Maximum number of snapshots allowed (0)"
    )
    await limited(snapshot_gigabytes=0)
    assert (await shares.refusal("POST", "/snapshots", body, 413)).startswith(
        "SnapshotSizeExceedsAvailableQuota: Requested snapshot exceeds allowed"
    )
    await limited(share_networks=0)
    assert await shares.refusal("POST", "/share-networks", {"share_network": {}}, 413) == (
        "ShareNetworksLimitExceeded: Maximum number of share-networks allowed (0) exceeded."
    )
    await ruler.call("DELETE", "/quota-sets/demo-project", expect=202)
    await limited("?share_type=default", shares=1)
    body = {"share": {"share_proto": "NFS", "size": 1}}
    await shares.refusal("POST", "/shares", body, 413)
    await made_type(ruler, "other")
    await shares.make(share_type="other")


async def test_quotas_have_form_of_each_version(shares: Shares, ruler: Shares) -> None:
    await shares.make(size=3)
    path = "/quota-sets/demo-project"
    told = (await shares.get(f"{path}/detail"))["quota_set"]
    assert told["gigabytes"] == {"limit": 100_000, "in_use": 3, "reserved": 0}
    assert told["id"] == "demo-project"
    first = {"id", "shares", "gigabytes", "snapshots", "snapshot_gigabytes", "share_networks"}
    for version, path, more in (
        ("2.6", "/os-quota-sets/demo-project", set()),
        ("2.7", "/quota-sets/demo-project", set()),
        ("2.40", "/quota-sets/demo-project", {"share_groups", "share_group_snapshots"}),
    ):
        shares.api.share_version = version
        assert set((await shares.get(path))["quota_set"]) == first | more, version
    await shares.get("/quota-sets/other-project", 403)
    path = "/quota-sets/demo-project"
    for values, message in (
        ({"gigabytes": 2}, ("Quota value 2 for gigabytes is smaller than already used and "
         "reserved 3.")),
        ({"foo": 1}, "Must supply at least one quota field to update."),
        ({"shares": -2}, "Quota limit must be -1 or greater."),
        ({"shares": "x"}, "Quota 'x' for shares should be integer."),
    ):  # fmt: skip
        assert await ruler.refusal("PUT", path, {"quota_set": values}) == message
    shares.api.share_version = "2.99"
    await shares.call("PUT", path, {"quota_set": {"shares": 1}}, 403)
    body = {"quota_class_set": {"shares": 7}}
    await ruler.call("PUT", "/quota-class-sets/default", body)
    assert (await shares.get(f"{path}/defaults"))["quota_set"]["shares"] == 7
    limits = (await shares.get("/limits"))["limits"]["absolute"]
    assert (limits["maxTotalShares"], limits["totalShareGigabytesUsed"]) == (7, 3)


async def test_what_the_service_consists_of(shares: Shares, ruler: Shares) -> None:
    (zone,) = (await shares.get("/availability-zones"))["availability_zones"]
    assert zone["name"] == "nova"
    services = (await ruler.get("/services?binary=manila-share"))["services"]
    assert {each["host"] for each in services} == {"localhost@local", "localhost@servers"}
    body = {"binary": "manila-share", "host": "localhost@local", "disabled_reason": "x"}
    await ruler.call("PUT", "/services/disable", body)
    (off,) = (await ruler.get("/services?status=disabled"))["services"]
    assert (off["host"], off["disabled_reason"]) == ("localhost@local", "x")
    await ruler.call("PUT", "/services/enable", body)
    assert (await ruler.get("/services?status=disabled"))["services"] == []
    pools = (await ruler.get("/scheduler-stats/pools/detail"))["pools"]
    handled = {p["name"]: p["capabilities"]["driver_handles_share_servers"] for p in pools}
    assert handled == {"localhost@local#local": False, "localhost@servers#servers": True}
    for path in ("/services", "/scheduler-stats/pools"):
        await shares.get(path, 403)


async def test_absent_features_are_empty_or_refused(shares: Shares) -> None:
    for path, key in (
        ("/share-groups/detail", "share_groups"),
        ("/share-replicas", "share_replicas"),
        ("/share-backups", "share_backups"),
        ("/extensions", "extensions"),
    ):
        assert await shares.get(path) == {key: []}
    body = {"share_replica": {"share_id": "x"}}
    told = await shares.refusal("POST", "/share-replicas", body)
    assert told == "Replication not supported for share x."

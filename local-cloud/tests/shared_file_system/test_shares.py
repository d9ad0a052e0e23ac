"""Shares: their form in each version, changes, and refusals."""

import os

import pytest

from cloud_testing.compute import Api, House
from cloud_testing.shares import Shares

# Fields of a share in version 2.0 of Manila.
FIRST = {
    "availability_zone", "created_at", "description", "export_location", "export_locations", "id",
    "is_public", "links", "metadata", "name", "project_id", "share_network_id", "share_proto",
    "share_type", "size", "snapshot_id", "status", "volume_type",
}  # fmt: skip
# By the first version that shows them, as a Manila 23.0.1 does.
LATER = {
    "2.2": {"snapshot_support"}, "2.5": {"task_state"}, "2.6": {"share_type_name"},
    "2.10": {"access_rules_status"}, "2.11": {"replication_type", "has_replicas"},
    "2.16": {"user_id"}, "2.24": {"create_share_from_snapshot_support"},
    "2.27": {"revert_to_snapshot_support"},
    "2.31": {"share_group_id", "source_share_group_snapshot_member_id"},
    "2.32": {"mount_snapshot_support"}, "2.54": {"progress"},
    "2.69": {"is_soft_deleted", "scheduled_to_be_deleted_at"}, "2.80": {"source_backup_id"},
    "2.90": {"encryption_key_ref"}, "2.99": {"snapshot_inherit_share_access_support"},
}  # fmt: skip
OLD = {"export_location", "export_locations"}  # shown until version 2.8


async def test_a_new_share_looks_as_manila_shows_it(shares: Shares) -> None:
    creating = await shares.make(settled=False, name="data", metadata={"a": "b"})
    assert (creating["status"], creating["availability_zone"]) == ("creating", None)
    made = await shares.share(creating["id"])
    assert (made["status"], made["progress"]) == ("available", "100%")
    assert (made["size"], made["share_proto"], made["is_public"]) == (1, "NFS", False)
    assert (made["share_type_name"], made["availability_zone"]) == ("default", "nova")
    assert made["metadata"] == {"a": "b"}
    assert made["access_rules_status"] == "active"
    assert not {"host", "share_server_id"} & made.keys()
    assert made["links"][0]["href"].endswith(f"/share/v2/shares/{made['id']}")
    brief = (await shares.get("/shares"))["shares"]
    assert [set(each) for each in brief] == [{"id", "name", "links"}]


async def test_each_version_shows_what_manila_shows_in_it(shares: Shares, ruler: Shares) -> None:
    made, shown = await shares.make(), set(FIRST)
    for minor in range(100):
        version = f"2.{minor}"
        shown |= LATER.get(version, set())
        shown -= OLD if minor == 9 else set()
        shares.api.share_version = ruler.api.share_version = version
        assert set(await shares.share(made["id"])) == shown, version
        assert set(await ruler.share(made["id"])) == shown | {"host", "share_server_id"}, version


async def test_versions_are_negotiated_as_manilas(shares: Shares) -> None:
    answer = await shares.api.send("GET", "/share/v2/shares")
    assert answer.headers["X-OpenStack-Manila-API-Version"] == "2.99"
    assert answer.headers["Vary"] == "X-OpenStack-Manila-API-Version"
    for version, status, message in (
        ("2.999", 406, ("Version 2.999 is not supported by the API. "
         "Minimum is 2.0 and maximum is 2.99.")),
        ("latest", 400, ("API Version String latest is of invalid format. "
         "Must be of format MajorNum.MinorNum.")),
    ):  # fmt: skip
        shares.api.share_version = version
        assert await shares.refusal("GET", "/shares", status=status) == message
    shares.api.share_version = "2.8"
    await shares.get("/shares/x/export_locations", 404)


async def test_the_service_says_which_versions_it_has(house: House, demo: Api) -> None:
    for path, status in (("/share/", 300), ("/share/v2/", 200)):
        (version,) = (await demo.call("GET", path, expect=status))["versions"]
        assert (version["id"], version["version"], version["min_version"]) == (
            "v2.0", "2.99", "2.0",
        )  # fmt: skip


async def test_addresses_may_name_the_project(shares: Shares) -> None:
    made = await shares.make()
    path = f"/share/v2/{'a' * 32}/shares/{made['id']}"
    assert (await shares.api.get(path))["share"]["id"] == made["id"]


@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        (
            {"share_proto": "GLUSTERFS"},
            400,
            (
                "Invalid input received: Invalid share protocol provided: GLUSTERFS. It is either "
                "disabled or unsupported. Available protocols: ['NFS', 'CIFS', 'CEPHFS']."
            ),
        ),
        (
            {"size": 0},
            400,
            "Invalid input received: Share size '0' must be an integer and greater than 0.",
        ),
        (
            {"size": "a"},
            400,
            "Invalid input received: Share size 'a' must be an integer and greater than 0.",
        ),
        (
            {"name": "x" * 256},
            400,
            "Invalid input received: name can only be 255 characters long.",
        ),
        ({"metadata": {"": "x"}}, 400, "Metadata property key is blank."),
        ({"share_type": "nope"}, 404, "Share type not found."),
        ({"share_network_id": "nope"}, 404, "Share network nope could not be found."),
        (
            {"snapshot_id": "nope"},
            404,
            "ShareSnapshotNotFound: Snapshot nope could not be found.",
        ),
        ({"availability_zone": "nope"}, 404, "Availability zone nope could not be found."),
        (
            {"share_type": "dhss_true"},
            400,
            "Share network must be set when the driver_handles_share_servers is true.",
        ),
        (
            {"is_public": True},
            403,
            "User is not authorized to set 'is_public' to True in the request.",
        ),
        ({"share_group_id": "nope"}, 404, "Share group nope could not be found."),
    ],
)
async def test_invalid_share_is_refused_in_manila_words(
    shares: Shares, fields: dict, status: int, message: str
) -> None:
    body = {"share": {"share_proto": "NFS", "size": 1, **fields}}
    assert await shares.refusal("POST", "/shares", body, status) == message


async def test_a_body_without_a_share_cannot_be_processed(shares: Shares) -> None:
    message = await shares.refusal("POST", "/shares", {}, 422)
    assert message == "Unable to process the contained instructions"


async def test_a_share_grows_and_shrinks(shares: Shares) -> None:
    made = await shares.make()
    path = f"/shares/{made['id']}/action"
    told = await shares.refusal("POST", path, {"extend": {"new_size": 1}})
    assert "must be greater than current size. (current: 1, extended: 1)." in told
    await shares.act(made["id"], "extend", {"new_size": 3})
    assert (await shares.share(made["id"]))["size"] == 3
    await shares.act(made["id"], "shrink", {"new_size": "2"})
    assert (await shares.share(made["id"]))["size"] == 2
    told = await shares.refusal("POST", path, {"shrink": {"new_size": 2}})
    assert "must be less than current size and greater than 0 (current: 2, new: 2)." in told
    told = await shares.refusal("POST", path, {"extend": {"new_size": "x"}})
    assert told.endswith("Value: x. 'x' does not match '^[0-9]*$'")


async def test_share_does_not_shrink_below_its_contents(
    shares: Shares,
) -> None:
    made = await shares.make(size=2)
    shares.write(made["id"], "x")
    with (shares.content(made["id"]) / "file").open("ab") as file:
        os.posix_fallocate(file.fileno(), 0, (1 << 30) + 1)
    await shares.act(made["id"], "shrink", {"new_size": 1})
    (shares.content(made["id"]) / "file").unlink()
    left = await shares.share(made["id"])
    assert (left["size"], left["status"]) == (2, "available")
    (message,) = (await shares.get("/messages"))["messages"]
    assert (message["action_id"], message["detail_id"]) == ("009", "018")
    assert message["user_message"].startswith("shrink: Share Driver refused to shrink the share.")
    assert message["resource_id"] == made["id"]
    await shares.call("DELETE", f"/messages/{message['id']}", expect=204)
    await shares.get(f"/messages/{message['id']}", 404)


async def test_names_metadata_and_publicity_change(shares: Shares, ruler: Shares) -> None:
    made = await shares.make(metadata={"a": "b"})
    path = f"/shares/{made['id']}"
    await shares.call("PUT", path, {"share": {"display_name": "n", "display_description": "d"}})
    await shares.call("POST", f"{path}/metadata", {"metadata": {"c": "d"}})
    assert (await shares.get(f"{path}/metadata/c")) == {"meta": {"c": "d"}}
    await shares.call("DELETE", f"{path}/metadata/a")
    changed = await shares.share(made["id"])
    assert (changed["name"], changed["description"]) == ("n", "d")
    assert changed["metadata"] == {"c": "d"}
    assert await shares.call("PUT", f"{path}/metadata", {"metadata": {"e": "f"}}) == {
        "metadata": {"e": "f"}
    }
    told = await shares.refusal("DELETE", f"{path}/metadata/c", status=404)
    assert told == "MetadataItemNotFound: Metadata item is not found."
    await shares.refusal("PUT", path, {"share": {"is_public": True}}, 403)
    await ruler.call("PUT", path, {"share": {"is_public": True}})
    assert (await shares.share(made["id"]))["is_public"] is True


async def test_others_see_public_shares_only(shares: Shares, others: Shares, ruler: Shares) -> None:
    private = await shares.make(name="private")
    public = await ruler.make(name="public", is_public=True)
    await others.get(f"/shares/{private['id']}", 404)
    await others.call("DELETE", f"/shares/{private['id']}", expect=404)
    assert (await others.share(public["id"]))["name"] == "public"
    await others.call("DELETE", f"/shares/{public['id']}", expect=403)
    body = {"allow_access": {"access_type": "ip", "access_to": "10.0.0.1"}}
    await others.call("POST", f"/shares/{public['id']}/action", body, 403)
    assert (await others.get("/shares"))["shares"] == []
    listed = (await others.get("/shares?is_public=True"))["shares"]
    assert [each["name"] for each in listed] == ["public"]
    await others.refusal("GET", f"/share-access-rules?share_id={private['id']}")
    everybodys = (await ruler.get("/shares?all_tenants=1"))["shares"]
    assert {each["name"] for each in everybodys} == {"private", "public"}


async def test_lists_are_narrowed_sorted_and_cut(shares: Shares) -> None:
    for number in range(3):
        await shares.make(name=f"share {number}", metadata={"n": str(number)})

    async def names(query: str) -> list[str]:
        found = (await shares.get(f"/shares?{query}"))["shares"]
        return [each["name"][-1] for each in found]

    assert await names("") == ["2", "1", "0"]
    assert await names("name~=1") == ["1"]
    assert await names("metadata={'n': '2'}") == ["2"]
    assert await names("sort_key=name&sort_dir=asc") == ["0", "1", "2"]
    assert await names("limit=1&offset=1") == ["1"]
    assert await names("status=error") == []
    page = await shares.get("/shares/detail?limit=2&with_count=True")
    assert (page["count"], len(page["shares"])) == (3, 2)
    query = page["shares_links"][0]["href"].partition("?")[2]
    assert await names(query) == ["0"]
    told = await shares.refusal("GET", "/shares?sort_key=foo")
    assert told == "Invalid input received: Wrong sorting key provided - 'foo'."
    assert await shares.refusal("GET", "/shares?limit=x") == "limit param must be an integer"
    assert await shares.refusal("GET", "/shares?limit=-1") == "limit param must be positive"


async def test_share_is_deleted_with_its_contents(shares: Shares) -> None:
    made = await shares.make()
    shares.write(made["id"], "x")
    await shares.call("DELETE", f"/shares/{made['id']}", expect=202)
    await shares.house.settle()
    await shares.get(f"/shares/{made['id']}", 404)
    assert not (shares.house.settings.cloud_dir / "shares" / made["id"]).exists()
    await shares.call("DELETE", f"/shares/{made['id']}", expect=404)


async def test_administrators_set_states_and_delete_whatever_they_are(
    shares: Shares, ruler: Shares
) -> None:
    made = await shares.make()
    path = f"/shares/{made['id']}/action"
    await shares.refusal("POST", path, {"reset_status": {"status": "error"}}, 403)
    await shares.refusal("POST", path, {"force_delete": None}, 403)
    told = await ruler.refusal("POST", path, {"reset_status": {"status": "foo"}})
    assert "'foo' is not one of ['creating'" in told
    await ruler.act(made["id"], "reset_status", {"status": "creating"})
    told = await shares.refusal("DELETE", f"/shares/{made['id']}", status=403)
    assert told == (
        "Invalid share: Share status must be one of ('available', 'error', 'inactive')."
    )
    told = await shares.refusal("POST", path, {"extend": {"new_size": 5}})
    assert told.endswith("status must be 'available' to extend, but current status is: creating.")
    await ruler.act(made["id"], "force_delete")
    await shares.get(f"/shares/{made['id']}", 404)


async def test_actions_have_the_names_of_their_version(shares: Shares) -> None:
    made = await shares.make()
    shares.api.share_version = "2.6"
    await shares.act(made["id"], "os-extend", {"new_size": 2})
    await shares.act(made["id"], "extend", {"new_size": 3}, 404)
    shares.api.share_version = "2.7"
    await shares.act(made["id"], "os-extend", {"new_size": 3}, 404)
    path = f"/shares/{made['id']}/action"
    assert await shares.refusal("POST", path, {"foo": {}}) == "There is no such action: foo"


async def test_the_bin_keeps_a_share_for_a_week(shares: Shares) -> None:
    house, made = shares.house, await shares.make(name="old")
    await shares.act(made["id"], "soft_delete")
    assert (await shares.get("/shares"))["shares"] == []
    (binned,) = (await shares.get("/shares/detail?is_soft_deleted=True"))["shares"]
    assert binned["scheduled_to_be_deleted_at"] == "2026-01-08T00:00:00.000000"
    path = f"/shares/{made['id']}/action"
    told = await shares.refusal("POST", path, {"extend": {"new_size": 2}}, 403)
    assert told == f"Cannot extend share '{made['id']}' since it has been soft deleted."
    await shares.act(made["id"], "restore")
    assert [each["name"] for each in (await shares.get("/shares"))["shares"]] == ["old"]
    await shares.act(made["id"], "soft_delete")
    house.clock.advance(8 * 24 * 3600)
    await house.restart()
    again = Shares(house, house.user("demo"))
    await again.get("/shares")
    await house.settle()
    await again.get(f"/shares/{made['id']}", 404)


async def test_instances_and_export_locations_are_shown(shares: Shares, ruler: Shares) -> None:
    made = await shares.make()
    path = f"/shares/{made['id']}"
    (location,) = (await shares.get(f"{path}/export_locations"))["export_locations"]
    assert set(location) == {"id", "path", "preferred", "metadata"}
    assert location["path"].startswith("127.24.4.1:/shares/share-")
    one = await shares.get(f"{path}/export_locations/{location['id']}")
    assert one["export_location"]["path"] == location["path"]
    told = await shares.refusal("GET", f"{path}/export_locations/nope", status=404)
    assert told == "Export location 'nope' not found."
    await shares.get(f"{path}/instances", 403)
    (instance,) = (await ruler.get(f"{path}/instances"))["share_instances"]
    assert instance["share_id"] == made["id"]
    assert instance["host"] == "localhost@local#local"
    shown = await ruler.get(f"/share_instances/{instance['id']}")
    assert shown["share_instance"] == instance
    exports = await ruler.get(f"/share_instances/{instance['id']}/export_locations")
    assert exports["export_locations"][0]["share_instance_id"] == instance["id"]
    (found,) = (await shares.get(f"/shares?export_location_path={location['path']}"))["shares"]
    assert found["id"] == made["id"]

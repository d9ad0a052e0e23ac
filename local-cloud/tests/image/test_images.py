import hashlib
from typing import Any

import pytest

from localcloud.core.cloud import Cloud
from localcloud.image.model.images import Images
from localcloud.image.model.rootfs_cache import RootfsCache
from localcloud.image.service import ImageService
from localcloud.process.app import CloudApp

PATCH = {"Content-Type": "application/openstack-images-v2.1-json-patch"}
DATA = {"Content-Type": "application/octet-stream"}


async def names(api: Any, query: str = "", token: str = "demo") -> list[str]:
    answer = await api("GET", f"/images{query}", token=token)
    assert answer.status_code == 200, answer.text
    return [image["name"] for image in answer.json()["images"]]


async def test_host_image_is_public_without_data(api: Any) -> None:
    (host,) = (await api("GET", "/images")).json()["images"]
    assert {
        "name": "host",
        "status": "active",
        "visibility": "public",
        "container_format": "bare",
        "disk_format": "raw",
        "stoker:kind": "host",
    }.items() <= host.items()
    assert (await api("GET", f"/images/{host['id']}/file")).status_code == 204
    assert (await api("DELETE", f"/images/{host['id']}")).status_code == 403


@pytest.mark.parametrize("name", ["stoker:base", "stoker:kind", "os_glance_x"])
async def test_reserved_properties_cannot_be_set(api: Any, upload: Any, name: str) -> None:
    refused = await api("POST", "/images", {"name": "i", name: "x"})
    assert (refused.status_code, "reserved" in refused.text) == (403, True)
    image_id = await upload()
    for change in ({"op": "add", "value": "x"}, {"op": "remove"}):
        body = [{"path": f"/{name}", **change}]
        assert (await api("PATCH", f"/images/{image_id}", body, headers=PATCH)).status_code == 403


async def test_the_host_image_is_made_once(cloud: Cloud, image_service: Any, api: Any) -> None:
    await ImageService(cloud).start()
    assert await names(api) == ["host"]


async def test_image_is_queued_until_its_data_arrives(api: Any) -> None:
    content = {"name": "i", "container_format": "bare", "disk_format": "raw", "flavour": "sour"}
    made = await api("POST", "/images", content)
    image = made.json()
    path = f"/images/{image['id']}"
    assert made.headers["location"].endswith(f"/image/v2{path}")
    assert content.items() <= image.items()
    assert (image["status"], image["visibility"], image["owner"]) == (
        "queued",
        "shared",
        "demo-project",
    )
    assert (await api("GET", f"{path}/file")).status_code == 204
    data = b"x" * 300_000
    assert (await api("PUT", f"{path}/file", content=data, headers=DATA)).status_code == 204
    image = (await api("GET", path)).json()
    assert image["status"] == "active"
    assert image["size"] == len(data)
    assert image["checksum"] == hashlib.md5(data).hexdigest()
    assert image["os_hash_algo"] == "sha512"
    assert image["os_hash_value"] == hashlib.sha512(data).hexdigest()
    download = await api("GET", f"{path}/file")
    assert download.content == data
    assert download.headers["content-md5"] == image["checksum"]
    again = await api("PUT", f"{path}/file", content=b"y", headers=DATA)
    assert again.status_code == 409


async def test_uploads_need_formats_and_the_right_media_type(api: Any) -> None:
    image = (await api("POST", "/images", {"name": "i"})).json()
    path = f"/images/{image['id']}/file"
    assert (await api("PUT", path, content=b"x", headers=DATA)).status_code == 400
    assert (await api("PUT", path, content=b"x")).status_code == 415


async def test_data_beyond_the_limit_leaves_the_image_queued(cloud: Cloud, api: Any) -> None:
    images = cloud.one(Images)
    image = images.record("demo-project", "big")
    images.add(image)

    async def chunks() -> Any:
        for _ in range(3):
            yield b"x" * 10

    with pytest.raises(Exception, match="longer than 20 bytes"):
        await images.fill(image, chunks(), 20)
    assert images.get(image["id"])["status"] == "queued"
    assert images.path(image["id"]) is None


async def test_aborted_upload_leaves_image_queued(
    cloud: Cloud, image_service: Any, api: Any
) -> None:
    content = {"container_format": "bare", "disk_format": "raw"}
    image_id = (await api("POST", "/images", content)).json()["id"]
    messages = iter(
        [
            {"type": "http.request", "body": b"half", "more_body": True},
            {"type": "http.disconnect"},
        ]
    )
    sent = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "PUT",
        "path": f"/image/v2/images/{image_id}/file",
        "query_string": b"",
        "headers": [(b"x-auth-token", b"demo"), (b"content-type", b"application/octet-stream")],
    }
    await CloudApp(cloud, [image_service])(scope, receive, send)
    assert sent == []
    assert (await api("GET", f"/images/{image_id}")).json()["status"] == "queued"
    assert cloud.one(Images).path(image_id) is None


async def test_interrupted_upload_is_undone_at_start(cloud: Cloud, api: Any) -> None:
    images = cloud.one(Images)
    images.add(images.record("demo-project", "cut", status="saving"))
    images.start()
    assert [i["status"] for i in images.records.find(name="cut")] == ["queued"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"disk_format": "floppy"}, 400),
        ({"container_format": ["bare"]}, 400),
        ({"min_disk": -1}, 400),
        ({"name": 1}, 400),
        ({"extra": 1}, 400),
        ({"visibility": "public"}, 403),
        ({"owner": "other-project"}, 403),
        ({"status": "active"}, 403),
        ({"id": "x"}, 400),
        ({"tags": "x"}, 400),
        ({f"p{number}": "x" for number in range(129)}, 413),
    ],
)
async def test_bad_images_are_refused(api: Any, content: dict[str, Any], status: int) -> None:
    answer = await api("POST", "/images", content)
    assert answer.status_code == status
    assert answer.json()["code"].startswith(str(status))


async def test_ids_can_be_chosen_once(api: Any) -> None:
    chosen = {"id": "01234567-89ab-cdef-0123-456789abcdef"}
    assert (await api("POST", "/images", chosen)).json()["id"] == chosen["id"]
    assert (await api("POST", "/images", chosen)).status_code == 409


async def test_images_are_changed_by_patches(api: Any, upload: Any) -> None:
    path = f"/images/{await upload(name='i', colour='red', size_class='s')}"
    operations = [
        {"op": "replace", "path": "/name", "value": "j"},
        {"op": "add", "path": "/a~1b", "value": "c"},
        {"op": "replace", "path": "/colour", "value": "blue"},
        {"op": "remove", "path": "/size_class"},
        {"op": "replace", "path": "/tags", "value": ["y", "x", "y"]},
    ]
    answer = await api("PATCH", path, operations, headers=PATCH)
    assert answer.status_code == 200
    image = answer.json()
    assert (image["name"], image["a/b"], image["colour"], image["tags"]) == (
        "j",
        "c",
        "blue",
        ["x", "y"],
    )
    assert "size_class" not in image
    for operation, status in (
        ({"op": "replace", "path": "/nothing", "value": "x"}, 409),
        ({"op": "remove", "path": "/name"}, 403),
        ({"op": "replace", "path": "/status", "value": "x"}, 403),
        ({"op": "replace", "path": "/disk_format", "value": "iso"}, 403),
        ({"op": "replace", "path": "/min_ram", "value": "x"}, 400),
        ({"op": "move", "path": "/name"}, 400),
        ({"op": "add", "path": "/x"}, 400),
    ):
        answer = await api("PATCH", path, [operation], headers=PATCH)
        assert answer.status_code == status, operation
    assert (await api("PATCH", path, operations)).status_code == 415


async def test_lists_are_filtered_sorted_and_paged(api: Any, upload: Any, clock: Any) -> None:
    for name, tags in (("a", ["t"]), ("b", ["t", "u"]), ("c", [])):
        clock.advance(1)
        await upload(name=name, tags=tags, letter=name)
    hidden = await upload(name="h", os_hidden=True)
    assert await names(api) == ["c", "b", "a", "host"]
    assert await names(api, "?sort=name:asc") == ["a", "b", "c", "host"]
    assert await names(api, "?tag=t&tag=u") == ["b"]
    assert await names(api, "?letter=c") == ["c"]
    assert await names(api, "?name=in:a,c&sort_key=name&sort_dir=asc") == ["a", "c"]
    assert await names(api, "?visibility=public") == ["host"]
    assert await names(api, "?os_hidden=true") == ["h"]
    assert await names(api, f"?id={hidden}&os_hidden=true") == ["h"]
    assert await names(api, "?size_min=1&size_max=9&owner=demo-project") == ["c", "b", "a"]
    assert await names(api, "?created_at=gt:2026-01-01T00:00:02Z") == ["c"]
    page = (await api("GET", "/images?limit=3")).json()
    assert [image["name"] for image in page["images"]] == ["c", "b", "a"]
    following = await api("GET", page["next"].removeprefix("/v2"))
    assert [image["name"] for image in following.json()["images"]] == ["host"]
    assert "next" not in following.json()
    for query in ("?limit=x", "?marker=x", "?sort=colour", "?sort=name:up", "?size_min=x"):
        assert (await api("GET", f"/images{query}")).status_code == 400


async def test_owner_and_accepted_members_see_image(api: Any, upload: Any) -> None:
    path = f"/images/{await upload(name='i')}"
    assert (await api("GET", path, token="other")).status_code == 404
    assert (await api("POST", f"{path}/members", {"member": "other-project"})).status_code == 200
    assert (await api("POST", f"{path}/members", {"member": "other-project"})).status_code == 409
    assert (await api("GET", path, token="other")).status_code == 200
    assert await names(api, "", "other") == ["host"]
    member = f"{path}/members/other-project"
    assert (await api("PUT", member, {"status": "accepted"})).status_code == 403
    accepted = await api("PUT", member, {"status": "accepted"}, "other")
    assert accepted.json()["status"] == "accepted"
    assert sorted(await names(api, "", "other")) == ["host", "i"]
    listed = (await api("GET", f"{path}/members")).json()["members"]
    assert [m["member_id"] for m in listed] == ["other-project"]
    assert (await api("PATCH", path, [], "other", headers=PATCH)).status_code == 403
    assert (await api("DELETE", path, token="other")).status_code == 403
    assert (await api("DELETE", member)).status_code == 204
    assert (await api("GET", path, token="other")).status_code == 404


async def test_tags_are_put_and_deleted(api: Any, upload: Any) -> None:
    path = f"/images/{await upload()}"
    assert (await api("PUT", f"{path}/tags/x")).status_code == 204
    assert (await api("GET", path)).json()["tags"] == ["x"]
    assert (await api("DELETE", f"{path}/tags/x")).status_code == 204
    assert (await api("DELETE", f"{path}/tags/x")).status_code == 404


async def test_deactivated_images_are_not_downloaded(api: Any, upload: Any) -> None:
    path = f"/images/{await upload(b'secret')}"
    assert (await api("POST", f"{path}/actions/deactivate")).status_code == 403
    assert (await api("POST", f"{path}/actions/deactivate", token="admin")).status_code == 204
    assert (await api("GET", f"{path}/file")).status_code == 403
    assert (await api("POST", f"{path}/actions/reactivate", token="admin")).status_code == 204
    assert (await api("GET", f"{path}/file")).content == b"secret"


async def test_protected_images_are_not_deleted(api: Any, upload: Any) -> None:
    path = f"/images/{await upload(protected=True)}"
    assert (await api("DELETE", path)).status_code == 403
    await api(
        "PATCH", path, [{"op": "replace", "path": "/protected", "value": False}], headers=PATCH
    )
    assert (await api("DELETE", path)).status_code == 204
    assert (await api("GET", path)).status_code == 404


async def test_versions_schemas_stores_and_usage_are_shown(api: Any, upload: Any) -> None:
    await upload(b"x" * (1 << 20))
    for name in ("image", "images", "member", "members", "task", "tasks"):
        assert (await api("GET", f"/schemas/{name}")).json()["name"] == name
    assert (await api("GET", "/schemas/none")).status_code == 404
    assert (await api("GET", "/info/stores")).json()["stores"][0]["id"] == "local"
    usage = (await api("GET", "/info/usage")).json()["usage"]
    assert usage["image_count_total"]["usage"] == 1
    assert usage["image_size_total"]["usage"] == 1


async def test_administrator_gives_built_in_image_further_names(cloud: Cloud, api: Any) -> None:
    body = {"name": "ours", "id": "0d1f8ab2-7d4c-4a51-8c09-5b4a7f7c5f10", "stoker:kind": "host"}
    assert (await api("POST", "/images", body)).status_code == 403
    made = (await api("POST", "/images", body, token="admin")).json()
    assert (made["id"], made["status"], made["visibility"]) == (body["id"], "active", "public")
    assert await cloud.one(RootfsCache).root(made["id"]) is None

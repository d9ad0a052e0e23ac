"""Images from the web."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case

_OWN = (
    "id name container_format! disk_format! min_disk min_ram owner protected tags visibility"
    " architecture kernel_id ramdisk_id os_distro os_version colour weight"
)
IMAGE = Kind(
    "/images",
    "image",
    "images",
    _OWN,
    "name",
    "PATCH",
    bare=True,
    named_ids=True,
    made=lambda body: {"status": "queued", "tags": body.get("tags") or []},
    states=States("queued", "queued"),
    told=lambda item: {key: value for key, value in item.items() if value is not None},
)


def _import(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/images")[match[1]]
    if body["method"]["name"] != "web-download" or item["status"] != "queued":
        raise RefusalError(409, "the image cannot be imported now")
    if body["method"]["uri"].endswith("missing"):
        item["os_glance_failed_import"] = "local"
        return
    item["status"] = "importing"
    service.under_way[str(id(item))] = (IMAGE, item, 2, "active")


def _act(service: Service, match: Any, body: Any) -> None:
    item = service.objects("/images")[match[1]]
    if item["status"] not in ("active", "deactivated"):
        raise RefusalError(403, "the image is not active")
    item["status"] = "deactivated" if match[2] == "deactivate" else "active"


def _members(service: Service, match: Any, body: Any) -> Object:
    found = service.objects(f"/images/{match[1]}/members")
    return {"members": [{"member_id": name, "status": "pending"} for name in found]}


def _share(service: Service, match: Any, body: Any) -> Object:
    found = service.objects(f"/images/{match[1]}/members")
    if body["member"] in found:
        raise RefusalError(409, "the image is shared already")
    found[body["member"]] = {}
    return {"member_id": body["member"]}


def _unshare(service: Service, match: Any, body: Any) -> None:
    del service.objects(f"/images/{match[1]}/members")[match[2]]


def service() -> Service:
    """The image service, which fetches from the web."""
    return Service(
        (IMAGE,),
        (
            ("POST", r"/images/([^/]+)/import", _import),
            ("POST", r"/images/([^/]+)/actions/(deactivate|reactivate)", _act),
            ("GET", r"/images/([^/]+)/members", _members),
            ("POST", r"/images/([^/]+)/members", _share),
            ("DELETE", r"/images/([^/]+)/members/([^/]+)", _unshare),
        ),
    )


UUID = "11111111-1111-1111-1111-111111111111"
CASES = (
    Case(
        "OS::Glance::WebImage",
        {
            "container_format": "bare",
            "disk_format": "raw",
            "location": "http://example.org/image",
            "extra_properties": {"colour": "blue"},
            "os_distro": "debian",
            "visibility": "shared",
        },
        {
            "active": False,
            "architecture": "aarch64",
            "extra_properties": {"weight": "large"},
            "kernel_id": UUID,
            "members": ["their-project"],
            "os_distro": "fedora",
            "os_version": "2",
            "owner": "their-project",
            "protected": True,
            "ramdisk_id": UUID,
            "tags": ["t"],
            "visibility": "private",
        },
        {"min_disk": 1},
        unreported=frozenset({"location"}),
    ),
)

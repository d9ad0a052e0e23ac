"""OS::Glance::WebImage: an image that Glance downloads from the web.

Images have no description, so they cannot hold a marker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.faults import fault_from
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import IMAGES
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest, Readiness, RestResource
from stoker.schema.resource_type import Call, Done, Failed, Outcome, Wait
from stoker.schema.support import since

_APART = frozenset({"active", "extra_properties", "location", "members"})
_ASKED = "asked"  # Key of the progress: the download was requested.
# Values of fields that every image has, if they are not set.
_BLANKS: Object = {"tags": [], "owner": None}
_ERRORS = 400


def _members(call: Call) -> list[str]:
    answer = IMAGES.ask(call.cloud, "GET", IMAGES.at(call.object_id, "/members"))
    return [str(entry["member_id"]) for entry in answer.get("members", [])]


def _share(call: Call) -> None:
    desired, present = call.properties.get("members") or [], _members(call)
    path = IMAGES.at(call.object_id, "/members")
    for member in desired:
        if member not in present:
            IMAGES.ask(call.cloud, "POST", path, json={"member": member})
    for member in present:
        if member not in desired:
            IMAGES.ask(call.cloud, "DELETE", f"{path}/{member}")


def _activate(call: Call) -> None:
    action = "reactivate" if call.properties["active"] else "deactivate"
    IMAGES.ask(call.cloud, "POST", IMAGES.at(call.object_id, f"/actions/{action}"))


class GlanceWebImage(RestResource):
    """An image."""

    type_name = "OS::Glance::WebImage"
    description = "An image that the image service downloads from the web."
    service = "image"
    support = since("12.0.0")
    collection = IMAGES
    marker_field = ""
    readiness = Readiness(
        pending=frozenset({"queued", "importing", "saving", "uploading"}),
        failed=frozenset({"killed", "deleted", "pending_delete"}),
        reason="message",
    )
    follow_up_requests = (FollowUpRequest("members", _share, _members),)

    properties = {
        "active": declare.boolean(
            "Whether servers can be created from the image.",
            default=True,
            update_allowed=True,
            support=since("16.0.0"),
        ),
        "architecture": declare.string("CPU architecture of the image.", update_allowed=True),
        "container_format": declare.choice(
            ["ami", "ari", "aki", "bare", "ovf", "ova", "docker"],
            "Format of the container.",
            required=True,
        ),
        "disk_format": declare.choice(
            ["ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"],
            "Format of the disk.",
            required=True,
        ),
        "extra_properties": declare.mapping(
            "Additional properties, by name.",
            default={},
            update_allowed=True,
            support=since("17.0.0"),
        ),
        "id": declare.string("Id of the image. If not given, one is generated."),
        "kernel_id": declare.string(
            "Image of the kernel.",
            update_allowed=True,
            constraints=(
                declare.pattern(
                    "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$"
                ),
            ),
        ),
        "location": declare.string("URL of the image.", required=True),
        "members": declare.sequence(
            "Projects that have access to a shared image.",
            update_allowed=True,
            support=since("16.0.0"),
            items=declare.string(),
        ),
        "min_disk": declare.at_least(0, "Minimum disk in GiB.", default=0),
        "min_ram": declare.at_least(0, "Minimum memory in MiB.", default=0),
        "name": declare.string("Name of the image. If not given, a name is generated."),
        "os_distro": declare.string("Distribution of the operating system.", update_allowed=True),
        "os_version": declare.string("Version of the operating system.", update_allowed=True),
        "owner": declare.string("Project that owns the image.", update_allowed=True),
        "protected": declare.boolean(
            "Whether the image is protected against deletion.", default=False, update_allowed=True
        ),
        "ramdisk_id": declare.string(
            "Image of the RAM disk.",
            update_allowed=True,
            constraints=(
                declare.pattern(
                    "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$"
                ),
            ),
        ),
        "tags": declare.sequence("Tags of the image.", update_allowed=True),
        "visibility": declare.choice(
            ["public", "private", "community", "shared"],
            "Visibility of the image.",
            default="private",
            update_allowed=True,
        ),
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the fields, including the additional properties."""
        own = {name: value for name, value in properties.items() if name not in _APART}
        return {**super().fields(own), **(properties.get("extra_properties") or {})}

    def create(self, call: Call) -> Outcome:
        """Create the image, request the download, and wait for it."""
        if call.physical_id is None:
            return super().create(call)
        image = IMAGES.get(call.cloud, call.physical_id)
        if image.get("os_glance_failed_import"):
            return Failed(f"the image could not be downloaded from {call.properties['location']}")
        if image["status"] == "queued" and not call.progress.get(_ASKED):
            uri = call.properties["location"]
            body = {"method": {"name": "web-download", "uri": uri}}
            IMAGES.ask(call.cloud, "POST", IMAGES.at(call.physical_id, "/import"), json=body)
            return Wait(after=0.1, progress={_ASKED: True}, reason="the image is being downloaded")
        outcome = super().create(call)
        if isinstance(outcome, Done) and call.properties["active"] is False:
            _activate(call)
        return outcome

    def update(self, call: Call) -> Outcome:
        """Update fields, members and activation."""
        if changes := self._changes(call):
            answer = call.cloud.service("image").request(
                IMAGES.at(call.object_id),
                "PATCH",
                json=changes,
                headers={"Content-Type": "application/openstack-images-v2.1-json-patch"},
            )
            if answer.status_code >= _ERRORS:
                raise fault_from(answer)
        if "members" in call.update.changed:
            _share(call)
        if "active" in call.update.changed:
            _activate(call)
        return Done()

    def _changes(self, call: Call) -> list[Object]:
        names = call.update.changed
        before = self.fields({name: call.update.previous.get(name) for name in names})
        after = self.fields({name: call.properties.get(name) for name in names})
        gone = before.keys() - after.keys()
        changes: list[Object] = [
            {"op": "replace", "path": f"/{name}", "value": _BLANKS[name]}
            if name in _BLANKS
            else {"op": "remove", "path": f"/{name}"}
            for name in sorted(gone)
        ]
        return changes + [
            {"op": "add", "path": f"/{name}", "value": value} for name, value in after.items()
        ]

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with given additional properties and activation."""
        further = call.properties.get("extra_properties") or {}
        return {
            **super().properties_of(call, found),
            "active": found["status"] != "deactivated",
            "extra_properties": {name: found[name] for name in further if name in found},
        }

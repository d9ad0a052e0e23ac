"""OS::Cinder::Volume: a volume."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.base.rest import FollowUpRequest
from stoker.resources.cinder.volume_changes import apply_changes, set_read_only
from stoker.resources.shared.storage.volumes import BACKUP, BlockVolume
from stoker.resources.shared.text_values import as_texts
from stoker.schema.properties import Attribute, Interruption, Type
from stoker.schema.resource_type import Call, Outcome
from stoker.schema.support import Support, SupportStatus, deprecated, hidden, since
from stoker.schema.unknown import Unknown

_FROM_BACKUPS = "3.47"
_SOURCES = ("image", "imageRef", "source_volid", "snapshot_id")
_TOLD_AS_TEXT = (
    "availability_zone", "bootable", "created_at", "encrypted", "size", "snapshot_id",
    "source_volid", "status", "volume_type",
)  # fmt: skip
_HINTS = "OS-SCH-HNT:scheduler_hints"
# Metadata that the service sets itself.
_KEPT_BY_SERVICE = frozenset({"readonly", "attached_mode"})


class CinderVolume(BlockVolume):
    """A volume."""

    type_name = "OS::Cinder::Volume"
    description = "A volume that can be attached to servers, and survives them."
    field_names = {"image": "imageRef", "scheduler_hints": _HINTS}
    follow_up_requests = (
        FollowUpRequest("read_only", set_read_only, lambda call: _is_read_only(call)),
    )

    properties = {
        "availability_zone": declare.string("Availability zone of the volume."),
        "backup_id": declare.by_name(
            "cinder.backup",
            "Backup to create the volume from; a changed one is restored into the volume",
            update_allowed=True,
            interruption=Interruption(
                "its contents are overwritten by the backup", overwrites_data=True
            ),
        ),
        "description": declare.string("Description of the object.", update_allowed=True),
        "image": declare.by_name("glance.image", "Image to create the volume from"),
        "imageRef": declare.string(
            "Id of the image to create the volume from.",
            support=hidden("5.0.0", deprecated("2014.1")),
        ),
        "metadata": declare.mapping(
            "Metadata of the volume.",
            default={},
            update_allowed=True,
        ),
        "multiattach": declare.boolean(
            "Whether the volume can be attached to several servers. Use a volume type for that.",
            default=False,
            support=SupportStatus(Support.HIDDEN, "13.0.0", previous=since("6.0.0")),
        ),
        "name": declare.NAME,
        "read_only": declare.boolean(
            "Whether servers can only read the volume.", update_allowed=True, support=since("5.0.0")
        ),
        "scheduler_hints": declare.mapping("Scheduler hints.", support=since("2015.1")),
        "size": declare.at_least(
            1, "Size in GiB. It can grow, but not shrink.", update_allowed=True, only_grows=True
        ),
        "snapshot_id": declare.by_name("cinder.snapshot", "Snapshot to create the volume from"),
        "source_volid": declare.by_name("cinder.volume", "Volume to copy"),
        "volume_type": declare.by_name("cinder.vtype", "Type of the volume", update_allowed=True),
    }
    attributes = {
        "attachments": Attribute(
            "Attachments of the volume, as JSON.",
            Type.STRING,
            cached=False,
            support=SupportStatus(Support.DEPRECATED, "9.0.0", previous=since("2015.1")),
        ),
        "attachments_list": Attribute(
            "Attachments of the volume.", Type.LIST, cached=False, support=since("9.0.0")
        ),
        "availability_zone": Attribute("Availability zone of the volume.", Type.STRING),
        "bootable": Attribute("Whether servers can boot from the volume.", Type.STRING),
        "created_at": Attribute("Time of the creation.", Type.STRING),
        "display_description": Attribute("Description of the volume.", Type.STRING),
        "display_name": Attribute("Name of the volume.", Type.STRING),
        "encrypted": Attribute("Whether the volume is encrypted.", Type.STRING),
        "metadata": Attribute("Metadata of the volume, as JSON.", Type.STRING),
        "metadata_values": Attribute("Metadata of the volume.", Type.MAP),
        "multiattach": Attribute(
            "Whether the volume can be attached to several servers.",
            Type.BOOLEAN,
            support=since("6.0.0"),
        ),
        "show": declare.SHOW,
        "size": Attribute("Size in GiB.", Type.STRING),
        "snapshot_id": Attribute("Snapshot that the volume was created from.", Type.STRING),
        "source_volid": Attribute("Volume that was copied.", Type.STRING),
        "status": Attribute("Status of the volume.", Type.STRING, cached=False),
        "volume_type": Attribute("Type of the volume.", Type.STRING),
    }

    def version(self, properties: Mapping[str, Any]) -> str | None:
        """Return the microversion for volumes from backups, if a backup is given."""
        return _FROM_BACKUPS if properties.get("backup_id") else None

    def creation_body(self, call: Call) -> Object:
        """Return the fields. A backup excludes all other sources."""
        body = super().creation_body(call)
        unwanted = ("imageRef", "source_volid", "snapshot_id") if body.get("backup_id") else ()
        silent = () if body.get("multiattach") else ("multiattach",)
        if body.get("metadata"):
            body["metadata"] = as_texts(body["metadata"])
        return {name: value for name, value in body.items() if name not in (*unwanted, *silent)}

    def update(self, call: Call) -> Outcome:
        """Rename, retype, extend or overwrite the volume."""
        outcome = apply_changes(call)
        if outcome is not None:
            return outcome
        return self.judge(call, self.collection.get(call.cloud, call.object_id))

    def attributes_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the attributes. All are strings, as in Heat."""
        attachments = found.get("attachments") or []
        metadata = found.get("metadata") or {}
        return {
            **{name: str(found.get(name)) for name in _TOLD_AS_TEXT},
            "attachments": json.dumps(attachments),
            "attachments_list": attachments,
            "display_description": found.get("description"),
            "display_name": found.get("name"),
            "metadata": json.dumps(metadata),
            "metadata_values": metadata,
            "multiattach": bool(found.get("multiattach")),
        }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties of the live volume, as far as the user gave them."""
        observed: dict[str, Any] = {
            name: found.get(name) for name in ("name", "description", "size", "availability_zone")
        }
        own = {**(found.get("metadata") or {})}
        specified = call.properties.get("metadata") or {}
        observed["metadata"] = {
            key: value
            for key, value in own.items()
            if key in specified or key not in _KEPT_BY_SERVICE
        }
        for name in ("snapshot_id", "source_volid"):
            observed[name] = found.get(name)
        if call.properties.get("volume_type"):
            observed["volume_type"] = _as_specified(call.properties["volume_type"], found)
        if call.properties.get("multiattach"):
            observed["multiattach"] = found.get("multiattach")
        if call.properties.get("image"):
            image = found.get("volume_image_metadata") or {}
            observed["image"] = image.get("image_id", call.properties["image"])
        return observed

    def restored(self, properties: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the properties with the snapshot's backup: it is restored into an existing
        volume."""
        backup_id = data.get(BACKUP)
        return properties if backup_id is None else {**properties, "backup_id": backup_id}

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that the volume has one source, and a size unless the source determines it."""
        named = [name for name in _SOURCES if properties.get(name) is not None]
        if isinstance(properties.get("size"), Unknown):
            return []
        listed = f"currently specified options: {named}."
        sources = ", ".join(f'"{name}"' for name in _SOURCES)
        if properties.get("size") is None and properties.get("backup_id") is None:
            if len(named) != 1:
                message = (
                    'If neither "backup_id" nor "size" is provided, one and only one of '
                    f"{sources} must be specified, but {listed}"
                )
                return [Diagnostic("invalid-volume", message, ())]
        elif len(named) > 1:
            message = f'If "size" is provided, only one of {sources} can be specified, but {listed}'
            return [Diagnostic("invalid-volume", message, (named[1],))]
        return []


def _as_specified(specified: Any, found: Object) -> Any:
    """Return the volume type, by id if the user gave the id."""
    if specified in (found.get("volume_type"), found.get("volume_type_id")):
        return specified
    return found.get("volume_type")


def _is_read_only(call: Call) -> bool:
    found = CinderVolume.collection.get(call.cloud, call.object_id)
    flag = (found.get("metadata") or {}).get("readonly", "False")
    return str(flag).lower() == "true"

"""Base of the volume types: delete, backup and attachment of volumes.

A snapshot of a volume is a backup, as in Heat, since a backup survives the volume. Changes that
Cinder refuses for an attached volume are made while it is detached from its servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from stoker.clouds.faults import CloudError, gone_is_fine
from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import BACKUPS, MESSAGES, SERVERS, VOLUMES
from stoker.resources.base.rest import (
    Readiness,
    RestResource,
    error_status,
    marker_text,
    poll_object,
    polling_pause,
)
from stoker.schema.resource_type import Call, Done, Failed, ObjectUser, Outcome, Wait
from stoker.schema.resource_type.neighbours import first_value

BACKUP = "backup_id"  # Key of the data: id of the newest backup.
READINESS = Readiness(
    pending=frozenset(
        {"creating", "downloading", "extending", "retyping", "attaching", "detaching", "reserved"}
        | {"restoring-backup", "backing-up", "uploading", "reverting", "maintenance", "managing"}
    ),
    failed=frozenset({"error", "error_restoring", "error_extending", "error_managing"}),
)
_BACKED_UP = frozenset({"available", "in-use"})
_LOST_BACKUPS = frozenset({"error", "error_deleting", "deleting"})
_IN_USE_SECONDS = 60.0
_BUSY = 400  # Cinder's answer if the volume's state does not allow a request.


class BlockVolume(RestResource):
    """A volume of the block storage service."""

    service = "block-storage"
    collection = VOLUMES
    readiness = READINESS
    async_delete = True
    has_data = True
    quota = "volume/volumes"

    def quota_use(self, properties: Mapping[str, Any]) -> Mapping[str, int]:
        """Return one volume, and its size."""
        size = first_value(properties, "size", "Size")
        known = size if isinstance(size, int) else 0
        return {self.quota: 1, "volume/gigabytes": known}

    def users(self, call: Call) -> Sequence[ObjectUser]:
        """Return the servers that the volume is attached to."""
        volume = VOLUMES.find(call.cloud, call.object_id) or {}
        servers = [str(each.get("server_id")) for each in volume.get("attachments") or ()]
        return [ObjectUser(f"the server {server}", (server,)) for server in servers]

    def delete(self, call: Call) -> Outcome:
        """Delete the volume with its snapshots, once it is detached from all servers."""
        if call.physical_id is None:
            return Done()
        is_asked = bool(call.progress.get("asked"))
        volume = (
            poll_object(call, VOLUMES) if is_asked else VOLUMES.find(call.cloud, call.physical_id)
        )
        if is_asked and volume is not None and volume.get("status") != "deleting":
            # The bulk list may be older than the request to delete, so read the volume itself.
            volume = VOLUMES.find(call.cloud, call.physical_id)
        if volume is None:
            return Done()
        status, pause = str(volume.get("status")), polling_pause(call, VOLUMES)
        if status == "deleting":
            return Wait(pause, reason="the volume is being deleted")
        if status == "error_deleting" and is_asked:
            return failed(call, volume)
        if status in READINESS.pending or status == "in-use":
            return _held(call, volume)
        try:
            VOLUMES.delete(call.cloud, call.physical_id, params={"cascade": True})
        except CloudError as fault:
            if fault.status_code != _BUSY or call.progress.get("refused", 0) >= 3:
                raise
            refused = call.progress.get("refused", 0) + 1
            return Wait(pause, progress={"refused": refused}, reason=fault.message)
        return Wait(pause, progress={"asked": True}, reason="the volume is being deleted")

    def judge(self, call: Call, found: Object) -> Outcome:
        """Return the outcome for the status. A failure includes its cause."""
        if found.get("status") in READINESS.failed:
            return failed(call, found)
        return super().judge(call, found)

    def snapshot(self, call: Call) -> Outcome:
        """Back the volume up. The id of the backup is kept as ``backup_id``."""
        return take_backup(call)

    def delete_snapshot(self, call: Call) -> Outcome:
        """Remove the backup."""
        return delete_backup(call)

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List volumes in detail, filtered by name."""
        return VOLUMES.select(call.cloud, f"{VOLUMES.path}/detail", name=like["name"])

    def _with_token(self, call: Call) -> list[Object]:
        """Return the volumes with the token. Cinder cannot filter by description."""
        if not call.properties.get("name"):
            return self.candidates(call)
        marked = marker_text(call)
        listed = self.listed(call, {"name": call.properties["name"]})
        return [item for item in listed if item.get("description") == marked]


def failed(call: Call, volume: Object) -> Failed:
    """Return the failure of a volume, with its cause from Cinder's user messages."""
    volume_id, cause = str(volume["id"]), "Unknown"
    with suppress(CloudError):  # Services before 2017 have no user messages.
        listed = MESSAGES.select(call.cloud, resource_uuid=volume_id)
        own = [each for each in listed if each.get("resource_uuid") == volume_id]
        if own:
            newest = max(own, key=lambda each: str(each.get("created_at")))
            cause = str(newest.get("user_message") or cause)
    return error_status(str(volume["status"]), cause, volume_id)


def _held(call: Call, volume: Object) -> Outcome:
    """Wait until a server that is being deleted has released the volume; fail after a minute."""
    if call.now - call.started_at > _IN_USE_SECONDS:
        servers = ", ".join(str(each.get("server_id")) for each in volume.get("attachments") or ())
        whose = f" by server {servers}" if servers else ""
        return Failed(f"Volume in use{whose}: it is {volume.get('status')}")
    reason = f"the volume is {volume.get('status')}"
    return Wait(polling_pause(call), reason=reason)


def take_backup(call: Call) -> Outcome:
    """Create a backup of the volume, and wait for it. The id goes into the data."""
    backup_id = call.progress.get("backup")
    if backup_id is None:
        volume = VOLUMES.find(call.cloud, call.physical_id or "")
        if volume is None or volume.get("status") in READINESS.failed:
            return _nothing_to_back_up(call, volume)
        if volume.get("status") not in _BACKED_UP:
            return Wait(polling_pause(call), reason=f"the volume is {volume.get('status')}")
        backup_id = _backup_named(call)
        if backup_id is None and call.now < call.snapshot.lands_until:
            return Wait(polling_pause(call), reason=f"looking for the backup {call.snapshot.name}")
        backup_id = backup_id or _request_backup(call)
        return Wait(polling_pause(call), progress={**call.progress, "backup": backup_id})
    backup = BACKUPS.find(call.cloud, str(backup_id))
    if backup is None:
        return Failed(f"the backup {backup_id} of the volume is gone")
    status = str(backup.get("status"))
    if status == "available":
        return Done(data={**call.data, BACKUP: backup_id})
    if status in _LOST_BACKUPS:
        reason = str(backup.get("fail_reason") or "Unknown")
        return error_status(status, reason)
    return Wait(polling_pause(call), reason=f"the backup {backup_id} is {status}")


def _nothing_to_back_up(call: Call, volume: Object | None) -> Outcome:
    """Succeed before a delete, where a backup is a precaution; fail a requested snapshot."""
    if call.action == "SNAPSHOT":
        state = "no longer exists" if volume is None else f"is {volume.get('status')}"
        return Failed(f"the volume {call.physical_id} {state}: there is nothing to back up")
    return Done(data={key: value for key, value in call.data.items() if key != BACKUP})


def _backup_named(call: Call) -> str | None:
    """Return the backup that an earlier call requested."""
    found = BACKUPS.named(call.cloud, call.snapshot.name)
    return str(found[0]["id"]) if found else None


def _request_backup(call: Call) -> str:
    body = {"volume_id": call.object_id, "name": call.snapshot.name, "force": True}
    return str(BACKUPS.create(call.cloud, body)["id"])


def delete_backup(call: Call) -> Outcome:
    """Delete the backup of the volume, including one whose create response was lost."""
    known = call.data.get(BACKUP)
    named = [str(backup["id"]) for backup in BACKUPS.named(call.cloud, call.snapshot.name)]
    left = [each for each in {*named, *([str(known)] if known else [])} if _is_left(call, each)]
    if left:
        return Wait(polling_pause(call), reason=f"the backup {left[0]} is being deleted")
    if not named and known is None and call.now < call.snapshot.lands_until:
        return Wait(polling_pause(call), reason=f"looking for the backup {call.snapshot.name}")
    return Done()


def _is_left(call: Call, backup_id: str) -> bool:
    backup = BACKUPS.find(call.cloud, backup_id)
    if backup is None:
        return False
    if backup.get("status") in {"available", "error"}:
        BACKUPS.delete(call.cloud, backup_id)
    return True


def attached(volume: Object) -> list[Mapping[str, Any]]:
    """Return the servers that have the volume attached, each with the device."""
    return [
        {"server": str(each["server_id"]), "device": each.get("device")}
        for each in volume.get("attachments") or ()
        if each.get("server_id")
    ]


def let_go(call: Call, held: list[Mapping[str, Any]]) -> bool:
    """Detach the volume from servers; return whether it is detached from all."""
    volume = VOLUMES.get(call.cloud, call.object_id)
    if volume.get("status") == "in-use":
        for each in held:
            detach_from(call, each["server"], call.object_id)
    return volume.get("status") == "available"


def give_back(call: Call, held: list[Mapping[str, Any]]) -> bool:
    """Attach the volume to its former servers; return whether it is attached to all."""
    volume = VOLUMES.get(call.cloud, call.object_id)
    present = {each["server"] for each in attached(volume)}
    missing = [each for each in held if each["server"] not in present]
    if volume.get("status") == "available" and missing:
        attach_to(call, missing[0]["server"], call.object_id, missing[0]["device"])
    return not missing and volume.get("status") in _BACKED_UP


def attach_to(call: Call, server: str, volume_id: str, device: str | None) -> None:
    """Attach a volume to a server. A deleted server or volume is fine."""
    body = {"volumeAttachment": {"volumeId": volume_id, "device": device}}
    with gone_is_fine():
        path = SERVERS.at(server, "/os-volume_attachments")
        SERVERS.ask(call.cloud, "POST", path, json=body)


def detach_from(call: Call, server: str, volume_id: str) -> None:
    """Detach a volume from a server. A detached volume is fine."""
    with gone_is_fine():
        path = SERVERS.at(server, f"/os-volume_attachments/{volume_id}")
        SERVERS.ask(call.cloud, "DELETE", path)

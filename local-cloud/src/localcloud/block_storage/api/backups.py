"""The API of backups."""

from uuid import uuid4

from localcloud.block_storage import jobs, volumes
from localcloud.block_storage.api import fields, views
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.api.volume_actions import accepted
from localcloud.block_storage.api.volumes import remove
from localcloud.block_storage.archives import CONTAINER
from localcloud.block_storage.model import quotas
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError
from localcloud.web.permissions import Access

_FIELDS = (
    "volume_id", "container", "name", "description", "incremental", "force", "snapshot_id",
    "metadata", "availability_zone",
)  # fmt: skip


async def listed(call: Call) -> Document:
    """Return the backups of the project."""
    found, more = call.paged(call.mine(call.state.backups.values()), "/backups", "backups")
    return {"backups": [views.brief(call, each, "backups") for each in found], **more}


async def detailed(call: Call) -> Document:
    """Return the backups of the project with details."""
    mine = call.mine(call.state.backups.values())
    found, more = call.paged(mine, "/backups/detail", "backups")
    return {"backups": [views.backup(call, each) for each in found], **more}


async def show(call: Call, backup: Document) -> Document:
    """Return one backup."""
    return {"backup": views.backup(call, backup)}


async def create(call: Call) -> Document:
    """Back a volume or a snapshot up to the object store."""
    body, state = call.object("backup", _FIELDS), call.state
    key = fields.required(body, "volume_id", "backup")
    volume = state.volume(call.context, fields.uuid(key, "volume_id"))
    snapshot = None
    if body.get("snapshot_id"):
        snapshot_id = fields.uuid(body["snapshot_id"], "snapshot_id")
        snapshot = state.snapshot(call.context, snapshot_id)
    if fields.boolean(body, "incremental", False):
        raise BadRequestError("Invalid backup: No backups available to do an incremental backup.")
    _check(volume, snapshot, fields.boolean(body, "force", False))
    quotas.check(state, volume["project_id"], None, backups=1, backup_gigabytes=volume["size"])
    backup = {
        "id": str(uuid4()),
        "project_id": volume["project_id"],
        "user_id": call.context.user_id,
        "name": fields.text(body, "name"),
        "description": fields.text(body, "description"),
        "container": fields.text(body, "container") or CONTAINER,
        "volume_id": volume["id"],
        "snapshot_id": None if snapshot is None else snapshot["id"],
        "size": volume["size"],
        "status": "creating",
        "object_count": 0,
        "metadata": fields.texts(body.get("metadata"), "metadata"),
        "availability_zone": volume["availability_zone"],
        "base": volume["base"],
        "bootable": volume["bootable"],
        "fail_reason": None,
        "created_at": state.now(),
        "updated_at": None,
        "task": {"kind": "create"},
    }
    with state.cloud.store.transaction():
        state.backups.put(backup)
        if snapshot is None:
            state.change(state.volumes, volume["id"], status="backing-up")
        else:
            state.change(state.snapshots, snapshot["id"], status="backing-up")
    jobs.begin(call.tools, state.backups, backup["id"])
    return {"backup": views.brief(call, backup, "backups")}


def _check(volume: Document, snapshot: Document | None, force: bool) -> None:
    if snapshot is not None:
        if snapshot["volume_id"] != volume["id"]:
            raise BadRequestError(
                "Invalid snapshot: Snapshot does not belong to the volume to be backed up."
            )
        if snapshot["status"] != "available":
            raise BadRequestError(
                "Invalid snapshot: Snapshot to be backed up must be available, but the current "
                f'status is "{snapshot["status"]}".'
            )
        return
    if volume["status"] not in {"available", "in-use"}:
        raise BadRequestError(
            "Invalid volume: Volume to be backed up must be available or in-use, but the current "
            f'status is "{volume["status"]}".'
        )
    if volume["status"] == "in-use" and not force:
        raise BadRequestError(
            "Invalid volume: Backing up an in-use volume must use the force flag."
        )


async def change(call: Call, backup: Document) -> Document:
    """Change name, description or metadata of a backup."""
    body = call.object("backup", ("name", "description", "metadata"))
    changes = {key: fields.text(body, key) for key in ("name", "description") if key in body}
    more = {}
    if "metadata" in body:
        more["metadata"] = fields.texts(body["metadata"], "metadata")
    changed = call.state.change(call.state.backups, backup["id"], **changes, **more)
    return {"backup": views.brief(call, changed or backup, "backups")}


async def delete(call: Call, backup: Document) -> None:
    """Delete a backup."""
    if backup["status"] not in {"available", "error"}:
        raise BadRequestError("Invalid backup: Backup status must be available or error")
    remove(call, call.state.backups, backup["id"])


async def restore(call: Call, backup: Document) -> Document:
    """Restore a backup into the named volume, or into a new one."""
    body, state = call.object("restore", ("volume_id", "name")), call.state
    if backup["status"] != "available":
        raise BadRequestError("Invalid backup: Backup status must be available")
    if body.get("volume_id"):
        volume = state.volume(call.context, fields.uuid(body["volume_id"], "volume_id"))
    else:
        name = fields.text(body, "name") or f"restore_backup_{backup['id']}"
        volume = volumes.make(
            call.tools, call.context, volumes.CreateSpec(name=name, backup_id=backup["id"])
        )
        return {"restore": _restore_view(backup, volume)}
    if volume["status"] != "available":
        raise BadRequestError("Invalid volume: Volume to be restored to must be available")
    if volume["size"] < backup["size"]:
        raise BadRequestError(
            f"Invalid volume: volume size {volume['size']} is too small to restore backup of size "
            f"{backup['size']}."
        )
    task = {"kind": "restore", "backup_id": backup["id"]}
    with state.cloud.store.transaction():
        state.change(state.backups, backup["id"], status="restoring")
        state.change(state.volumes, volume["id"], status="restoring-backup", task=task)
    jobs.begin(call.tools, state.volumes, volume["id"])
    return {"restore": _restore_view(backup, volume)}


def _restore_view(backup: Document, volume: Document) -> Document:
    return {"backup_id": backup["id"], "volume_id": volume["id"], "volume_name": volume["name"]}


async def act(call: Call, backup: Document) -> Answer:
    """Set the status of a backup by hand, or delete it whatever that is."""
    name, given = call.action()
    if name == "os-force_delete":
        remove(call, call.state.backups, backup["id"])
    elif name == "os-reset_status":
        status = str(fields.mapping(given, name).get("status", "")).lower()
        if status not in {"available", "error"}:
            raise fields.refused("status", status, "it is not one of ['available', 'error']")
        call.state.change(call.state.backups, backup["id"], status=status, task=None)
    else:
        raise BadRequestError(f"There is no such action: {name}")
    return accepted(None)


_BACKUP = "/backups/{backup_id}"
ENDPOINTS = (
    Endpoint("GET", "/backups", listed),
    Endpoint("GET", "/backups/detail", detailed),
    Endpoint("POST", "/backups", create, status=202),
    Endpoint("GET", _BACKUP, show),
    Endpoint("PUT", _BACKUP, change, first=9),
    Endpoint("DELETE", _BACKUP, delete, status=202),
    Endpoint("POST", f"{_BACKUP}/restore", restore, status=202),
    Endpoint("POST", f"{_BACKUP}/action", act, Access.ADMIN),
)

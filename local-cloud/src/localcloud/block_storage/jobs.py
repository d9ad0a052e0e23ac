"""The work behind the tasks of volumes, snapshots and backups.

Every job may be started again after a crash at any point: it brings about the desired state and
does not depend on the steps that were completed before.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from localcloud.block_storage.context import ServiceContext
from localcloud.core.store import Collection, Document
from localcloud.fabric.interface import FabricError
from localcloud.image.model.images import Images
from localcloud.web.http import ApiError, NotFoundError

_LOG = logging.getLogger(__name__)
Changes = Mapping[str, Any] | None  # what a job has changed of its object; None where that is gone
Job = Callable[[ServiceContext, Document], Awaitable[Changes]]


def settled(tools: ServiceContext, volume_id: str) -> str:
    """Return the status of a volume that is at rest."""
    attached = tools.state.attached(volume_id)
    if any(attachment["status"] in {"attached", "detaching"} for attachment in attached):
        return "in-use"
    if attached:
        return "attaching" if attached[0]["server_id"] is not None else "reserved"
    return "available"


async def _create(tools: ServiceContext, volume: Document) -> Changes:
    task, volume_id = volume["task"], volume["id"]
    made: dict[str, Any] = {}
    if task["snapshot_id"]:
        async with tools.work.alone(task["snapshot_id"]):
            await tools.content.copy(task["snapshot_id"], volume_id)
    elif task["source_volid"]:
        source = task["source_volid"]
        async with tools.work.alone(source), tools.content.still([source]):
            await tools.content.copy(source, volume_id)
    elif task["backup_id"]:
        await _restore_backup(tools, task["backup_id"], volume_id)
    elif task["image_id"]:
        made = await tools.content.take_image(volume_id, task["image_id"])
    else:
        await tools.content.blank(volume_id)
    return {**made, "status": settled(tools, volume_id)}


async def _restore_backup(tools: ServiceContext, backup_id: str, volume_id: str) -> None:
    backup = tools.state.backups.get(backup_id)
    if backup is None:
        raise NotFoundError(f"Backup {backup_id} could not be found.")
    archive = tools.content.archive(volume_id)
    try:
        await tools.archives.get(backup, archive)
        await tools.content.unpack(archive, volume_id)
    finally:
        archive.unlink(missing_ok=True)


async def _delete(tools: ServiceContext, volume: Document) -> Changes:
    await tools.content.remove(volume["id"])
    with tools.state.cloud.store.transaction():
        tools.state.attachments.delete_all(volume_id=volume["id"])
        tools.state.volumes.delete(volume["id"])
    return None


async def _extend(tools: ServiceContext, volume: Document) -> Changes:
    return {"size": volume["task"]["size"], "status": settled(tools, volume["id"])}


async def _retype(tools: ServiceContext, volume: Document) -> Changes:
    kind = volume["task"]["type_id"]
    encrypted = tools.state.types.get(kind) or {}
    return {
        "volume_type_id": kind,
        "encrypted": bool(encrypted.get("encryption")),
        "status": settled(tools, volume["id"]),
    }


async def _upload(tools: ServiceContext, volume: Document) -> Changes:
    images, image_id = tools.state.cloud.one(Images), volume["task"]["image_id"]
    try:
        async with tools.content.still([volume["id"]]):
            await tools.content.give_image(volume, image_id)
    except BaseException:
        if image_id in images.records:
            images.delete(images.get(image_id))
        raise
    return {"status": settled(tools, volume["id"])}


async def _revert(tools: ServiceContext, volume: Document) -> Changes:
    snapshot_id = volume["task"]["snapshot_id"]
    async with tools.work.alone(snapshot_id):
        await tools.content.copy(snapshot_id, volume["id"])
    tools.state.change(tools.state.snapshots, snapshot_id, status="available")
    return {"status": settled(tools, volume["id"])}


async def _restore(tools: ServiceContext, volume: Document) -> Changes:
    backup_id = volume["task"]["backup_id"]
    try:
        await _restore_backup(tools, backup_id, volume["id"])
    finally:
        tools.state.change(tools.state.backups, backup_id, status="available")
    backup = tools.state.backups.get(backup_id) or volume
    return {
        "status": settled(tools, volume["id"]),
        "base": backup["base"],
        "bootable": backup["bootable"],
    }


async def _reimage(tools: ServiceContext, volume: Document) -> Changes:
    await tools.content.remove(volume["id"])
    made = await tools.content.take_image(volume["id"], volume["task"]["image_id"])
    return {**made, "bootable": True, "status": settled(tools, volume["id"])}


async def _create_snapshot(tools: ServiceContext, snapshot: Document) -> Changes:
    source = snapshot["volume_id"]
    async with tools.work.alone(source), tools.content.still([source]):
        await tools.content.copy(source, snapshot["id"])
    return {"status": "available"}


async def _delete_snapshot(tools: ServiceContext, snapshot: Document) -> Changes:
    await tools.content.remove(snapshot["id"])
    tools.state.snapshots.delete(snapshot["id"])
    return None


async def _create_backup(tools: ServiceContext, backup: Document) -> Changes:
    source = backup["snapshot_id"] or backup["volume_id"]
    archive = tools.content.archive(backup["id"])
    archive.parent.mkdir(parents=True, exist_ok=True)
    try:
        async with tools.work.alone(source), tools.content.still([source]):
            await tools.content.pack(source, archive)
        _release(tools, backup)
        stored = await tools.archives.put(backup, archive)
    finally:
        _release(tools, backup)
        archive.unlink(missing_ok=True)
    return {"status": "available", **stored}


def _release(tools: ServiceContext, backup: Document) -> None:
    """Return an object to the status that it had before its backup."""
    state = tools.state
    volume = state.volumes.get(backup["volume_id"])
    if volume is not None and volume["status"] == "backing-up":
        state.change(state.volumes, volume["id"], status=settled(tools, volume["id"]))
    snapshot = state.snapshots.get(backup["snapshot_id"] or "")
    if snapshot is not None and snapshot["status"] == "backing-up":
        state.change(state.snapshots, snapshot["id"], status="available")


async def _delete_backup(tools: ServiceContext, backup: Document) -> Changes:
    await tools.archives.remove(backup)
    tools.state.backups.delete(backup["id"])
    return None


# By kind: the job, and the status of a volume after a failure; none where it is as it was.
_VOLUMES: Mapping[str, tuple[Job, str]] = {
    "create": (_create, "error"),
    "delete": (_delete, "error_deleting"),
    "extend": (_extend, "error_extending"),
    "retype": (_retype, "error"),
    "upload": (_upload, ""),
    "revert": (_revert, "error"),
    "restore": (_restore, "error_restoring"),
    "reimage": (_reimage, "error"),
}
_SNAPSHOTS: Mapping[str, tuple[Job, str]] = {
    "create": (_create_snapshot, "error"),
    "delete": (_delete_snapshot, "error_deleting"),
}
_BACKUPS: Mapping[str, tuple[Job, str]] = {
    "create": (_create_backup, "error"),
    "delete": (_delete_backup, "error"),
}


def begin(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    """Start the task of an object."""
    tools.work.begin(object_id, partial(_do, tools, collection, object_id))


def resume(tools: ServiceContext) -> None:
    """Start all unfinished tasks."""
    state = tools.state
    for collection in (state.volumes, state.snapshots, state.backups):
        for found in collection.values():
            if found["task"] is not None:
                begin(tools, collection, found["id"])


async def _do(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    found = collection.get(object_id)
    if found is None or found["task"] is None:
        return
    state = tools.state
    jobs = {id(state.volumes): _VOLUMES, id(state.snapshots): _SNAPSHOTS}
    job, broken = jobs.get(id(collection), _BACKUPS)[found["task"]["kind"]]
    try:
        changes = await job(tools, found)
    except Exception as error:  # noqa: BLE001  (the object must show it)
        if not isinstance(error, ApiError | FabricError | OSError):
            _LOG.exception("%s of %s failed", found["task"]["kind"], object_id)
        changes = {"status": broken or settled(tools, object_id), "fail_reason": str(error)[:255]}
    if changes is not None:
        state.change(collection, object_id, **changes, task=None)

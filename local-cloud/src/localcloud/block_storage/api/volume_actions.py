"""The actions of volumes: ``POST /volumes/{id}/action``."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import uuid4

from localcloud.block_storage import jobs
from localcloud.block_storage.api import fields
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.api.volumes import remove
from localcloud.block_storage.content import DATA_KIND
from localcloud.block_storage.model import quotas, volume_types
from localcloud.core.store import Document
from localcloud.image.model.images import Images
from localcloud.image.model.rootfs_cache import BASE, RootfsCache
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ForbiddenError, respond
from localcloud.web.permissions import Access

_STATES = (
    "creating", "available", "deleting", "error", "error_deleting", "error_managing", "managing",
    "attaching", "in-use", "detaching", "maintenance", "restoring-backup", "error_restoring",
    "reserved", "awaiting-transfer", "backing-up", "error_backing-up", "error_extending",
    "downloading", "uploading", "retyping", "extending",
)  # fmt: skip


def _require(volume: Document, states: tuple[str, ...], verb: str) -> None:
    if volume["status"] not in states:
        needed = states[0] if len(states) == 1 else states
        raise BadRequestError(
            f"Invalid volume: Volume {volume['id']} status must be '{needed}' to {verb}, currently "
            f"{volume['status']}."
        )


def _task(call: Call, volume: Document, status: str, kind: str, **more: Any) -> None:
    state = call.state
    state.change(state.volumes, volume["id"], status=status, task={"kind": kind, **more})
    jobs.begin(call.tools, state.volumes, volume["id"])


def _set(call: Call, volume: Document, **changes: Any) -> None:
    call.state.change(call.state.volumes, volume["id"], **changes)


async def _extend(call: Call, volume: Document, given: dict[str, Any]) -> None:
    size = fields.number(fields.required(given, "new_size", "os-extend"), "new_size", 1)
    states = ("available", "in-use") if call.version.since(42) else ("available",)
    _require(volume, states, "extend")
    if size <= volume["size"]:
        raise BadRequestError(
            "Invalid input received: New size for extend must be greater than current size. "
            f"(current: {volume['size']}, extended: {size})."
        )
    kind = call.state.types.get(volume["volume_type_id"] or "")
    more = size - volume["size"]
    quotas.check(call.state, volume["project_id"], kind, gigabytes=more)
    _task(call, volume, "extending", "extend", size=size)


async def _retype(call: Call, volume: Document, given: dict[str, Any]) -> None:
    name = fields.required(given, "new_type", "os-retype")
    if given.get("migration_policy") not in (None, "never", "on-demand"):
        raise BadRequestError(
            "Invalid input received: migration_policy must be 'on-demand' or 'never', passed: "
            f"{given['migration_policy']}"
        )
    _require(volume, ("available", "in-use"), "retype")
    kind = volume_types.named(call.state, call.context, str(name))
    if kind["id"] == volume["volume_type_id"]:
        raise BadRequestError(
            "Invalid volume: Retype needs volume to be in available or in-use state, not be part "
            "of an active migration or a consistency group, requested type has to be different "
            "that the one from the volume, and for in-use volumes front-end qos specs cannot "
            "change."
        )
    if volume["status"] == "in-use" and bool(kind["encryption"]) != volume["encrypted"]:
        raise BadRequestError(
            "Invalid input received: Cannot retype an attached volume to another encryption."
        )
    _task(call, volume, "retyping", "retype", type_id=kind["id"])


async def _set_bootable(call: Call, volume: Document, given: dict[str, Any]) -> Answer:
    fields.required(given, "bootable", "os-set_bootable")
    _set(call, volume, bootable=fields.boolean(given, "bootable", False))
    return respond(None, 200)


async def _set_readonly(call: Call, volume: Document, given: dict[str, Any]) -> None:
    fields.required(given, "readonly", "os-update_readonly_flag")
    if volume["status"] != "available":
        raise BadRequestError(
            f"Invalid volume: Volume {volume['id']} status must be available to update readonly "
            f"flag, but current status is: {volume['status']}."
        )
    _set(call, volume, readonly=fields.boolean(given, "readonly", False))


async def _reset_status(call: Call, volume: Document, given: dict[str, Any]) -> None:
    asked = given.get("status")
    if asked is not None and (not isinstance(asked, str) or asked.lower() not in _STATES):
        raise BadRequestError(f"Volume status: {asked} is invalid, valid statuses are: {_STATES}.")
    changes: dict[str, Any] = {"task": None}
    if asked is not None:
        changes["status"] = asked.lower()
    if given.get("attach_status") == "detached":
        call.state.attachments.delete_all(volume_id=volume["id"])
    _set(call, volume, **changes)


async def _force_delete(call: Call, volume: Document, given: dict[str, Any]) -> None:
    if any(call.state.snapshots.find(volume_id=volume["id"])) or call.state.attached(volume["id"]):
        raise BadRequestError("Invalid volume: it must not be attached or have snapshots.")
    remove(call, call.state.volumes, volume["id"])


async def _upload(call: Call, volume: Document, given: dict[str, Any]) -> Answer:
    name = fields.name(
        {"image_name": fields.required(given, "image_name", "os-volume_upload_image")}, "image_name"
    )
    force = fields.boolean(given, "force", False)
    if volume["status"] != "available" and not (force and volume["status"] == "in-use"):
        raise BadRequestError(
            f"Invalid volume: Volume {volume['id']} status must be available, but current status "
            f"is: {volume['status']}."
        )
    visibility = str(given.get("visibility") or "shared")
    if visibility == "public" and not call.context.is_admin:
        raise ForbiddenError("Only an administrator may make an image public.")
    images = call.state.cloud.one(Images)
    base = volume["base"]
    properties = {**DATA_KIND} if base is None else {BASE: base}
    formats = {
        "container_format": given.get("container_format") or "bare",
        "disk_format": given.get("disk_format") or "raw",
    }
    image = images.record(
        call.context.project_id, name, visibility=visibility, properties=properties, **formats
    )
    images.add(image)
    _task(call, volume, "uploading", "upload", image_id=image["id"])
    kind = call.state.types.get(volume["volume_type_id"] or "")
    return {
        "os-volume_upload_image": {
            "id": volume["id"],
            "updated_at": volume["updated_at"],
            "status": "uploading",
            "display_description": volume["description"],
            "size": volume["size"],
            "volume_type": kind,
            "image_id": image["id"],
            **formats,
            "image_name": name,
            "visibility": visibility,
            "protected": False,
        }
    }


async def _set_image_metadata(call: Call, volume: Document, given: dict[str, Any]) -> Answer:
    added = fields.texts(given.get("metadata"), "metadata")
    changed = {**volume["image_metadata"], **added}
    _set(call, volume, image_metadata=changed)
    return {"metadata": changed}


async def _unset_image_metadata(call: Call, volume: Document, given: dict[str, Any]) -> None:
    key = str(given.get("key"))
    if key not in volume["image_metadata"]:
        raise BadRequestError(f"Metadata item was not found: {key}")
    metadata = {k: v for k, v in volume["image_metadata"].items() if k != key}
    _set(call, volume, image_metadata=metadata)


async def _show_image_metadata(call: Call, volume: Document, given: dict[str, Any]) -> Answer:
    return {"metadata": volume["image_metadata"]}


async def _revert(call: Call, volume: Document, given: dict[str, Any]) -> None:
    key = fields.uuid(given.get("snapshot_id"), "snapshot_id")
    newest = list(call.state.snapshots.find(volume_id=volume["id"]))[-1:]
    if not newest or newest[0]["id"] != key:
        raise BadRequestError(
            f"Specified snapshot {key} is None or not the latest one of volume {volume['id']}."
        )
    _require(volume, ("available",), "revert")
    call.state.change(call.state.snapshots, key, status="restoring")
    _task(call, volume, "reverting", "revert", snapshot_id=key)


async def _reimage(call: Call, volume: Document, given: dict[str, Any]) -> None:
    image_id = fields.uuid(fields.required(given, "image_id", "os-reimage"), "image_id")
    reserved = fields.boolean(given, "reimage_reserved", False)
    states = ("available", "error", "reserved") if reserved else ("available", "error")
    _require(volume, states, "reimage")
    image = call.state.cloud.one(Images).visible(call.context, image_id)
    call.state.cloud.one(RootfsCache).check_base(call.context, image)
    _task(call, volume, "downloading", "reimage", image_id=image_id)


async def _reserve(call: Call, volume: Document, given: dict[str, Any]) -> None:
    _require(volume, ("available",), "reserve")
    _set(call, volume, status="attaching")


async def _unreserve(call: Call, volume: Document, given: dict[str, Any]) -> None:
    if volume["status"] == "attaching":
        _set(call, volume, status=jobs.settled(call.tools, volume["id"]))


async def _attach(call: Call, volume: Document, given: dict[str, Any]) -> None:
    """Record an attachment that another service has made."""
    _require(volume, ("available", "attaching"), "attach")
    attachment = {
        "id": str(uuid4()),
        "volume_id": volume["id"],
        "server_id": given.get("instance_uuid"),
        "project_id": volume["project_id"],
        "device": None,
        "mode": given.get("mode") or "rw",
        "status": "attached",
        "delete_on_termination": False,
        "tag": None,
        "boots": False,
        "number": None,
        "connector": {"host": given.get("host_name")},
        "attached_at": call.state.now(),
    }
    call.state.attachments.put(attachment)
    _set(call, volume, status="in-use")


async def _detach(call: Call, volume: Document, given: dict[str, Any]) -> None:
    attachment_id = given.get("attachment_id")
    for attachment in call.state.attached(volume["id"]):
        if attachment_id in (None, attachment["id"]) and attachment["device"] is None:
            call.state.attachments.delete(attachment["id"])
    _set(call, volume, status=jobs.settled(call.tools, volume["id"]))


async def _begin_detaching(call: Call, volume: Document, given: dict[str, Any]) -> None:
    _require(volume, ("in-use",), "detach")
    _set(call, volume, status="detaching")


async def _roll_detaching(call: Call, volume: Document, given: dict[str, Any]) -> None:
    if volume["status"] == "detaching":
        _set(call, volume, status="in-use")


async def _initialize(call: Call, volume: Document, given: dict[str, Any]) -> Answer:
    fields.required(given, "connector", "os-initialize_connection")
    return {
        "connection_info": {
            "driver_volume_type": "local",
            "data": {"volume_id": volume["id"], "access_mode": "rw", "encrypted": False},
        }
    }


async def _terminate(call: Call, volume: Document, given: dict[str, Any]) -> None:
    fields.required(given, "connector", "os-terminate_connection")


Action = Callable[[Call, Document, dict[str, Any]], Awaitable[Answer]]
_ACTIONS: Mapping[str, Action] = {
    "os-extend": _extend,
    "os-retype": _retype,
    "os-update_readonly_flag": _set_readonly,
    "os-volume_upload_image": _upload,
    "revert": _revert,
    "os-reimage": _reimage,
    "os-reserve": _reserve,
    "os-unreserve": _unreserve,
    "os-attach": _attach,
    "os-detach": _detach,
    "os-force_detach": _detach,
    "os-begin_detaching": _begin_detaching,
    "os-roll_detaching": _roll_detaching,
    "os-terminate_connection": _terminate,
}
_ANSWERED_AT_ONCE: Mapping[str, Action] = {
    "os-set_bootable": _set_bootable,
    "os-set_image_metadata": _set_image_metadata,
    "os-unset_image_metadata": _unset_image_metadata,
    "os-show_image_metadata": _show_image_metadata,
    "os-initialize_connection": _initialize,
}
_OF_ADMINISTRATORS: Mapping[str, Action] = {
    "os-reset_status": _reset_status,
    "os-force_delete": _force_delete,
}


async def act(call: Call, volume: Document) -> Answer:
    """Perform the action that the body names."""
    name, given = call.action()
    arguments = given if isinstance(given, dict) else {}
    if name in _OF_ADMINISTRATORS:
        Endpoint("POST", "", act, Access.ADMIN).permit(call.context)
        return accepted(await _OF_ADMINISTRATORS[name](call, volume, arguments))
    if name in _ANSWERED_AT_ONCE:
        return await _ANSWERED_AT_ONCE[name](call, volume, arguments) or {}
    if name not in _ACTIONS:
        raise BadRequestError(
            f"There is no such action: {name}. Verify the request body and Content-Type header and "
            "try again."
        )
    return accepted(await _ACTIONS[name](call, volume, arguments))


def accepted(answer: Answer) -> Answer:
    """Return the answer to an action that is carried out afterwards."""
    return respond(answer, 202)


ENDPOINTS = (Endpoint("POST", "/volumes/{volume_id}/action", act),)

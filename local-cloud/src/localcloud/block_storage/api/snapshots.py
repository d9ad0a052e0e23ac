"""The API of snapshots."""

from typing import Any
from uuid import uuid4

from localcloud.block_storage import jobs
from localcloud.block_storage.api import fields, views
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.api.volume_actions import accepted
from localcloud.block_storage.api.volumes import remove
from localcloud.block_storage.model import quotas
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError
from localcloud.web.permissions import Access

_STATES = ("creating", "available", "deleting", "error", "error_deleting")


async def listed(call: Call) -> Document:
    """Return the snapshots of the project."""
    found, more = call.paged(call.mine(call.state.snapshots.values()), "/snapshots", "snapshots")
    return {"snapshots": [views.snapshot(call, each) for each in found], **more}


async def detailed(call: Call) -> Document:
    """Return the snapshots of the project with details."""
    mine = call.mine(call.state.snapshots.values())
    found, more = call.paged(mine, "/snapshots/detail", "snapshots")
    return {"snapshots": [views.whole_snapshot(call, each) for each in found], **more}


async def show(call: Call, snapshot: Document) -> Document:
    """Return one snapshot."""
    return {"snapshot": views.whole_snapshot(call, snapshot)}


async def create(call: Call) -> Document:
    """Take a snapshot of a volume."""
    known = ("name", "display_name", "description", "display_description", "volume_id", "force")
    body = call.object("snapshot", (*known, "metadata"))
    state, key = call.state, fields.required(body, "volume_id", "snapshot")
    volume = state.volume(call.context, fields.uuid(key, "volume_id"))
    force = fields.boolean(body, "force", False)
    # From 3.66 on, volumes that are in use need no force.
    in_use = volume["status"] == "in-use" and (force or call.version.since(66))
    if volume["status"] != "available" and not in_use:
        raise BadRequestError(
            f"Invalid volume: Volume {volume['id']} status must be available, but current status "
            f"is: {volume['status']}."
        )
    kind = state.types.get(volume["volume_type_id"] or "")
    quotas.check(state, volume["project_id"], kind, snapshots=1, gigabytes=volume["size"])
    snapshot = {
        "id": str(uuid4()),
        "project_id": volume["project_id"],
        "user_id": call.context.user_id,
        "name": fields.text(body, "name", fields.text(body, "display_name")),
        "description": fields.text(body, "description", fields.text(body, "display_description")),
        "volume_id": volume["id"],
        "volume_type_id": volume["volume_type_id"],
        "size": volume["size"],
        "status": "creating",
        "metadata": fields.texts(body.get("metadata"), "metadata"),
        "base": volume["base"],
        "bootable": volume["bootable"],
        "image_metadata": volume["image_metadata"],
        "fail_reason": None,
        "created_at": state.now(),
        "updated_at": None,
        "task": {"kind": "create"},
    }
    state.snapshots.put(snapshot)
    jobs.begin(call.tools, state.snapshots, snapshot["id"])
    return {"snapshot": views.snapshot(call, snapshot)}


async def change(call: Call, snapshot: Document) -> Document:
    """Change name or description of a snapshot."""
    known = ("name", "display_name", "description", "display_description")
    body = call.object("snapshot", known)
    changes: dict[str, Any] = {}
    for key in ("name", "description"):
        for given in (f"display_{key}", key):
            if given in body:
                changes[key] = fields.text(body, given)
    changed = call.state.change(call.state.snapshots, snapshot["id"], **changes)
    return {"snapshot": views.snapshot(call, changed or snapshot)}


async def delete(call: Call, snapshot: Document) -> None:
    """Delete a snapshot."""
    if snapshot["status"] not in {"available", "error", "error_deleting"}:
        raise BadRequestError(
            "Invalid snapshot: Snapshot status must be available or error or error_deleting, and "
            "it must not be part of a group or being backed up."
        )
    remove(call, call.state.snapshots, snapshot["id"])


async def act(call: Call, snapshot: Document) -> Answer:
    """Set the status of a snapshot by hand, or delete it whatever that is."""
    name, given = call.action()
    if name == "os-force_delete":
        remove(call, call.state.snapshots, snapshot["id"])
    elif name in {"os-reset_status", "os-update_snapshot_status"}:
        status = str(fields.mapping(given, name).get("status", "")).lower()
        if status not in _STATES:
            raise fields.refused("status", status, "it is not a status")
        call.state.change(call.state.snapshots, snapshot["id"], status=status, task=None)
    else:
        raise BadRequestError(f"There is no such action: {name}")
    return accepted(None)


ENDPOINTS = (
    Endpoint("GET", "/snapshots", listed),
    Endpoint("GET", "/snapshots/detail", detailed),
    Endpoint("POST", "/snapshots", create, status=202),
    Endpoint("GET", "/snapshots/{snapshot_id}", show),
    Endpoint("PUT", "/snapshots/{snapshot_id}", change),
    Endpoint("DELETE", "/snapshots/{snapshot_id}", delete, status=202),
    Endpoint("POST", "/snapshots/{snapshot_id}/action", act, Access.ADMIN),
)

"""The API of attachments: a compute service states where volumes are attached (3.27)."""

from uuid import uuid4

from localcloud.block_storage import jobs
from localcloud.block_storage.api import fields, views
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.servers import SHARED
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError


async def listed(call: Call) -> Document:
    """Return the attachments of the project."""
    found, more = call.paged(_mine(call), "/attachments", "attachments")
    return {"attachments": [views.brief_attachment(each) for each in found], **more}


async def detailed(call: Call) -> Document:
    """Return the attachments of the project with details."""
    found, more = call.paged(_mine(call), "/attachments/detail", "attachments")
    return {"attachments": [views.attachment(each) for each in found], **more}


def _mine(call: Call) -> list[Document]:
    found = call.mine(call.state.attachments.values())
    server = call.query("instance_id")
    return found if server is None else [each for each in found if each["server_id"] == server]


async def show(call: Call, attachment: Document) -> Document:
    """Return one attachment."""
    return {"attachment": views.attachment(attachment)}


async def create(call: Call) -> Document:
    """Reserve a volume for a server, or say where it is."""
    body = call.object("attachment", ("volume_uuid", "instance_uuid", "connector", "mode"))
    key = fields.uuid(fields.required(body, "volume_uuid", "attachment"), "volume_uuid")
    state, volume = call.state, call.state.volume(call.context, key)
    shared = volume["multiattach"] and volume["status"] in SHARED
    if volume["status"] not in {"available", "reserved"} and not shared:
        raise BadRequestError(
            f"Invalid volume: Volume {key} status must be available or downloading to reserve, "
            f"but the current status is {volume['status']}."
        )
    connector = body.get("connector") or None
    attachment = {
        "id": str(uuid4()),
        "volume_id": key,
        "server_id": body.get("instance_uuid"),
        "project_id": volume["project_id"],
        "device": None,
        "mode": _mode(call, body) or ("ro" if volume["readonly"] else "rw"),
        "status": "reserved" if connector is None else "attached",
        "delete_on_termination": False,
        "tag": None,
        "boots": False,
        "number": None,
        "connector": connector,
        "attached_at": None if connector is None else state.now(),
    }
    status = "reserved" if connector is None else "attaching"
    with state.cloud.store.transaction():
        state.attachments.put(attachment)
        if volume["status"] != "in-use":
            state.change(state.volumes, key, status=status)
    return {"attachment": views.attachment(attachment)}


def _mode(call: Call, body: Document) -> str | None:
    mode = body.get("mode")
    if mode is not None and (not call.version.since(54) or mode not in {"rw", "ro"}):
        raise fields.refused("mode", mode, f"'{mode}' is not one of ['rw', 'ro']")
    return mode


async def change(call: Call, attachment: Document) -> Document:
    """Say where the volume is."""
    body = call.object("attachment", ("connector", "mode"))
    connector = fields.mapping(fields.required(body, "connector", "attachment"), "connector")
    changed = {**attachment, "connector": connector, "status": "attaching"}
    call.state.attachments.put(changed)
    if attachment["status"] == "reserved":
        call.state.change(call.state.volumes, attachment["volume_id"], status="attaching")
    return {"attachment": views.attachment(changed)}


async def complete(call: Call, attachment: Document) -> None:
    """Say that the server has the volume."""
    name, _ = call.action()
    if name != "os-complete":
        raise BadRequestError(f"There is no such action: {name}")
    state = call.state
    with state.cloud.store.transaction():
        done = {"status": "attached", "attached_at": state.now()}
        state.attachments.put({**attachment, **done})
        state.change(state.volumes, attachment["volume_id"], status="in-use")


async def delete(call: Call, attachment: Document) -> Document:
    """Say that the server has the volume no longer."""
    if attachment["device"] is not None:
        raise ConflictError(
            f"Attachment {attachment['id']} is that of a server: detach volume "
            f"{attachment['volume_id']} from server {attachment['server_id']} using the Compute API"
        )
    state, volume_id = call.state, attachment["volume_id"]
    with state.cloud.store.transaction():
        state.attachments.delete(attachment["id"])
        state.change(state.volumes, volume_id, status=jobs.settled(call.tools, volume_id))
    return {"attachments": [views.brief_attachment(each) for each in state.attached(volume_id)]}


_ATTACHMENT = "/attachments/{attachment_id}"
ENDPOINTS = (
    Endpoint("GET", "/attachments", listed, first=27),
    Endpoint("GET", "/attachments/detail", detailed, first=27),
    Endpoint("POST", "/attachments", create, first=27),
    Endpoint("GET", _ATTACHMENT, show, first=27),
    Endpoint("PUT", _ATTACHMENT, change, first=27),
    Endpoint("DELETE", _ATTACHMENT, delete, first=27),
    Endpoint("POST", f"{_ATTACHMENT}/action", complete, first=44),
)

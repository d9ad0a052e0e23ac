"""The API of the record of actions on a server."""

from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.api.server_views import host_id
from localcloud.compute.model.servers import find
from localcloud.core.clock import micro
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import NotFoundError

_FIELDS = (
    "action", "instance_uuid", "message", "project_id", "request_id", "start_time", "user_id",
)  # fmt: skip


def _actions(call: Call) -> list[Document]:
    """Return the actions of a server, the newest first; of deleted servers from 2.21 on."""
    server_id = call.argument("instance_id")
    buried = call.state.tombstones.get(server_id) if call.version.since(21) else None
    own = call.context.project_id
    if buried is None or not (call.context.is_admin or buried["project_id"] == own):
        find(call.state, call.context, server_id)
    found = list(call.state.actions.find(instance_uuid=server_id))
    return sorted(found, key=lambda a: int(a["id"]), reverse=True)


def _view(call: Call, action: Document) -> Document:
    view = {f: action[f] for f in _FIELDS}
    view["start_time"] = micro(action["start_time"])
    if call.version.since(58):
        view["updated_at"] = micro(action["updated_at"])
    return view


async def list_actions(call: Call) -> Document:
    """Return the actions, the newest first."""
    found = _actions(call)
    more: dict[str, Any] = {}
    if call.version.since(58):
        since = call.query("changes-since") or ""
        # Markers are the ids of requests here, as they are in the API.
        named = [{**a, "id": a["request_id"]} for a in found if a["updated_at"] >= since[:19]]
        path = f"/servers/{call.argument('instance_id')}/os-instance-actions"
        found, more = call.paged(named, "links", path)
    return {"instanceActions": [_view(call, a) for a in found], **more}


def _event(call: Call, event: Document, project_id: str) -> Document:
    view = {
        "event": event["event"],
        "start_time": micro(event["start_time"]),
        "finish_time": micro(event["finish_time"]),
        "result": event["result"],
    }
    if call.context.is_admin:
        view["traceback"] = event["traceback"]
    if call.version.since(62):
        view["hostId"] = host_id(project_id, event["host"])
        if call.context.is_admin:
            view["host"] = event["host"]
    if call.version.since(84):
        view["details"] = event["traceback"]
    return view


async def show_action(call: Call) -> Document:
    """Return one action with its events."""
    request_id = call.argument("request_id")
    for action in _actions(call):
        if action["request_id"] == request_id:
            view = _view(call, action)
            # Before 2.51, only administrators see the events of an action.
            if call.version.since(51) or call.context.is_admin:
                project = str(action["project_id"])
                view["events"] = [_event(call, e, project) for e in action["events"]]
            return {"instanceAction": view}
    raise NotFoundError(f"Action for request_id {request_id} was not found")


_PATH = "/servers/{instance_id}/os-instance-actions"
ENDPOINTS = (
    Endpoint("GET", _PATH, list_actions),
    Endpoint("GET", f"{_PATH}/{{request_id}}", show_action),
)

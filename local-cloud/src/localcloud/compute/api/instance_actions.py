"""The API of the record of what was done to a server."""

from typing import Any

from localcloud.compute.api.call import Call, Endpoint
from localcloud.compute.api.server_views import host_id
from localcloud.compute.servers import find
from localcloud.http import BadRequest, NotFound
from localcloud.store import Document

_FIELDS = (
    "action", "instance_uuid", "message", "project_id", "request_id", "start_time", "user_id",
)  # fmt: skip


def _micro(moment: str | None) -> str | None:
    return None if moment is None else moment.rstrip("Z") + ".000000"


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
    view["start_time"] = _micro(action["start_time"])
    if call.version.since(58):
        view["updated_at"] = _micro(action["updated_at"])
    return view


async def list_actions(call: Call) -> Document:
    """Answer the actions, the newest first."""
    found = _actions(call)
    more: dict[str, Any] = {}
    if call.version.since(58):
        found, more = _page(call, found)
    return {"instanceActions": [_view(call, a) for a in found], **more}


def _page(call: Call, found: list[Document]) -> tuple[list[Document], dict[str, Any]]:
    since = call.query("changes-since")
    if since is not None:
        found = [a for a in found if a["updated_at"] >= since[:19]]
    marker, limit = call.query("marker"), call.query("limit")
    if marker is not None:
        known = [a["request_id"] for a in found]
        if marker not in known:
            raise BadRequest(f"The marker '{marker[:64]}' could not be found.")
        found = found[known.index(marker) + 1 :]
    if limit is None:
        return found, {}
    if not limit.isdecimal():
        raise BadRequest(f"The limit must be a number of 0 or more, not '{limit[:64]}'.")
    chosen = found[: int(limit)]
    if len(chosen) == len(found) or not chosen:
        return chosen, {}
    url = call.request.url.include_query_params(marker=chosen[-1]["request_id"])
    path = f"/servers/{call.argument('server_id')}/os-instance-actions"
    href = f"{call.link(path)}?{url.query}"
    return chosen, {"links": [{"rel": "next", "href": href}]}


def _event(call: Call, event: Document, project_id: str) -> Document:
    view = {
        "event": event["event"],
        "start_time": _micro(event["start_time"]),
        "finish_time": _micro(event["finish_time"]),
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
    """Answer one action with its events."""
    request_id = call.argument("request_id")
    for action in _actions(call):
        if action["request_id"] == request_id:
            view = _view(call, action)
            if call.version.since(51) or call.context.is_admin:
                project = str(action["project_id"])
                view["events"] = [_event(call, e, project) for e in action["events"]]
            return {"instanceAction": view}
    raise NotFound(f"Action for request_id {request_id} was not found")


_PATH = "/servers/{instance_id}/os-instance-actions"
ENDPOINTS = (
    Endpoint("GET", _PATH, list_actions),
    Endpoint("GET", f"{_PATH}/{{request_id}}", show_action),
)

"""The API of resource locks, which keep shares and access rules from being removed or shown."""

from localcloud.core.store import Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.model.state import found, missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError

_ACTIONS = ("delete", "show")
_TYPES = ("share", "access_rule")
_MOST = 1000


def locks_of(call: Call, resource_id: str, action: str) -> list[Document]:
    """Return the locks that keep something from happening to a resource."""
    known = call.state.locks.find(resource_id=resource_id)
    return [lock for lock in known if lock["resource_action"] == action]


def lock_rule(call: Call, rule: Document, given: Document) -> None:
    """Lock a new access rule as its request asks for."""
    for name, action in (("lock_deletion", "delete"), ("lock_visibility", "show")):
        if fields.flag(given, name, False):
            _add(call, rule["id"], "access_rule", action, fields.text(given, "lock_reason"))


def _add(call: Call, resource_id: str, kind: str, action: str, reason: str | None) -> Document:
    if sum(1 for _ in call.state.locks.find(project_id=call.context.project_id)) >= _MOST:
        raise ForbiddenError(f"The project has {_MOST} resource locks, which is its quota.")
    lock = call.state.record(
        call.context,
        resource_id=resource_id,
        resource_type=kind,
        resource_action=action,
        lock_reason=reason,
        lock_context="admin" if call.context.is_admin else "user",
    )
    call.state.locks.put(lock)
    return lock


def _view(call: Call, lock: Document) -> Document:
    return {
        "id": lock["id"],
        "user_id": lock["user_id"],
        "project_id": lock["project_id"],
        "lock_context": lock["lock_context"],
        "resource_type": lock["resource_type"],
        "resource_id": lock["resource_id"],
        "resource_action": lock["resource_action"],
        "lock_reason": lock["lock_reason"],
        "created_at": moment(lock["created_at"]),
        "updated_at": moment(lock["updated_at"]),
        "links": call.links(f"/resource-locks/{lock['id']}"),
    }


async def listed(call: Call) -> Document:
    """Return the locks of the project."""
    names = ("resource_id", "resource_type", "resource_action", "user_id", "lock_context")
    known = call.narrowed(call.mine(call.state.locks.values()), *names, "lock_reason")
    chosen, more = call.page(known, "/resource-locks", ("created_at", "updated_at", *names))
    return {"resource_locks": [_view(call, lock) for lock in chosen], **more}


async def show(call: Call, lock: Document) -> Document:
    """Return one lock."""
    return {"resource_lock": _view(call, lock)}


async def create(call: Call) -> Document:
    """Lock a resource."""
    body = call.object("resource_lock")
    kind, action = body.get("resource_type") or "share", body.get("resource_action") or "delete"
    if kind not in _TYPES:
        raise fields.refused("resource_type", kind, f"{kind!r} is not one of {list(_TYPES)}")
    if action not in _ACTIONS:
        raise fields.refused("resource_action", action, f"{action!r} is not one of {_ACTIONS}")
    resource_id = fields.uuid(body, "resource_id", "resource_lock")
    error = BadRequestError(f"Resource {resource_id} of the type {kind} could not be found.")
    if kind == "share":
        found(call.state.shares, call.context, resource_id, error)
    else:
        rule = call.state.rules.get(resource_id)
        found(call.state.shares, call.context, str((rule or {}).get("owner_id")), error)
    made = _add(call, resource_id, kind, action, fields.text(body, "lock_reason"))
    return {"resource_lock": _view(call, made)}


async def change(call: Call, lock: Document) -> Document:
    """Change the action that a lock prevents, or its reason."""
    body = call.object("resource_lock")
    changes = {}
    if "lock_reason" in body:
        changes["lock_reason"] = fields.text(body, "lock_reason")
    if "resource_action" in body:
        if body["resource_action"] not in _ACTIONS:
            raise fields.refused(
                "resource_action", body["resource_action"], f"it is not one of {_ACTIONS}"
            )
        changes["resource_action"] = body["resource_action"]
    changed = call.state.change(call.state.locks, lock["id"], **changes)
    return {"resource_lock": _view(call, changed or lock)}


async def delete(call: Call, lock: Document) -> None:
    """Remove a lock."""
    if lock["lock_context"] == "admin" and not call.context.is_admin:
        raise missing(f"Resource lock {lock['id']} could not be found.")
    call.state.locks.delete(lock["id"])


_LOCKS, _ONE = "/resource-locks", "/resource-locks/{lock_id}"
ENDPOINTS = (
    Endpoint("GET", _LOCKS, listed, first=81),
    Endpoint("POST", _LOCKS, create, first=81),
    Endpoint("GET", _ONE, show, first=81),
    Endpoint("PUT", _ONE, change, first=81),
    Endpoint("DELETE", _ONE, delete, first=81, status=204),
)

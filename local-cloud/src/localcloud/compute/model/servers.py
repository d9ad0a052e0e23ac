"""Documents of servers: how they are found and changed, and the names of their states.

A request writes the ``task_state`` of a server and is answered; the machine performs the task in
the background. The task is in the store before the answer, so that a restart resumes it.
"""

from typing import Any

from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import ConflictError, NotFoundError, RequestContext

NO_STATE, RUNNING, PAUSED, SHUTDOWN = 0, 1, 3, 4  # power states
DELETING = "deleting"

_STATUS = {
    "active": "ACTIVE",
    "building": "BUILD",
    "stopped": "SHUTOFF",
    "resized": "VERIFY_RESIZE",
    "paused": "PAUSED",
    "suspended": "SUSPENDED",
    "rescued": "RESCUE",
    "error": "ERROR",
    "deleted": "DELETED",
    "soft-delete": "SOFT_DELETED",
    "shelved": "SHELVED",
    "shelved_offloaded": "SHELVED_OFFLOADED",
}
_TASK_STATUS = {
    ("active", "rebooting"): "REBOOT",
    ("active", "rebooting_hard"): "HARD_REBOOT",
    ("active", "resize_prep"): "RESIZE",
    ("stopped", "resize_prep"): "RESIZE",
    ("resized", "resize_reverting"): "REVERT_RESIZE",
    ("active", "rebuilding"): "REBUILD",
    ("stopped", "rebuilding"): "REBUILD",
    ("error", "rebuilding"): "REBUILD",
}


def status(server: Document) -> str:
    """Return the status that clients see."""
    key = (server["vm_state"], server["task_state"])
    return _TASK_STATUS.get(key) or _STATUS[server["vm_state"]]


def get(state: State, server_id: str) -> Document:
    """Return the server as it is now; raises :class:`NotFoundError` where it is gone."""
    server = state.servers.get(server_id)
    if server is None:
        raise NotFoundError(f"Instance {server_id} could not be found.")
    return server


def find(state: State, context: RequestContext, server_id: str) -> Document:
    """Return a server of the caller's project, any for an administrator."""
    server = get(state, server_id)
    if not (context.is_admin or server["project_id"] == context.project_id):
        raise NotFoundError(f"Instance {server_id} could not be found.")
    return server


def change(state: State, server_id: str, **changes: Any) -> Document:
    """Write changes to a server and return it. A deletion in progress cannot be overwritten.

    Raises :class:`NotFoundError` if the server is gone.
    """
    server = get(state, server_id)
    if server["task_state"] == DELETING:
        changes.pop("task_state", None)
        changes.pop("vm_state", None)
    changed = {**server, **changes, "updated": state.now()}
    state.servers.put(changed)
    return changed


def fault(state: State, code: int, message: str, details: str = "") -> Document:
    """Return the fault of a server in error, as the API shows it."""
    return {"code": code, "created": state.now(), "message": message[:1024], "details": details}


def require_unlocked(server: Document, context: RequestContext) -> None:
    """Raise :class:`ConflictError` where the server is locked and the caller may not override
    that.
    """
    if server["locked"] and not context.is_admin:
        raise ConflictError(f"Instance {server['id']} is locked")


def require_free(
    context: RequestContext,
    server: Document,
    action: str,
    vm_states: frozenset[str],
    busy: frozenset[str] = frozenset(),
) -> None:
    """Raise :class:`ConflictError` where the caller cannot do this now: by a lock or by its
    state.
    """
    require_unlocked(server, context)
    require_state(server, action, vm_states, busy=busy)


def require_state(
    server: Document, action: str, vm_states: frozenset[str], *, busy: frozenset[str] = frozenset()
) -> None:
    """Raise :class:`ConflictError` where the action is not possible now.

    ``busy`` names the task states in which it is possible nevertheless.
    """
    if server["vm_state"] not in vm_states:
        raise ConflictError(
            f"Cannot '{action}' instance {server['id']} while it is in vm_state "
            f"{server['vm_state']}"
        )
    task = server["task_state"]
    if task is not None and task not in busy:
        raise ConflictError(
            f"Cannot '{action}' instance {server['id']} while it is in task_state {task}"
        )

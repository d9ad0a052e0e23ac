"""The actions of shares: access, size, states, snapshots, the recycle bin."""

from collections.abc import Callable, Mapping

from msgspec import Struct
from starlette.responses import Response

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.api import access, fields, shares
from localcloud.shared_file_system.api.call import Call
from localcloud.shared_file_system.model import quotas
from localcloud.shared_file_system.model.state import missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ConflictError, ForbiddenError

STATES = (
    "creating", "creating_from_snapshot", "deleting", "deferred_deleting", "deleted", "error",
    "error_deleting", "error_deferred_deleting", "available", "manage_starting", "manage_error",
    "unmanage_starting", "manage_error_unmanage_starting", "unmanage_error", "unmanaged",
    "extending", "extending_error", "shrinking", "shrinking_error", "migrating", "migrating_to",
    "shrinking_possible_data_loss_error", "replication_change", "restoring", "reverting",
    "reverting_error", "awaiting_transfer", "backup_creating", "backup_restoring",
    "backup_restoring_error", "ensuring", "server_migrating", "server_migrating_to",
    "reverting_to_snapshot",
)  # fmt: skip
_DAYS_IN_BIN = 7


def _begin(call: Call, share: Document, status: str, **task: object) -> None:
    call.state.change(call.state.shares, share["id"], status=status, task=task)
    jobs.begin(call.tools, call.state.shares, share["id"])


def _extend(call: Call, share: Document, given: Document) -> None:
    _not_in_bin(share, "extend")
    size = fields.new_size(given, "extend")
    if share["status"] != "available":
        raise BadRequestError(
            f"Invalid share: Share {share['id']} status must be 'available' to extend, but current "
            f"status is: {share['status']}."
        )
    if size <= share["size"]:
        raise BadRequestError(
            "Invalid input received: New size for extend must be greater than current size. "
            f"(current: {share['size']}, extended: {size})."
        )
    kind = call.state.types.get(share["share_type_id"]) or {"id": ""}
    quotas.check_size(call.state, share["project_id"], kind, size)
    try:
        quotas.check(call.state, share["project_id"], kind, gigabytes=size - share["size"])
    except quotas.OverQuotaError as error:
        raise ForbiddenError(error.message.partition(": ")[2]) from None
    _begin(call, share, "extending", kind="extend", size=size)


def _shrink(call: Call, share: Document, given: Document) -> None:
    size = fields.new_size(given, "shrink")
    if share["status"] not in ("available", "shrinking_possible_data_loss_error"):
        raise BadRequestError(
            f"Invalid share: Share {share['id']} status must in (available, "
            "shrinking_possible_data_loss_error) to shrink, but current status is: "
            f"{share['status']}."
        )
    if not 0 < size < share["size"]:
        raise BadRequestError(
            "Invalid input received: New size for shrink must be less than current size and "
            f"greater than 0 (current: {share['size']}, new: {size})."
        )
    _begin(call, share, "shrinking", kind="shrink", size=size)


def _force_delete(call: Call, share: Document, given: Document) -> None:
    call.require_admin()
    shares.begin_to_delete(call, share)


def _reset_status(call: Call, share: Document, given: Document) -> None:
    call.require_admin()
    status = given.get("status")
    if status not in STATES:
        raise fields.refused("status", status, f"{status!r} is not one of {list(STATES)}")
    call.state.change(call.state.shares, share["id"], status=status)
    call.tools.exports.refresh(share["id"])


def _reset_task_state(call: Call, share: Document, given: Document) -> None:
    """Do nothing: no share is being migrated, and ``openstack share set`` always asks for this."""


def _revert(call: Call, share: Document, given: Document) -> None:
    snapshot_id = fields.uuid(given, "snapshot_id", "revert")
    snapshot = call.state.snapshots.get(snapshot_id)
    if snapshot is None:
        raise missing(f"ShareSnapshotNotFound: Snapshot {snapshot_id} could not be found.")
    if snapshot["share_id"] != share["id"]:
        raise BadRequestError(f"Snapshot {snapshot_id} is not associated with share {share['id']}.")
    if not share["capabilities"]["revert_to_snapshot_support"]:
        raise BadRequestError(
            f"Share {share['id']} may not be reverted to snapshot {snapshot_id}, because the share "
            "does not have that capability."
        )
    for found, word in ((share, "Share"), (snapshot, "Snapshot")):
        if found["status"] != "available":
            raise ConflictError(f"{word} {found['id']} is not in 'available' state.")
    latest = list(call.state.snapshots.find(share_id=share["id"]))[-1]
    if latest["id"] != snapshot_id:
        raise ConflictError(
            f"Snapshot {snapshot_id} may not be restored because it is not the most recent "
            f"snapshot of share {share['id']}. Currently the latest snapshot is {latest['id']}."
        )
    call.state.change(call.state.snapshots, snapshot_id, status="restoring")
    _begin(call, share, "reverting", kind="revert", snapshot_id=snapshot_id)


def _soft_delete(call: Call, share: Document, given: Document) -> None:
    _not_in_bin(share, "soft delete")
    shares.check_deletable(call, share)
    due = call.state.later(days=_DAYS_IN_BIN)
    call.state.change(
        call.state.shares, share["id"], is_soft_deleted=True, scheduled_to_be_deleted_at=due
    )
    call.tools.exports.refresh(share["id"])


def _restore(call: Call, share: Document, given: Document) -> None:
    call.state.change(
        call.state.shares, share["id"], is_soft_deleted=False, scheduled_to_be_deleted_at=None
    )
    call.tools.exports.refresh(share["id"])


def _not_in_bin(share: Document, what: str) -> None:
    if share["is_soft_deleted"]:
        raise ForbiddenError(f"Cannot {what} share '{share['id']}' since it has been soft deleted.")


def _allow(call: Call, share: Document, given: Document) -> Answer:
    _not_in_bin(share, "allow access for")
    return access.allow(call, share, given)


def _unsupported(call: Call, share: Document, given: Document) -> None:
    call.require_admin()
    raise BadRequestError("The back ends of this cloud neither migrate nor manage shares.")


Handler = Callable[[Call, Document, Document], Answer]


class _Action(Struct, frozen=True):
    handler: Handler
    first: int = 0
    last: int = 999


# Actions that had `os-` before their names until version 2.7.
_RENAMED: Mapping[str, Handler] = {
    "allow_access": _allow,
    "deny_access": access.deny,
    "extend": _extend,
    "shrink": _shrink,
    "reset_status": _reset_status,
    "force_delete": _force_delete,
}
_ACTIONS = {
    **{f"os-{name}": _Action(handler, last=6) for name, handler in _RENAMED.items()},
    **{name: _Action(handler, first=7) for name, handler in _RENAMED.items()},
    "os-access_list": _Action(access.listed_by_action, last=6),
    "access_list": _Action(access.listed_by_action, first=7, last=44),
    "revert": _Action(_revert, first=27),
    "reset_task_state": _Action(_reset_task_state, first=22),
    "soft_delete": _Action(_soft_delete, first=69),
    "restore": _Action(_restore, first=69),
    "unmanage": _Action(_unsupported, first=7),
    "migration_start": _Action(_unsupported, first=29),
    "migration_complete": _Action(_unsupported, first=29),
    "migration_cancel": _Action(_unsupported, first=29),
    "migration_get_progress": _Action(_unsupported, first=29),
}


async def act(call: Call, share: Document) -> Answer:
    """Perform the action on a share that the body names."""
    name, given = call.action()
    action = _ACTIONS.get(name)
    if action is None:
        raise BadRequestError(f"There is no such action: {name}")
    if not action.first <= call.version.minor <= action.last:
        raise missing()
    answer = action.handler(call, share, given)
    return Response(status_code=202) if answer is None else answer


ENDPOINTS = (Endpoint("POST", "/shares/{share_id}/action", act),)

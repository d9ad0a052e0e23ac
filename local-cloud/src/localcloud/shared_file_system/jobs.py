"""The work behind the tasks of shares and snapshots, and behind their access rules.

Every job may be started again after a crash at any point: it brings about the desired state and
does not depend on the steps that were completed before.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from localcloud.core.store import Collection, Document
from localcloud.fabric.interface import FabricError
from localcloud.shared_file_system.context import ServiceContext
from localcloud.shared_file_system.model import access, share_types
from localcloud.shared_file_system.model.messages import add_message
from localcloud.shared_file_system.model.state import HOST, SERVERS_HOST, ZONE
from localcloud.web.http import ApiError, RequestContext

_LOG = logging.getLogger(__name__)
_GIB = 1 << 30
Changes = Mapping[str, Any] | None  # what a job has changed of its object; None where that is gone
Job = Callable[[ServiceContext, Document], Awaitable[Changes]]


class ShareJobError(Exception):
    """A failed job, with the numbers of the action and the detail in the user's message."""

    def __init__(self, action: str, detail: str, **changes: Any) -> None:
        super().__init__(f"{action} {detail}")
        self.action = action
        self.detail = detail
        self.changes = {"status": "error", **changes}


async def _create(tools: ServiceContext, share: Document) -> Changes:
    kind = tools.state.types.get(share["share_type_id"])
    specs = {} if kind is None else kind["extra_specs"]
    if not share_types.is_served(specs):
        raise ShareJobError("001", "008")
    placed: dict[str, Any] = {"availability_zone": ZONE, "host": HOST}
    if share_types.truth(specs, share_types.SERVERS):
        placed |= {"host": SERVERS_HOST, "share_server_id": await _server_for(tools, share)}
    elif share["share_network_id"] is not None:
        raise ShareJobError("002", "003", **placed)
    if share["snapshot_id"]:
        async with tools.work.alone(share["snapshot_id"]):
            await tools.content.copy(share["snapshot_id"], share["id"])
    else:
        await tools.content.blank(share["id"])
    return {**placed, "status": "available", "progress": "100%"}


async def _server_for(tools: ServiceContext, share: Document) -> str:
    who = RequestContext(share["user_id"], project_id=share["project_id"])
    network = tools.state.networks.get(share["share_network_id"] or "")
    try:
        if network is None:
            raise FabricError("the share network is gone")
        async with tools.work.alone(network["id"]):
            server = await tools.servers.ensure(who, network)
    except (ApiError, FabricError, OSError) as error:
        _LOG.warning("share %s has no server: %s", share["id"], error)
        raise ShareJobError("002", "004", availability_zone=ZONE, host=SERVERS_HOST) from error
    return str(server["id"])


async def _delete(tools: ServiceContext, share: Document) -> Changes:
    state = tools.state
    await tools.exports.withdraw(share)
    await tools.content.remove(share["id"])
    with state.cloud.store.transaction():
        state.rules.delete_all(owner_id=share["id"])
        state.locks.delete_all(resource_id=share["id"])
        state.transfers.delete_all(resource_id=share["id"])
        state.shares.delete(share["id"])
    server_id = share["share_server_id"]
    if server_id is not None and not any(state.shares.find(share_server_id=server_id)):
        async with tools.work.alone(share["share_network_id"]):
            await tools.servers.remove(server_id)
    return None


async def _extend(tools: ServiceContext, share: Document) -> Changes:
    return {"size": share["task"]["size"], "status": "available"}


async def _shrink(tools: ServiceContext, share: Document) -> Changes:
    size = share["task"]["size"]
    if await tools.content.size(share["id"]) > size * _GIB:
        raise ShareJobError("009", "018", status="available")
    return {"size": size, "status": "available"}


async def _revert(tools: ServiceContext, share: Document) -> Changes:
    snapshot_id = share["task"]["snapshot_id"]
    snapshot = tools.state.snapshots.get(snapshot_id)
    async with tools.work.alone(snapshot_id):
        await tools.exports.withdraw(share)
        await tools.content.copy(snapshot_id, share["id"])
    tools.state.change(tools.state.snapshots, snapshot_id, status="available")
    return {"status": "available", "size": (snapshot or share)["size"]}


async def _create_snapshot(tools: ServiceContext, snapshot: Document) -> Changes:
    share_id = snapshot["share_id"]
    async with tools.work.alone(share_id), tools.exports.still(share_id):
        await tools.content.copy(share_id, snapshot["id"])
    return {"status": "available", "progress": "100%"}


async def _delete_snapshot(tools: ServiceContext, snapshot: Document) -> Changes:
    await tools.exports.withdraw(snapshot)
    await tools.content.remove(snapshot["id"])
    with tools.state.cloud.store.transaction():
        tools.state.rules.delete_all(owner_id=snapshot["id"])
        tools.state.snapshots.delete(snapshot["id"])
    return None


# By kind: the job, and the status of a share after a failure.
_SHARES: Mapping[str, tuple[Job, str]] = {
    "create": (_create, "error"),
    "delete": (_delete, "error_deleting"),
    "extend": (_extend, "extending_error"),
    "shrink": (_shrink, "shrinking_error"),
    "revert": (_revert, "reverting_error"),
}
_SNAPSHOTS: Mapping[str, tuple[Job, str]] = {
    "create": (_create_snapshot, "error"),
    "delete": (_delete_snapshot, "error_deleting"),
}


def begin(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    """Start the task of an object."""
    tools.work.begin(object_id, partial(_do, tools, collection, object_id))


def apply_rules(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    """Start to apply the access rules of a share or a snapshot."""
    tools.work.begin(object_id, partial(_apply_rules, tools, collection, object_id))


def resume(tools: ServiceContext) -> None:
    """Start all unfinished tasks, and connect the share servers."""
    state = tools.state
    for server in state.servers.values():
        needed = any(state.shares.find(share_server_id=server["id"]))
        if server["status"] == "active" and needed:
            tools.work.begin(server["id"], partial(tools.servers.bring_up, server["id"]))
        else:
            state.change(state.servers, server["id"], status="deleting")
            tools.work.begin(server["id"], partial(tools.servers.remove, server["id"]))
    for collection in (state.shares, state.snapshots):
        for found in collection.values():
            if found["task"] is not None:
                begin(tools, collection, found["id"])
            if any(
                rule["state"] not in _SETTLED for rule in state.rules.find(owner_id=found["id"])
            ):
                apply_rules(tools, collection, found["id"])
    for share in state.shares.values():
        due = share["scheduled_to_be_deleted_at"]
        if due is not None and due <= state.now():
            state.change(state.shares, share["id"], status="deleting", task={"kind": "delete"})
            begin(tools, state.shares, share["id"])


async def _do(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    found = collection.get(object_id)
    if found is None or found["task"] is None:
        return
    known = _SHARES if collection is tools.state.shares else _SNAPSHOTS
    job, broken = known[found["task"]["kind"]]
    try:
        changes = await job(tools, found)
    except ShareJobError as failed:
        changes = failed.changes
        add_message(tools.state, found, failed.action, failed.detail)
    except Exception as error:  # noqa: BLE001  (the object must show it)
        if not isinstance(error, ApiError | FabricError | OSError):
            _LOG.exception("%s of %s failed", found["task"]["kind"], object_id)
        changes = {"status": broken}
        _LOG.warning("%s of %s failed: %s", found["task"]["kind"], object_id, error)
        add_message(tools.state, found, "002", "001")
    if changes is not None:
        tools.state.change(collection, object_id, **changes, task=None)
        await tools.exports.apply(object_id)


_SETTLED = frozenset({"active", "error"})
_UNDER_WAY = {
    "queued_to_apply": "applying",
    "queued_to_update": "updating",
    "queued_to_deny": "denying",
}


async def _apply_rules(tools: ServiceContext, collection: Collection, object_id: str) -> None:
    state = tools.state
    for rule in state.rules.find(owner_id=object_id):
        if rule["state"] in _UNDER_WAY:
            state.change(state.rules, rule["id"], state=_UNDER_WAY[rule["state"]])
    subject = collection.get(object_id)
    refused = False
    for rule in list(state.rules.find(owner_id=object_id)):
        if rule["state"] == "denying" or subject is None:
            state.rules.delete(rule["id"])
        elif rule["state"] in ("applying", "updating"):
            served = access.is_served(subject["share_proto"], rule)
            state.change(state.rules, rule["id"], state="active" if served else "error")
            refused |= not served
    if subject is not None and refused:
        add_message(state, subject, "010", "021")
    await tools.exports.apply(object_id)

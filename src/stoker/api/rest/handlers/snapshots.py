"""Snapshots of a stack: take one, list, show, delete, restore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import accepted, document_response, list_response, no_content
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.values import optional_text
from stoker.engine.model.views import SnapshotView
from stoker.kernel.clock import isoformat

_LONGEST_NAME = 255


class SnapshotDetail(TypedDict):
    """A snapshot."""

    id: str
    name: str | None
    action: str
    status: str
    status_reason: str | None
    data: Mapping[str, Any]
    creation_time: str


class SnapshotList(TypedDict):
    """The snapshots of a stack."""

    snapshots: list[SnapshotDetail]


class SnapshotAnswer(TypedDict):
    """One snapshot."""

    snapshot: SnapshotDetail


class NewSnapshot(TypedDict, total=False):
    """A new snapshot. A name that is a number becomes text."""

    name: str | int | float | None


async def create(call: Call) -> Response:
    """Start taking a snapshot. A name that is a number becomes text."""
    body = await call.document()
    if isinstance(body.get("name"), int | float) and not isinstance(body["name"], bool):
        body["name"] = str(body["name"])
    name = optional_text(body, "name")
    if name is not None and len(name) > _LONGEST_NAME:
        raise bad_request(f"name has {len(name)} characters, {_LONGEST_NAME} are allowed.")
    snapshot = await call.service.snapshots.create(call.caller, call.stack, name)
    return await document_response(call.api.compute, _shown(snapshot))


async def index(call: Call) -> Response:
    """List the snapshots of a stack."""
    snapshots = await call.service.snapshots.list(call.caller, call.stack)
    return await list_response(call.api.compute, "snapshots", map(_shown, snapshots))


async def show(call: Call) -> Response:
    """Show one snapshot."""
    snapshot_id = call.path["snapshot_id"]
    snapshot = await call.service.snapshots.show(call.caller, call.stack, snapshot_id)
    return await document_response(call.api.compute, {"snapshot": _shown(snapshot)})


async def delete(call: Call) -> Response:
    """Remove a snapshot."""
    await call.service.snapshots.delete(call.caller, call.stack, call.path["snapshot_id"])
    return no_content()


async def restore(call: Call) -> Response:
    """Start restoring a stack from a snapshot."""
    await call.service.snapshots.restore(call.caller, call.stack, call.path["snapshot_id"])
    return accepted()


def _shown(snapshot: SnapshotView) -> SnapshotDetail:
    return {
        "id": snapshot.id,
        "name": snapshot.name,
        "action": "CREATE",
        "status": snapshot.status,
        "status_reason": snapshot.reason,
        "data": snapshot.data,
        "creation_time": isoformat(snapshot.created_at),
    }

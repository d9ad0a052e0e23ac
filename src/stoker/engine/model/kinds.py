"""The kinds of operations, with one type of request for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar

from msgspec import NODEFAULT, Struct, field, structs

from stoker.engine.model.accepted import Accepted


class OperationKind(StrEnum):
    """The kind of an operation. Its value is stored."""

    CHANGE = "change"
    SCALE = "scale"
    REFRESH = "refresh"
    MARK = "mark"
    RESTART = "restart"
    REACT = "react"
    WALK = "walk"
    CANCEL = "cancel"
    DROP_SNAPSHOT = "drop snapshot"


class Batches(Struct, frozen=True):
    """Resources that are applied batch after batch, and the seconds between two batches."""

    names: Sequence[Sequence[str]] = ()
    pause: float = 0.0


class ChangeRequest(Struct, frozen=True):
    """Bring the stack to the operation's input, or to nothing."""

    kind: ClassVar = OperationKind.CHANGE
    rollback: bool = False  # on failure, roll back to the input in force at the start
    # Columns of the stack to set at the start, such as tags and timeout.
    settings: Mapping[str, Any] = field(default_factory=dict)
    batches: Batches = field(default_factory=Batches)
    abandons: bool = False  # keep all objects in the cloud, regardless of deletion policies
    # With any other plan, the operation fails before its first action.
    accepted: Accepted | None = None
    # The snapshot to restore, and the path to this stack in it: names of resources from the
    # snapshotted stack down. Empty for none.
    restores: tuple[str, ...] = ()
    converge: bool = False  # read the live objects first, and repair external changes and deletes
    # Stack policy of this update; empty for none.
    policy: Mapping[str, Any] = field(default_factory=dict)
    deletes: bool = False  # on failure, delete the stack
    # Names of resources that get other names and keep their objects: new by old names. The template
    # may declare more.
    moves: Mapping[str, str] = field(default_factory=dict)
    # Ids of existing objects that become part of the stack, by resource. The template may declare
    # more. Without ``change_imported``, an object that differs from its definition is refused.
    import_objects: Mapping[str, str] = field(default_factory=dict)
    change_imported: bool = False
    # Paths of removed resources that keep their objects, from this stack down.
    keep_objects: tuple[str, ...] = ()
    # Removed resources that were imported keep their objects: the operation undoes the import.
    releases_imports: bool = False
    express: bool = False  # resources start before those that they depend on are settled


class ScaleRequest(Struct, frozen=True):
    """Apply a signal to a scaling policy."""

    kind: ClassVar = OperationKind.SCALE
    policy_id: str  # the signalled row


class RestartRequest(Struct, frozen=True):
    """Replace a resource and all that depend on it, after a signal to a restarter."""

    kind: ClassVar = OperationKind.RESTART
    restarter_id: str  # the signalled row


class ReactRequest(Struct, frozen=True):
    """Let a type apply a signal in the cloud. The signal has the id of the operation."""

    kind: ClassVar = OperationKind.REACT
    resource_id: str  # the signalled row


class RefreshRequest(Struct, frozen=True):
    """Update the attributes of a nested stack, after it has changed on its own."""

    kind: ClassVar = OperationKind.REFRESH
    resource_id: str  # the row of the nested stack in this one


class MarkRequest(Struct, frozen=True):
    """Mark a resource unhealthy, so that the next update replaces it, or remove the mark."""

    kind: ClassVar = OperationKind.MARK
    resource_id: str
    unhealthy: bool
    reason: str


class WalkRequest(Struct, frozen=True):
    """Do the operation's action on each existing resource; the desired state stays the same."""

    kind: ClassVar = OperationKind.WALK
    snapshot: tuple[str, ...] = ()  # the snapshot to take, and the path to this stack in it


class CancelRequest(Struct, frozen=True):
    """Start no more actions of the cancelled operation, and do not roll back."""

    kind: ClassVar = OperationKind.CANCEL


class DropSnapshotRequest(Struct, frozen=True):
    """Remove a snapshot of the stack, with its parts."""

    kind: ClassVar = OperationKind.DROP_SNAPSHOT
    snapshot_id: str


Request = (
    ChangeRequest
    | ScaleRequest
    | RestartRequest
    | ReactRequest
    | RefreshRequest
    | MarkRequest
    | WalkRequest
    | CancelRequest
    | DropSnapshotRequest
)
_REQUESTS: Mapping[OperationKind, type[Request]] = {
    each.kind: each
    for each in (
        ChangeRequest,
        ScaleRequest,
        RestartRequest,
        ReactRequest,
        RefreshRequest,
        MarkRequest,
        WalkRequest,
        CancelRequest,
        DropSnapshotRequest,
    )
}


def request_data(request: Request) -> dict[str, Any]:
    """Return a request in its stored form, without default values.

    So engines of an earlier release can read it, as long as it uses no new fields.
    """
    usual = _usual(type(request))
    data = {name: value for name, value in structs.asdict(request).items() if value != usual[name]}
    if isinstance(request, ChangeRequest):
        if "batches" in data:
            data["batches"] = {"names": request.batches.names, "pause": request.batches.pause}
        if request.accepted is not None:
            data["accepted"] = request.accepted.as_data()
    return {"kind": request.kind.value, **data}


@cache
def _usual(kind: type[Request]) -> Mapping[str, Any]:
    """Return the default of each field; NODEFAULT if it is required."""
    return {
        each.name: each.default if each.default_factory is NODEFAULT else each.default_factory()
        for each in structs.fields(kind)
    }


def request_of(data: Mapping[str, Any]) -> Request:
    """Return a request from its stored form."""
    fields = dict(data)
    kind = OperationKind(fields.pop("kind"))
    if "batches" in fields:
        fields["batches"] = Batches(**fields["batches"])
    if fields.get("accepted") is not None:
        fields["accepted"] = Accepted.from_data(fields["accepted"])
    for path in ("restores", "snapshot", "keep_objects"):
        if path in fields:
            fields[path] = tuple(fields[path])
    return _REQUESTS[kind](**fields)


def accepted_below(request: Request, name: str) -> Accepted | None:
    """Return the accepted plan of the nested stack of a resource, if it was known."""
    accepted = request.accepted if isinstance(request, ChangeRequest) else None
    return None if accepted is None else accepted.nested.get(name)


def is_express(request: Request) -> bool:
    """Return whether resources start before those that they depend on are settled."""
    return isinstance(request, ChangeRequest) and request.express

"""The kinds of operations, and what each is asked for: one request for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar

from msgspec import NODEFAULT, Struct, field, structs

from stoker.engine.model.accepted import Accepted


class OperationKind(StrEnum):
    """What an operation is about. Its value is stored."""

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
    rollback: bool = False
    """On failure, go back to what was in force when the operation began."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Columns of the stack that change when the operation begins: tags, timeout and such."""
    batches: Batches = field(default_factory=Batches)
    abandons: bool = False
    """The objects of what is removed stay in the cloud, whatever the deletion policies say."""
    accepted: Accepted | None = None
    """What the operation may do: with any other plan it ends before its first action."""
    restores: tuple[str, ...] = ()
    """The snapshot that the objects are brought back to, and the way to this stack in it: names of
    resources from the stack that was snapshotted downwards. Empty for none.
    """
    converge: bool = False
    """Look at what is live first, and repair what others have changed or deleted."""
    policy: Mapping[str, Any] = field(default_factory=dict)
    """What an update may do to which resources of the stack itself; empty for anything."""
    deletes: bool = False
    """On failure, delete the stack."""


class ScaleRequest(Struct, frozen=True):
    """Apply a signal to a scaling policy."""

    kind: ClassVar = OperationKind.SCALE
    policy_id: str
    """The row that was signalled."""


class RestartRequest(Struct, frozen=True):
    """Replace a resource, and all that needs it, because a signal to a restarter asks for it."""

    kind: ClassVar = OperationKind.RESTART
    restarter_id: str
    """The row that was signalled."""


class ReactRequest(Struct, frozen=True):
    """Have a type do in the cloud what a signal asks for. The signal bears the operation's id."""

    kind: ClassVar = OperationKind.REACT
    resource_id: str
    """The row that was signalled."""


class RefreshRequest(Struct, frozen=True):
    """Take over what a nested stack shows, after it has changed by itself."""

    kind: ClassVar = OperationKind.REFRESH
    resource_id: str
    """The row that stands for the nested stack."""


class MarkRequest(Struct, frozen=True):
    """Mark a resource unhealthy, so that the next update replaces it, or take the mark back."""

    kind: ClassVar = OperationKind.MARK
    resource_id: str
    unhealthy: bool
    reason: str


class WalkRequest(Struct, frozen=True):
    """Do the operation's action to each resource that there is; what is wanted stays the same."""

    kind: ClassVar = OperationKind.WALK
    snapshot: tuple[str, ...] = ()
    """The snapshot that is taken, and the way to this stack in it, as that of a restore."""


class CancelRequest(Struct, frozen=True):
    """Begin nothing more of the operation that is cancelled, and do not go back."""

    kind: ClassVar = OperationKind.CANCEL


class DropSnapshotRequest(Struct, frozen=True):
    """Remove a snapshot of the stack, with all that it holds of the resources."""

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
    """A request in the form in which it is stored: what is as usual is left out, so that engines of
    a release which knows less read it as long as it asks for nothing new.
    """
    usual = _usual(type(request))
    data = {name: value for name, value in structs.asdict(request).items() if value != usual[name]}
    if isinstance(request, ChangeRequest):
        if "batches" in data:
            data["batches"] = {"names": request.batches.names, "pause": request.batches.pause}
        if request.accepted is not None:
            data["accepted"] = request.accepted.as_data()
    return {"kind": request.kind, **data}


@cache
def _usual(kind: type[Request]) -> Mapping[str, Any]:
    """What each field is where nobody gives it; NODEFAULT, if somebody has to."""
    return {
        each.name: each.default if each.default_factory is NODEFAULT else each.default_factory()
        for each in structs.fields(kind)
    }


def request_of(data: Mapping[str, Any]) -> Request:
    """The request that was stored."""
    given = dict(data)
    kind = OperationKind(given.pop("kind"))
    if "batches" in given:
        given["batches"] = Batches(**given["batches"])
    if given.get("accepted") is not None:
        given["accepted"] = Accepted.from_data(given["accepted"])
    for way in ("restores", "snapshot"):
        if way in given:
            given[way] = tuple(given[way])
    return _REQUESTS[kind](**given)


def accepted_below(request: Request, name: str) -> Accepted | None:
    """What a user has accepted for the nested stack of a resource, if it was known."""
    accepted = request.accepted if isinstance(request, ChangeRequest) else None
    return None if accepted is None else accepted.nested.get(name)

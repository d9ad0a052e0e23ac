"""What the store keeps for the engine: frozen rows. Every change is a new value, then a commit.

Times are seconds since the epoch. A row's identity is its ``id``; a stack's writes carry the
``fencing_token`` that its engine holds (see :mod:`stoker.engine.model.interfaces`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, field

from stoker.engine.model.kinds import ChangeRequest, OperationKind
from stoker.engine.model.kinds import Request as Request
from stoker.engine.model.plans import Change, Plan
from stoker.engine.model.stack_policy import denial
from stoker.kernel.addresses import StackAddress
from stoker.kernel.logs.log import request_across
from stoker.kernel.values import replace


class Action(StrEnum):
    """What is, or was last, done to a stack or resource."""

    INIT = "INIT"
    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    ROLLBACK = "ROLLBACK"
    SIGNAL = "SIGNAL"
    CHECK = "CHECK"
    SUSPEND = "SUSPEND"
    RESUME = "RESUME"
    SNAPSHOT = "SNAPSHOT"
    RESTORE = "RESTORE"
    ADOPT = "ADOPT"


class Status(StrEnum):
    """How far the action is."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"


class OperationStatus(StrEnum):
    """How far an operation is. ``WAITING`` becomes ``RUNNING`` once its plan is stored."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    SUPERSEDED = "SUPERSEDED"

    @property
    def final(self) -> bool:
        """Nothing more will happen to the operation."""
        return self in (self.COMPLETE, self.FAILED, self.SUPERSEDED)


class Record(Struct, frozen=True):
    """A row of the store that only the owner of its stack may write."""


class PublicRecord(Record, frozen=True):
    """A row of the store that a request may write without owning the stack."""


class Adopted(Struct, frozen=True):
    """What a document says of a resource that is adopted."""

    physical_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, Any] | None = None
    """Of a nested stack, in the form in which an input has them; None for anything else."""

    @property
    def members(self) -> Mapping[str, Any]:
        """The ids of the resources of a nested stack, by name."""
        return {name: each["physical_id"] for name, each in (self.resources or {}).items()}

    @property
    def names(self) -> Mapping[str, list[str]]:
        """What a group knows of the names of its members: as it was kept, or as they are."""
        kept = {
            key: value
            for key, value in self.data.items()
            if isinstance(value, list) and all(isinstance(name, str) for name in value)
        }
        return {"names": list(self.resources or {}), **kept}


class Input(PublicRecord, frozen=True):
    """Everything that a user gave for a stack: what evaluation starts from.

    Files and the template are shared between the inputs of a tree: the store keeps equal content
    once.
    """

    id: str
    stack_id: str
    template: Any
    """As data."""
    text: str | None = None
    """As it was written, for the places of findings; None when it came as data."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    """The merged environment in its stored form."""
    files: Mapping[str, str] = field(default_factory=dict)
    template_file: str | None = None
    facade: Mapping[str, Any] = field(default_factory=dict)
    """For a nested stack: metadata and policies of its resource in the parent."""
    imports: Mapping[str, Any] = field(default_factory=dict)
    """Values that other stacks export and this one uses, by name; kept encrypted."""
    adopted: Mapping[str, Any] = field(default_factory=dict)
    """For a stack that is adopted: what is known of its objects, by resource; kept encrypted."""

    def adopted_resource(self, name: str) -> Adopted:
        """What is known of one of them; nothing of one that was not in the document."""
        return Adopted(**self.adopted.get(name, {}))


class Stack(PublicRecord, frozen=True):
    """A stack. ``input_id`` is what it should be, ``good_input_id`` what it last fully was."""

    id: str
    project_id: str
    name: str
    action: Action
    status: Status
    reason: str
    created_at: float
    input_id: str
    good_input_id: str | None = None
    updated_at: float | None = None
    deleted_at: float | None = None
    fencing_token: int = 0
    description: str = ""
    user_id: str = ""
    user_name: str = ""
    credentials: Mapping[str, Any] = field(default_factory=dict)
    """What deferred work authenticates with; kept encrypted."""
    user_project_id: str | None = None
    timeout_mins: int | None = None
    disable_rollback: bool = True
    tags: tuple[str, ...] = ()
    parent_id: str | None = None
    parent_resource: str | None = None
    parent_resource_id: str | None = None
    root_id: str | None = None
    depth: int = 0
    requested: Action | None = None
    """The action of the newest operation that was accepted but has not begun; read only."""
    take_ups: int = 0
    """How often in a row it was taken up for an operation that got no further; read only."""
    handed_over: int | None = None
    """The fencing token of the last engine that has let go of it in order; read only."""
    unreadable: tuple[str, ...] = ()
    """Fields that are stored and cannot be read; they are empty here. Read only."""

    @property
    def live_name(self) -> str | None:
        """Return the name while no other stack of the project may have it."""
        return self.name if self.deleted_at is None and self.parent_id is None else None

    @property
    def was_handed_over(self) -> bool:
        """Whether the engine before this one had the answers to all that it has sent."""
        return self.handed_over is not None and self.handed_over == self.fencing_token - 1

    @property
    def address(self) -> StackAddress:
        """Where the stack is found."""
        return StackAddress(self.project_id, self.name, self.id)

    @property
    def taken(self) -> Stack:
        """The stack with the fencing token that it has once an engine has taken it over."""
        return replace(self, fencing_token=self.fencing_token + 1)


def is_walked(stack: Stack, action: Action) -> bool:
    """Whether the stack is where a walk would bring it: it rests, or was woken, already."""
    rest = action in (Action.SUSPEND, Action.RESUME)
    return rest and (stack.action, stack.status) == (action, Status.COMPLETE)


class TrustRecord(Struct, frozen=True):
    """A trust that this service has made, by which all stacks of a user in a project act."""

    trust_id: str
    project_id: str
    user_id: str
    trustee_id: str
    roles: tuple[str, ...]
    replaced_by: str | None = None
    """The trust that was made in its place."""
    retired: bool = False
    """No stack acts by it any more; it is about to be removed."""


class Operation(PublicRecord, frozen=True):
    """One accepted request. Its plan is stored before the first action; ``number`` orders them."""

    id: str
    stack_id: str
    action: Action
    """What is done to the stack; SIGNAL for what is about one resource and leaves its status."""
    created_at: float
    status: OperationStatus = OperationStatus.WAITING
    request: Request = field(default_factory=ChangeRequest)
    input_id: str | None = None
    """The input to reach; None for the empty template."""
    deadline: float | None = None
    plan: Plan | None = None
    """None before the operation begins, and after it has ended."""
    reason: str = ""
    back_to: str | None = None
    """The input that was in force when the operation began; None for nothing."""
    parent_operation: str | None = None
    """The operation on the parent stack that this one is part of."""
    cancels: str | None = None
    """The operation that this one gives up, perhaps to go back to what was before it."""
    request_id: str | None = field(default_factory=request_across)
    """By which all services know the request in whose course it was made."""
    client_token: str | None = None
    """That of the request of a client, also of what follows from it; its events bear it."""
    client_digest: str | None = None
    """Of what was asked for with the token; None for what follows from it."""
    number: int = 0
    """Given by the store: grows with every operation."""
    unreadable: tuple[str, ...] = ()
    """Fields that are stored and cannot be read; they are empty here. Read only."""

    @property
    def kind(self) -> OperationKind:
        """What sort of operation it is."""
        return self.request.kind

    @property
    def abandons(self) -> bool:
        """Whether the objects of what it removes stay in the cloud."""
        return isinstance(self.request, ChangeRequest) and self.request.abandons

    @property
    def is_bound(self) -> bool:
        """Whether a policy may forbid what it does."""
        return isinstance(self.request, ChangeRequest) and bool(self.request.policy)

    def denial(self, change: Change, name: str, type_name: str) -> str | None:
        """Why the policy that the operation is bound by forbids a change of a resource."""
        if not isinstance(self.request, ChangeRequest) or not self.request.policy:
            return None
        return denial(self.request.policy, change, name, type_name)

    @property
    def restores(self) -> bool:
        """Return True if it brings objects back to a snapshot."""
        return isinstance(self.request, ChangeRequest) and bool(self.request.restores)

    @property
    def converges(self) -> bool:
        """Whether it looks at what is live before it plans."""
        return isinstance(self.request, ChangeRequest) and self.request.converge


class Queued(Struct, frozen=True):
    """An operation that has not ended, as those see it who need not know its plan."""

    id: str
    stack_id: str
    action: Action
    kind: OperationKind
    status: OperationStatus
    number: int
    parent_operation: str | None = None


class AcquiredStack(Struct, frozen=True):
    """A stack that an engine drives from now on."""

    stack: Stack
    operation: Operation | None = None
    """Its first one, where nobody has driven the stack before: there are neither resources nor
    signals, and no other operation."""
    given: Input | None = None
    """What this operation is to reach."""


Open = TypeVar("Open", Operation, Queued)


def foremost(open_: Sequence[Open]) -> Open | None:
    """The operation that comes first: a mark, the newest change of the stack, then the oldest of
    walks and signals, which wait for their turn.

    ``open_`` are those that have not ended, the oldest first.
    """
    marks = [op for op in open_ if op.kind is OperationKind.MARK]
    changes = [op for op in open_ if _takes_over(op)]
    return next(iter(marks or changes[-1:] or open_), None)


def taken_over(open_: Sequence[Open]) -> list[Open]:
    """The operations on the stack whose work a newer change goes on with; signals are kept."""
    newest = max((place for place, op in enumerate(open_) if _takes_over(op)), default=0)
    return [op for op in open_[:newest] if op.action is not Action.SIGNAL]


def _takes_over(operation: Operation | Queued) -> bool:
    return operation.action is not Action.SIGNAL and operation.kind is not OperationKind.WALK


CANCELLABLE = (Action.CREATE, Action.UPDATE)
"""What a cancel can be about."""


def under_way(open_: Sequence[Open]) -> Open | None:
    """The change that a stack is being brought to, of those that have not ended; None where it is
    left alone, or where one was cancelled and only its rest comes to an end.
    """
    changes = [op for op in open_ if _takes_over(op)]
    return changes[-1] if changes and changes[-1].kind is OperationKind.CHANGE else None


# The fencing token of a stack and the number of its newest operation. While they stay the same and
# no operation is open, the rows of the stack stay the same.
StackState = tuple[int, int]


class TreeState(Struct, frozen=True):
    """How a stack and the live ones nested in it stand.

    As long as two are equal, and nothing is open, nobody has driven any of them.
    """

    fencing_tokens: Mapping[str, int]
    """By the stack's id."""
    open: frozenset[str]
    """Ids of those that have an operation which has not ended."""
    newest_operations: Mapping[str, int] = field(default_factory=dict)  # number by stack id

    def state_of(self, stack_id: str) -> StackState | None:
        """Return the state of a stack; None for one that is not live or has an open operation."""
        token = self.fencing_tokens.get(stack_id)
        if token is None or stack_id in self.open:
            return None
        return token, self.newest_operations.get(stack_id, 0)


class Resource(Record, frozen=True):
    """A resource: one generation of one name. A replacement is a row of its own."""

    id: str
    stack_id: str
    name: str
    type_name: str
    """As the template spells it."""
    token: str
    created_at: float
    updated_at: float
    implementation: str = ""
    """Name of the type that the environment gave for it."""
    action: Action = Action.INIT
    status: Status = Status.COMPLETE
    reason: str = ""
    physical_id: str | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    """As last applied, before names became ids."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    """Secrets of the type; kept encrypted."""
    progress: Mapping[str, Any] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    """Ids of the resource rows that this one was built on."""
    dependencies: tuple[str, ...] = ()
    """Names of the resources that its definition needs."""
    deletion_policy: str = "Delete"
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    operation_id: str | None = None
    """The operation that last brought this row to where it should be."""
    action_started_at: float | None = None
    asked: tuple[float, ...] = ()
    """When requests were sent whose end is not known: creates, each of which may have made an
    object, and updates, which may still be done.
    """
    dirty: tuple[str, ...] = ()
    """Properties that updates which did not finish may have changed on the object."""
    replaced_by: str | None = None
    """The row that has taken this one's name; this one waits for its removal."""
    external: bool = False
    """The object is not ours: it is only referred to and never changed or deleted."""
    unhealthy: bool = False
    """Marked by a user: the next update replaces it."""
    description: str = ""
    nested_id: str | None = None
    """The nested stack behind the resource."""
    hook: Mapping[str, Any] = field(default_factory=dict)
    """The hook that the row waits at, and those it has passed
    (:mod:`stoker.engine.execution.calls.hooks`).
    """
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Of a row that has taken another's place: the ``object`` that it replaced, the ``reason`` of
    the decision, and the properties in ``forcing`` that made it necessary.
    """
    unreadable: tuple[str, ...] = ()
    """Fields that are stored and cannot be read; they are empty here. Read only."""


def is_nested(row: Resource) -> bool:
    """Return True if the row represents a nested stack that was created."""
    return row.nested_id is not None


class Event(PublicRecord, frozen=True):
    """Something that happened to a stack (``resource_id`` is None) or to a resource."""

    id: str
    stack_id: str
    time: float
    action: Action
    status: Status
    reason: str
    resource_name: str
    resource_type: str
    resource_id: str | None = None
    physical_id: str | None = None
    properties: Mapping[str, Any] | None = None
    client_token: str | None = None
    """That of the operation."""


UNSET_HOOK = "unset_hook"
"""Key of the details of a signal that clears a hook; no resource type gets such a signal."""


CREATION_SIGNAL = "creation_signal"
"""Key of the details of a signal that a creation policy waits for, with id and success; no
resource type gets it.
"""


class StoredSignal(PublicRecord, frozen=True):
    """A signal as it was received."""

    id: str
    stack_id: str
    resource_id: str
    received_at: float
    details: Mapping[str, Any]


class Channel(StrEnum):
    """By what a message leaves."""

    BUS = "bus"
    """The message bus of the cloud's operator."""
    ZAQAR = "zaqar-queue"
    """Queues of the messaging service."""


class Message(Record, frozen=True):
    """Something to be told. ``number`` is given by the store and grows."""

    id: str
    channel: Channel
    lane: str
    """What has to leave in order: of queues the project and the name, for the bus all."""
    stack_id: str
    created_at: float
    body: Mapping[str, Any]
    number: int = 0

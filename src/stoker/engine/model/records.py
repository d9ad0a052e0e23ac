"""Records of the store for the engine: stacks, operations, resources, events, signals.

Records are frozen: a change is a new value, which is then committed. Times are seconds since the
epoch. The ``id`` of a record identifies its row. Writes by the owner of a stack carry the stack's
``fencing_token`` (see :mod:`stoker.engine.model.storage.changes`).
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
    """The present or last action on a stack or resource."""

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
    """The status of an action."""

    IN_PROGRESS = "IN_PROGRESS"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"


class OperationStatus(StrEnum):
    """The status of an operation. ``WAITING`` becomes ``RUNNING`` once its plan is stored."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    SUPERSEDED = "SUPERSEDED"

    @property
    def final(self) -> bool:
        """Return whether the operation has ended."""
        return self in (self.COMPLETE, self.FAILED, self.SUPERSEDED)


class Record(Struct, frozen=True):
    """A row of the store that only the owner of its stack may write."""


class PublicRecord(Record, frozen=True):
    """A row of the store that a request may write without owning the stack."""


class Adopted(Struct, frozen=True):
    """The data about a resource in the document of an adoption."""

    physical_id: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    # Resources of a nested stack, in the form of Input.adopted; None for any other resource.
    resources: Mapping[str, Any] | None = None

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the physical ids of a nested stack's resources, by name."""
        return {name: each["physical_id"] for name, each in (self.resources or {}).items()}

    @property
    def names(self) -> Mapping[str, list[str]]:
        """Return a group's lists of member names.

        Lists in the data come first, since a group may remember other names than it has now.
        """
        kept = {
            key: value
            for key, value in self.data.items()
            if isinstance(value, list) and all(isinstance(name, str) for name in value)
        }
        return {"names": list(self.resources or {}), **kept}


class Input(PublicRecord, frozen=True):
    """Everything that a user gave for a stack: the base of its evaluation.

    The store saves equal templates and files once, for instance those of nested stacks.
    """

    id: str
    stack_id: str
    template: Any  # as data
    text: str | None = None  # original text, for positions of findings; None if sent as data
    parameters: Mapping[str, Any] = field(default_factory=dict)
    # Merged environment in its stored form.
    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    template_file: str | None = None
    # Metadata and policies of a nested stack's resource in the parent.
    facade: Mapping[str, Any] = field(default_factory=dict)
    # Values that other stacks export and this one imports, by name; stored encrypted.
    imports: Mapping[str, Any] = field(default_factory=dict)
    # For an adoption: data about objects; stored encrypted.
    adopted: Mapping[str, Any] = field(default_factory=dict)

    def adopted_resource(self, name: str) -> Adopted:
        """Return the adoption data of a resource; empty if the document does not name it."""
        return Adopted(**self.adopted.get(name, {}))


class Stack(PublicRecord, frozen=True):
    """A stack.

    ``input_id`` is its desired state, ``good_input_id`` the last one that it reached completely.
    """

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
    credentials: Mapping[str, Any] = field(default_factory=dict)  # for deferred work; encrypted
    user_project_id: str | None = None
    timeout_mins: int | None = None
    disable_rollback: bool = True
    tags: tuple[str, ...] = ()
    parent_id: str | None = None
    parent_resource: str | None = None
    parent_resource_id: str | None = None
    root_id: str | None = None
    depth: int = 0
    is_import: bool = False  # its last change is a change set of type IMPORT
    is_namesake: bool = False  # another live stack has its name: it is found only by its id
    # Action of the newest operation that has not started; read only.
    requested: Action | None = None
    attempts: int = 0  # consecutive acquisitions for an operation without progress; read only
    # Fencing token of the last engine that released it regularly; read only.
    released_token: int | None = None
    # Names of fields that cannot be decrypted, and are empty here; read only.
    unreadable: tuple[str, ...] = ()

    @property
    def live_name(self) -> str | None:
        """Return the name while no other stack of the project may have it."""
        has_name = self.deleted_at is None and self.parent_id is None and not self.is_namesake
        return self.name if has_name else None

    @property
    def was_released(self) -> bool:
        """Return whether the previous engine released the stack with no request in flight."""
        return self.released_token is not None and self.released_token == self.fencing_token - 1

    @property
    def address(self) -> StackAddress:
        """Return the address of the stack."""
        return StackAddress(self.project_id, self.name, self.id)

    @property
    def acquired(self) -> Stack:
        """Return the stack with the fencing token of its next owner."""
        return replace(self, fencing_token=self.fencing_token + 1)


def is_walked(stack: Stack, action: Action) -> bool:
    """Return whether a suspend or resume would change nothing."""
    rest = action in (Action.SUSPEND, Action.RESUME)
    return rest and (stack.action, stack.status) == (action, Status.COMPLETE)


class TrustRecord(Struct, frozen=True):
    """A trust of this service, for all stacks of one user in one project."""

    trust_id: str
    project_id: str
    user_id: str
    trustee_id: str
    roles: tuple[str, ...]
    replaced_by: str | None = None  # id of the trust that replaces this one
    retired: bool = False  # no stack uses it; it is about to be deleted


class Operation(PublicRecord, frozen=True):
    """An accepted request.

    Its plan is stored before the first action. Operations of a stack run in the order of
    ``number``, unless a newer one supersedes them.
    """

    id: str
    stack_id: str
    action: Action  # SIGNAL if it concerns one resource and leaves the stack's status
    created_at: float
    status: OperationStatus = OperationStatus.WAITING
    request: Request = field(default_factory=ChangeRequest)
    input_id: str | None = None  # input to reach; None for the empty template
    deadline: float | None = None
    plan: Plan | None = None  # None before the operation starts, and after it has ended
    reason: str = ""
    back_to: str | None = None  # input in force when the operation started; None for nothing
    parent_operation: str | None = None  # operation on the parent stack that this one is part of
    cancels: str | None = None  # id of the operation that this one cancels or rolls back
    # Request id, shared by all services, of the request that caused it.
    request_id: str | None = field(default_factory=request_across)
    # Token of the client's request, also for operations that follow from it.
    client_token: str | None = None
    # Digest of the content of that request; None for operations that follow from it.
    client_digest: str | None = None
    number: int = 0  # set by the store; grows with every operation
    # Names of fields that cannot be decrypted, and are empty here; read only.
    unreadable: tuple[str, ...] = ()

    @property
    def kind(self) -> OperationKind:
        """Return the kind of the operation."""
        return self.request.kind

    @property
    def abandons(self) -> bool:
        """Return whether removed resources keep their objects in the cloud."""
        return isinstance(self.request, ChangeRequest) and self.request.abandons

    @property
    def keep_objects(self) -> tuple[str, ...]:
        """Return the paths of removed resources that keep their objects in the cloud."""
        return self.request.keep_objects if isinstance(self.request, ChangeRequest) else ()

    @property
    def changes_imported(self) -> bool:
        """Return whether imported objects may be changed to their definitions."""
        return isinstance(self.request, ChangeRequest) and self.request.change_imported

    def releases(self, row: Resource) -> bool:
        """Return whether a resource that it removes leaves the stack without its object."""
        if row.replaced_by is not None:
            return False
        return row.name in self.keep_objects or (row.is_imported and self.releases_imports)

    @property
    def releases_imports(self) -> bool:
        """Return whether removed resources that were imported keep their objects.

        The operation goes back to a state in which the objects were not part of the stack.
        """
        request = self.request
        releases = isinstance(request, ChangeRequest) and request.releases_imports
        return releases or self.restores or self.action is Action.ROLLBACK

    @property
    def is_bound(self) -> bool:
        """Return whether a stack policy may deny its changes."""
        return isinstance(self.request, ChangeRequest) and bool(self.request.policy)

    def denial(self, change: Change, name: str, type_name: str) -> str | None:
        """Return why the stack policy denies a change of a resource; None if it is allowed."""
        if not isinstance(self.request, ChangeRequest) or not self.request.policy:
            return None
        return denial(self.request.policy, change, name, type_name)

    @property
    def restores(self) -> bool:
        """Return whether it restores objects from a snapshot."""
        return isinstance(self.request, ChangeRequest) and bool(self.request.restores)

    @property
    def converges(self) -> bool:
        """Return whether it reads live objects before it plans."""
        return isinstance(self.request, ChangeRequest) and self.request.converge


class Queued(Struct, frozen=True):
    """An operation that has not ended, without its plan and request."""

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
    # First operation of a stack that was never driven, and so has no resources or signals.
    operation: Operation | None = None
    input: Input | None = None  # desired input of this operation


Open = TypeVar("Open", Operation, Queued)


def current_operation(open_: Sequence[Open]) -> Open | None:
    """Return the operation to run next.

    Marks come first, then the newest change of the stack, then walks and signals, which wait for
    their turn. ``open_`` contains the operations that have not ended, oldest first.
    """
    marks = [op for op in open_ if op.kind is OperationKind.MARK]
    changes = [op for op in open_ if _takes_over(op)]
    return next(iter(marks or changes[-1:] or open_), None)


def superseded_operations(open_: Sequence[Open]) -> list[Open]:
    """Return the operations that a newer change supersedes. Signals are not superseded."""
    newest = max((place for place, op in enumerate(open_) if _takes_over(op)), default=0)
    return [op for op in open_[:newest] if op.action is not Action.SIGNAL]


def _takes_over(operation: Operation | Queued) -> bool:
    return operation.action is not Action.SIGNAL and operation.kind is not OperationKind.WALK


CANCELLABLE = (Action.CREATE, Action.UPDATE)  # actions that can be cancelled


def under_way(open_: Sequence[Open]) -> Open | None:
    """Return the newest of the changes that have not ended.

    Returns None if there is none, or if that change is a cancel, so that only started actions are
    finished.
    """
    changes = [op for op in open_ if _takes_over(op)]
    return changes[-1] if changes and changes[-1].kind is OperationKind.CHANGE else None


# The fencing token of a stack and the number of its newest operation. While they stay the same and
# no operation is open, the rows of the stack stay the same.
StackState = tuple[int, int]


class TreeState(Struct, frozen=True):
    """The state of a stack and its live nested stacks.

    If two states are equal, and no operation is open, no engine has driven a stack in between.
    """

    fencing_tokens: Mapping[str, int]  # by stack id
    open: frozenset[str]  # ids of stacks with an open operation
    newest_operations: Mapping[str, int] = field(default_factory=dict)  # number by stack id

    def state_of(self, stack_id: str) -> StackState | None:
        """Return the state of a stack; None for one that is not live or has an open operation."""
        token = self.fencing_tokens.get(stack_id)
        if token is None or stack_id in self.open:
            return None
        return token, self.newest_operations.get(stack_id, 0)


class Resource(Record, frozen=True):
    """One generation of a resource. A replacement is a row of its own."""

    id: str
    stack_id: str
    name: str
    type_name: str  # as the template spells it
    token: str
    created_at: float
    updated_at: float
    implementation: str = ""  # name of the type that the environment maps it to
    action: Action = Action.INIT
    status: Status = Status.COMPLETE
    reason: str = ""
    physical_id: str | None = None
    # As last applied, before names were resolved to ids.
    properties: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    # Data of the type, such as secrets; stored encrypted.
    data: Mapping[str, Any] = field(default_factory=dict)
    progress: Mapping[str, Any] = field(default_factory=dict)
    requires: tuple[str, ...] = ()  # ids of the rows that this one was created with
    dependencies: tuple[str, ...] = ()  # names of the resources that its definition refers to
    deletion_policy: str = "Delete"
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    operation_id: str | None = None  # last operation that has applied this row
    action_started_at: float | None = None
    # Send times of requests without a response. A create may have created an object, and an update
    # may still take effect.
    asked: tuple[float, ...] = ()
    dirty: tuple[str, ...] = ()  # properties that unfinished updates may have changed on the object
    replaced_by: str | None = None  # row that has replaced this one, which waits for its removal
    external: bool = False  # the object is only referred to, and never changed or deleted
    unhealthy: bool = False  # marked by a user, so that the next update replaces it
    description: str = ""
    nested_id: str | None = None  # id of the nested stack that the resource represents
    # The hook that the row waits at, and those it has passed
    # (:mod:`stoker.engine.execution.calls.hooks`).
    hook: Mapping[str, Any] = field(default_factory=dict)
    # Of a replacement: the previous ``object``, the ``reason`` of the decision, and the properties
    # in ``forcing`` that required it. Of an imported object: ``imported``. Of a resource that was
    # moved here from another stack: ``stack``, the name of the stack that created it. Of a nested
    # stack that was taken over: ``reference``, its value of ``get_resource``.
    origin: Mapping[str, Any] = field(default_factory=dict)
    # Names before it was moved, the first one first, each with the last input that had it.
    former_names: Mapping[str, str] = field(default_factory=dict)
    # Names of fields that cannot be decrypted, and are empty here; read only.
    unreadable: tuple[str, ...] = ()

    @property
    def is_imported(self) -> bool:
        """Return whether the object existed before it became part of the stack."""
        return "imported" in self.origin

    @property
    def first_name(self) -> str:
        """Return the name at its creation; the name of its object contains it."""
        return next(iter(self.former_names), self.name)

    def first_stack(self, own: str) -> str:
        """Return the name of the stack at its creation; ``own`` is that of its present stack."""
        return str(self.origin.get("stack", own))


def is_nested(row: Resource) -> bool:
    """Return True if the row represents a nested stack that was created."""
    return row.nested_id is not None


class Event(PublicRecord, frozen=True):
    """A change of the status of a stack (``resource_id`` is None) or of a resource."""

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
    client_token: str | None = None  # token of the operation


# Key in the details of a signal that clears a hook; handled by the engine, not by a type.
UNSET_HOOK = "unset_hook"


# Key in the details of a signal for a creation policy, with id and success. Handled by the engine,
# not by a type.
CREATION_SIGNAL = "creation_signal"


class StoredSignal(PublicRecord, frozen=True):
    """A received signal."""

    id: str
    stack_id: str
    resource_id: str
    received_at: float
    details: Mapping[str, Any]


class Channel(StrEnum):
    """The transport of a message."""

    BUS = "bus"  # message bus of the cloud's operator
    ZAQAR = "zaqar-queue"  # queues of the messaging service


class Message(Record, frozen=True):
    """An outgoing message. The store sets its ``number``, which grows."""

    id: str
    channel: Channel
    lane: str  # messages of a lane are sent in order: project and queue name, empty for the bus
    stack_id: str
    created_at: float
    body: Mapping[str, Any]
    number: int = 0

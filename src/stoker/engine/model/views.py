"""What the engine shows to interfaces: frozen values, in the engine's terms, times in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from stoker.engine.model.change_sets import ChangeSet
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Position
from stoker.template.definition import Output


class StackView(Struct, frozen=True):
    """A stack as its owner sees it."""

    address: StackAddress
    action: str
    status: str
    reason: str
    created_at: float
    updated_at: float | None = None
    deleted_at: float | None = None
    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """In their shown form: text, hidden ones masked; pseudo parameters included."""
    outputs: tuple[Output, ...] | None = None
    """None when they were not asked for or cannot be computed yet."""
    timeout_mins: int | None = None
    disable_rollback: bool = True
    owner: str | None = None
    """Name of the user who created it."""
    parent_id: str | None = None
    user_project_id: str | None = None
    tags: tuple[str, ...] = ()
    nested_depth: int = 0
    was_complete: bool = False
    """Some change has brought it to what it was to be."""


class ResourceView(Struct, frozen=True):
    """A resource as its stack's owner sees it."""

    stack: StackAddress
    name: str
    id: str
    physical_id: str | None
    type_name: str
    action: str
    status: str
    reason: str
    created_at: float
    updated_at: float
    required_by: tuple[str, ...] = ()
    parent_resource: str | None = None
    """Name of the resource of the parent stack whose nested stack this one is in."""
    nested: StackAddress | None = None
    description: str = ""
    attributes: Mapping[str, Any] | None = None
    """Only where a single resource is shown."""
    attributes_note: str | None = None
    """Why the attributes may be old."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    waiting_for: str | None = None
    """While in progress: what it waits for, in words."""
    properties: Mapping[str, Any] = field(default_factory=dict)


class EventView(Struct, frozen=True):
    """An event of a stack (``resource_name`` is then the stack's name) or of a resource."""

    id: str
    stack: StackAddress
    time: float
    action: str
    status: str
    reason: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    properties: Mapping[str, Any] | None = None
    root_stack: StackAddress | None = None
    client_token: str | None = None
    """That of the request that it follows from."""


class SnapshotView(Struct, frozen=True):
    """A snapshot of a stack."""

    id: str
    name: str | None
    status: str
    reason: str | None
    created_at: float
    data: Mapping[str, Any]
    """The stack and its resources as one document."""


class TemplateSummary(Struct, frozen=True):
    """What a template takes, and what it is made of."""

    description: Mapping[str, Any]
    """As the validation of a template answers it."""
    version: str
    resource_types: tuple[str, ...]
    """As the template names them, one for each resource."""
    transforms: tuple[str, ...] = ()
    metadata: Any = None


class PropertyChange(Struct, frozen=True):
    """What an update would do to a property."""

    name: str
    old: Any
    new: Any
    known: bool = True
    """Whether the new value is known yet; if not, it may turn out to be the old one."""
    known_after: tuple[str, ...] = ()
    """The resources on which it hangs."""


class ChangeView(Struct, frozen=True):
    """One line of a plan: what an update would do to a resource."""

    resource: ResourceView
    """As it is recorded, or as it will be when it is added."""
    change: str
    """``added``, ``updated``, ``replaced``, ``deleted`` or ``unchanged``."""
    cause: str
    """Why, in a word: a :class:`stoker.engine.model.plans.Reason`."""
    forcing: tuple[str, ...] = ()
    """The properties because of which a new object is needed."""
    changed_properties: tuple[PropertyChange, ...] = ()
    path: tuple[str, ...] = ()
    """Names of resources: those in whose nested stacks it is, from the outermost, and its own."""
    step: int = 0
    """When it happens among the changes of its stack, which those of equal numbers share."""
    after: tuple[str, ...] = ()
    """The changes in its stack that come first, by resource."""
    interruptions: Mapping[str, str] = field(default_factory=dict)
    """What the changes of properties do to an object in use, by property."""
    may_force: tuple[str, ...] = ()
    """While it is not known whether properties change: those that would need a new object."""
    keeps_object: bool = False
    """Its object stays though the resource goes."""
    holds_data: bool = False
    """Without its object, data of its users is lost."""
    position: Position | None = None
    """Where the property that changes, or the resource, stands in the documents, if known."""
    inside: str | None = None
    """Of a resource with a nested stack: whether something there ``changes``, or all stays the
    ``same``, or that is ``unknown`` so far.
    """


class PlanView(Struct, frozen=True):
    """What an update or a delete would do."""

    changes: tuple[ChangeView, ...]
    fingerprint: str | None = None
    """By which a request accepts it, if that was asked for; None while an operation on the stack
    has not ended.
    """


class ChangeSetState(StrEnum):
    """Whether a change set can be carried out, and how far that is, in AWS's words."""

    UNAVAILABLE = "UNAVAILABLE"
    AVAILABLE = "AVAILABLE"
    OUTDATED = "OBSOLETE"
    """The stack is no longer what it was."""
    RUNNING = "EXECUTE_IN_PROGRESS"
    COMPLETE = "EXECUTE_COMPLETE"
    FAILED = "EXECUTE_FAILED"


class ChangeSetView(Struct, frozen=True):
    """A change set as its owner sees it."""

    change_set: ChangeSet
    stack: StackAddress
    state: ChangeSetState


class CauseKind(StrEnum):
    """Why a resource is not what it is to be, or is another object than it was."""

    PLANNING = "planning"
    """The operation has not begun."""
    DEPENDENCY = "dependency"
    """Others come first."""
    ORDER = "order"
    """It goes when everything else is in its place."""
    PAUSE = "pause"
    """A pause lies between two batches."""
    HOOK = "hook"
    """A user has to let it go on."""
    SIGNAL = "signal"
    """Signals have to come."""
    RETRY = "retry"
    """The cloud has turned a call away, which is repeated."""
    GATE = "gate"
    """The service has as many calls as it gets at once."""
    CALL = "call"
    """The service has not answered yet."""
    CLOUD = "cloud"
    """The object is not ready."""
    NESTED = "nested"
    """Its nested stack has not come to an end."""
    FAILED = "failed"
    """Its last action failed."""
    ABORTED = "aborted"
    """It was given up because something else failed."""
    MARKED = "marked"
    """The next update replaces it, as it is marked unhealthy."""
    REPLACED = "replaced"
    """Its object has taken the place of another."""
    NOTHING = "nothing"
    """It is what it is to be."""


class MentionedObject(Struct, frozen=True):
    """Facts of a stack about an object that a message mentions."""

    id: str
    """Its id, or its address."""
    path: tuple[str, ...] | None = None
    """The resource whose object it is, if it belongs to the stack."""
    used_by: tuple[tuple[str, ...], ...] = ()
    """Resources whose properties or attributes name it."""


class Cause(Struct, frozen=True):
    """Why one resource is as it is."""

    kind: CauseKind
    path: tuple[str, ...]
    """Names of resources: those in whose nested stacks it is, from the outermost, and its own;
    empty for the stack itself.
    """
    stack: StackAddress
    type_name: str
    action: str
    status: str
    text: str
    """What it waits for, or what was wrong, in words: where they are the cloud's, its own."""
    since: float | None = None
    physical_id: str | None = None
    waits_for: tuple[str, ...] = ()
    """Resources of the same stack."""
    signals: tuple[int, int] | None = None
    """How many have come, of how many."""
    hook: str | None = None
    because_of: tuple[str, ...] = ()
    """Properties that made a replacement necessary."""
    request_id: str | None = None
    """By which the cloud's logs know the request that failed."""
    position: Position | None = None
    """Where the resource, or the first of those properties, stands in the documents."""
    objects: tuple[MentionedObject, ...] = ()
    """What the stack knows of the objects that ``text`` mentions."""


class Explanation(Struct, frozen=True):
    """Why a stack, or a resource of it, is as it is."""

    stack: StackView
    since: float
    deadline: float | None
    """When the operation under way is given up."""
    causes: tuple[Cause, ...]
    is_complete: bool
    """Whether these are all causes."""


class DriftedProperty(Struct, frozen=True):
    """A property that a live object has with another value than was applied."""

    name: str
    applied: Any
    live: Any
    repairable: bool
    """Whether an update that converges sets it back."""


class DriftView(Struct, frozen=True):
    """A resource whose live object was compared with what was applied to it."""

    resource: ResourceView
    state: str
    """``same``, ``changed``, ``gone``, ``unknown``, or ``internal`` where there is no object."""
    reason: str = ""
    """Why the object was not compared."""
    properties: tuple[DriftedProperty, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Properties with values of their own of which the service tells nothing."""

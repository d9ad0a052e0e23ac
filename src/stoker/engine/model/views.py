"""Results of the engine for its interfaces: frozen values with times in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from stoker.engine.model.stack_records.change_sets import ChangeSet
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Position
from stoker.schema.quotas import Quota
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
    # As text; hidden ones masked; with pseudo parameters.
    parameters: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[Output, ...] | None = None  # None if not requested or unknown
    timeout_mins: int | None = None
    disable_rollback: bool = True
    owner: str | None = None  # name of the user who created the stack
    parent_id: str | None = None
    user_project_id: str | None = None
    tags: tuple[str, ...] = ()
    nested_depth: int = 0
    was_complete: bool = False  # some change of the stack has completed
    is_import: bool = False  # its last change is a change set of type IMPORT


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
    parent_resource: str | None = None  # resource of the parent stack with this nested one
    nested: StackAddress | None = None
    description: str = ""
    attributes: Mapping[str, Any] | None = None  # for a single resource only
    attributes_note: str | None = None  # why the attributes may be old
    metadata: Mapping[str, Any] = field(default_factory=dict)
    waiting_for: str | None = None  # text; only while in progress
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
    client_token: str | None = None  # token of the request that caused the event


class SnapshotView(Struct, frozen=True):
    """A snapshot of a stack."""

    id: str
    name: str | None
    status: str
    reason: str | None
    created_at: float
    data: Mapping[str, Any]  # the stack and its resources as one document


class TemplateSummary(Struct, frozen=True):
    """The parameters and parts of a template."""

    description: Mapping[str, Any]  # the response of the validation
    version: str
    resource_types: tuple[str, ...]  # one for each resource, as the template names it
    transforms: tuple[str, ...] = ()
    metadata: Any = None
    # Names of the resources whose objects can be imported, by type.
    importable: Mapping[str, Sequence[str]] = field(default_factory=dict)


class PropertyChange(Struct, frozen=True):
    """The change of a property by an update."""

    name: str
    old: Any
    new: Any
    known: bool = True  # if False, the new value may equal the old one
    known_after: tuple[str, ...] = ()  # resources that the value depends on


class ChangeView(Struct, frozen=True):
    """One line of a plan: the change of a resource."""

    resource: ResourceView  # as recorded, or as it will be when added
    change: str  # `added`, `updated`, `replaced`, `deleted` or `unchanged`
    cause: str  # a value of Reason in model/plans.py
    forcing: tuple[str, ...] = ()  # properties that require a new object
    changed_properties: tuple[PropertyChange, ...] = ()
    path: tuple[str, ...] = ()  # names of resources, from the root stack down
    step: int = 0  # position in its stack; equal numbers run in parallel
    after: tuple[str, ...] = ()  # resources of the stack that are changed before
    # Effect on an object in use, by property.
    interruptions: Mapping[str, str] = field(default_factory=dict)
    # Properties that would require a new object if their unknown values differ.
    may_force: tuple[str, ...] = ()
    keeps_object: bool = False  # the object outlives the resource
    holds_data: bool = False  # the object contains data of users
    overwrites_data: bool = False  # a change in place overwrites them
    position: Position | None = None  # of the changed property or the resource
    inside: str | None = None  # of a nested stack: `changes`, `same` or `unknown`
    moved_from: str | None = None  # present name of a resource that keeps its object
    imported: str | None = None  # id of the existing object that becomes part of the stack
    # Properties of an imported object that the service does not report.
    not_compared: tuple[str, ...] = ()
    resembles: str | None = None  # of an added resource: a deleted one that looks the same


class PlanWarning(Struct, frozen=True):
    """A reason for which a change of a plan may fail."""

    path: tuple[str, ...]  # of the resource
    message: str


class PlanView(Struct, frozen=True):
    """The changes by an update or a delete."""

    changes: tuple[ChangeView, ...]
    # Accepts the plan in a request. None if not requested, or while an operation is open.
    fingerprint: str | None = None
    quotas: tuple[Quota, ...] = ()  # that the plan counts against, if requested
    warnings: tuple[PlanWarning, ...] = ()  # if requested


class CreatePlanView(Struct, frozen=True):
    """The stack and the resources of a create."""

    stack: StackView
    resources: Sequence[ResourceView]
    fingerprint: str | None = None  # accepts the plan in a request, if requested
    quotas: Sequence[Quota] = ()  # that the plan counts against, if requested
    # Imported resources, with the properties that the service does not report.
    imports: Mapping[str, Sequence[str]] = field(default_factory=dict)


class ChangeSetState(StrEnum):
    """The state of a change set, in the terms of CloudFormation."""

    UNAVAILABLE = "UNAVAILABLE"
    AVAILABLE = "AVAILABLE"
    OUTDATED = "OBSOLETE"  # the stack has changed since
    RUNNING = "EXECUTE_IN_PROGRESS"
    COMPLETE = "EXECUTE_COMPLETE"
    FAILED = "EXECUTE_FAILED"


class ChangeSetView(Struct, frozen=True):
    """A change set as its owner sees it."""

    change_set: ChangeSet
    stack: StackAddress
    state: ChangeSetState


class CauseKind(StrEnum):
    """The cause of a resource's present state."""

    PLANNING = "planning"  # the operation has not started
    DEPENDENCY = "dependency"  # waits for its dependencies
    ORDER = "order"  # removed after everything else is applied
    PAUSE = "pause"  # a pause lies between two batches
    HOOK = "hook"  # waits for a user to clear a hook
    SIGNAL = "signal"  # waits for signals
    RETRY = "retry"  # the cloud rejected a call for now; it is retried
    GATE = "gate"  # the limit of concurrent calls is reached
    CALL = "call"  # a call is in flight
    CLOUD = "cloud"  # the object is not ready
    NESTED = "nested"  # the nested stack is in progress
    FAILED = "failed"  # its last action failed
    ABORTED = "aborted"  # aborted because another resource failed
    MARKED = "marked"  # marked unhealthy: the next update replaces it
    REPLACED = "replaced"  # the object has replaced another
    NOTHING = "nothing"  # in the desired state


class MentionedObject(Struct, frozen=True):
    """Facts of a stack about an object that a message mentions."""

    id: str  # its id, or its address
    path: tuple[str, ...] | None = None  # path of its resource, if it belongs to the stack
    used_by: tuple[tuple[str, ...], ...] = ()  # resources whose properties or attributes name it


class Cause(Struct, frozen=True):
    """The cause of one resource's state."""

    kind: CauseKind
    # Names of resources, from the root stack down; empty for the stack itself.
    path: tuple[str, ...]
    stack: StackAddress
    type_name: str
    action: str
    status: str
    text: str  # includes the message of the cloud
    since: float | None = None
    physical_id: str | None = None
    waits_for: tuple[str, ...] = ()  # resources of the same stack
    signals: tuple[int, int] | None = None  # received and expected number
    hook: str | None = None
    because_of: tuple[str, ...] = ()  # properties that made a replacement necessary
    request_id: str | None = None  # of the failed request, as in the logs of the cloud
    position: Position | None = None  # of the resource, or of the first of those properties
    objects: tuple[MentionedObject, ...] = ()  # objects that `text` mentions


class Explanation(Struct, frozen=True):
    """The causes of the state of a stack, or of one of its resources."""

    stack: StackView
    since: float
    deadline: float | None  # of the operation in progress
    causes: tuple[Cause, ...]
    is_complete: bool  # false if there are more causes


class DriftedProperty(Struct, frozen=True):
    """A property that a live object has with another value than was applied."""

    name: str
    applied: Any
    live: Any
    repairable: bool  # a converging update sets it back


class DriftView(Struct, frozen=True):
    """A resource whose live object was compared with the applied properties."""

    resource: ResourceView
    state: str  # `same`, `changed`, `gone`, `unknown`; `internal` without an object
    reason: str = ""  # why the object was not compared
    properties: tuple[DriftedProperty, ...] = ()
    not_compared: tuple[str, ...] = ()  # properties that the cloud does not report

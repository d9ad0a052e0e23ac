"""Previews of creates, updates and deletes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import made_response
from stoker.api.rest.call import Call
from stoker.api.rest.requests.bodies import refuse_update_fields, stack_name, stack_request
from stoker.api.rest.requests.parameters import Flag, Parameter, Texts
from stoker.api.rest.shapes import DescribedStack, Place, described_stack, moment, place
from stoker.engine.model.views import ChangeView, PlanView, PropertyChange, ResourceView
from stoker.kernel.addresses import StackAddress
from stoker.kernel.values import replace
from stoker.schema.quotas import Quota

_SHOW_NESTED = Flag("show_nested", "With the changes inside nested stacks.")
_UNHEALTHY = Texts("unhealthy", "Resources to be seen as marked unhealthy. Stoker's own.")
FINGERPRINT = Flag(
    "fingerprint", "With the fingerprint by which a request accepts the plan. Stoker's own."
)
QUOTAS = Flag("quotas", "With the quotas that the plan counts against. Stoker's own.")
WARNINGS = Flag("warnings", "With reasons for which deletes may fail. Stoker's own.")
_CHANGES_ONLY = Flag("changes_only", "Without resources that stay as they are. Stoker's own.")
UPDATE_QUERY: tuple[Parameter, ...] = (
    _SHOW_NESTED, _UNHEALTHY, FINGERPRINT, QUOTAS, WARNINGS, _CHANGES_ONLY,
)  # fmt: skip

# Changes that the API shows as the object to be created, not as the existing one.
_NEW = ("replaced", "added")
# Changes after which the API shows the resource in its initial state.
_INITIAL = ("unchanged", *_NEW)


class Identity(TypedDict):
    """A stack or a resource with all its names."""

    tenant: str
    stack_name: str
    stack_id: str
    path: str


class PreviewedResource(TypedDict):
    """A resource that would be created, or an existing one."""

    resource_name: str
    resource_type: str
    resource_identity: Identity
    stack_identity: Identity
    stack_name: str
    required_by: tuple[str, ...]
    description: str
    metadata: Mapping[str, Any]
    properties: Mapping[str, Any]
    parent_resource: NotRequired[str]
    updated_time: NotRequired[str | None]
    creation_time: NotRequired[str | None]
    physical_resource_id: NotRequired[str]
    resource_action: NotRequired[str]
    resource_status: NotRequired[str]
    resource_status_reason: NotRequired[str]
    attributes: NotRequired[Mapping[str, Any]]
    path: NotRequired[tuple[str, ...]]


class PreviewedStack(DescribedStack):
    """A stack that would be created; nested stacks are nested lists."""

    resources: list[PreviewedResource | list[Any]]


class CountedQuota(TypedDict):
    """A quota of the project, with the use that a plan adds. No limit is null."""

    service: str
    name: str
    requested: int
    used: int
    allowed: int | None


class Warned(TypedDict):
    """A reason for which the change of a resource may fail."""

    path: tuple[str, ...]
    message: str


class CreatePreview(TypedDict):
    """The stack of a create, with its resources."""

    stack: PreviewedStack
    plan_fingerprint: str | None
    imports: NotRequired[Mapping[str, Sequence[str]]]
    quotas: NotRequired[list[CountedQuota]]


class ChangedProperty(TypedDict):
    """A property that would change."""

    name: str
    old: Any
    new: Any
    known: bool
    known_after: tuple[str, ...]


class ChangedResource(PreviewedResource):
    """A resource with its change."""

    changed_properties: list[str]
    property_changes: list[ChangedProperty]
    change_reason: str
    forced_by: tuple[str, ...]
    may_force: tuple[str, ...]
    step: int
    after: tuple[str, ...]
    interruptions: Mapping[str, str]
    keeps_object: bool
    holds_data: bool
    overwrites_data: bool
    inside: str | None
    moved_from: str | None
    imported: str | None
    not_compared: tuple[str, ...]
    resembles: str | None
    position: Place | None


class ResourceChanges(TypedDict):
    """Resources by kind of change."""

    unchanged: list[ChangedResource]
    updated: list[ChangedResource]
    replaced: list[ChangedResource]
    added: list[ChangedResource]
    deleted: list[ChangedResource]


class ChangesPreview(TypedDict):
    """The changes of an update or delete."""

    resource_changes: ResourceChanges
    plan_fingerprint: str | None
    quotas: NotRequired[list[CountedQuota]]
    warnings: NotRequired[list[Warned]]


async def preview_create(call: Call) -> Response:
    """Preview a create: the stack with its resources; nested stacks are nested lists."""
    body = await call.document()
    name = stack_name(body)
    refuse_update_fields(body)
    request = await stack_request(call, body, name=name)
    wants_quotas = QUOTAS.read(call.query)
    plan = await call.service.previews.create(
        call.caller, request, fingerprint=FINGERPRINT.read(call.query), quotas=wants_quotas
    )
    call.held.append(plan)
    stack = plan.stack

    def described() -> CreatePreview:
        shown = described_stack(call.links, replace(stack, address=_unmade(stack.address)))
        described: PreviewedStack = {**shown, "resources": _tree(plan.resources, stack.address)}
        answer: CreatePreview = {"stack": described, "plan_fingerprint": plan.fingerprint}
        if plan.imports:
            answer["imports"] = plan.imports
        if wants_quotas:
            answer["quotas"] = _quotas(plan.quotas)
        return answer

    return await made_response(call.api.compute, described)


async def preview_update(call: Call) -> Response:
    """Preview the changes by a PUT."""
    return await _preview_update(call, existing=False)


async def preview_patch(call: Call) -> Response:
    """Preview the changes by a PATCH."""
    return await _preview_update(call, existing=True)


async def _preview_update(call: Call, *, existing: bool) -> Response:
    show_nested = _SHOW_NESTED.read(call.query)
    unhealthy = frozenset(_UNHEALTHY.read(call.query))
    request = await stack_request(call, await call.document(), existing=existing)
    plan = await call.service.previews.update(
        call.caller,
        call.stack,
        request,
        show_nested=show_nested,
        unhealthy=unhealthy,
        fingerprint=FINGERPRINT.read(call.query),
        quotas=QUOTAS.read(call.query),
        warnings=WARNINGS.read(call.query),
    )
    return await _described(call, plan)


async def preview_delete(call: Call) -> Response:
    """Preview the changes by a DELETE."""
    plan = await call.service.previews.delete(
        call.caller,
        call.stack,
        fingerprint=FINGERPRINT.read(call.query),
        warnings=WARNINGS.read(call.query),
    )
    return await _described(call, plan)


async def _described(call: Call, plan: PlanView) -> Response:
    """Return the answer with the requested parts."""
    call.held.append(plan)

    def described() -> ChangesPreview:
        answer = _grouped(plan, changes_only=_CHANGES_ONLY.read(call.query))
        if QUOTAS.read(call.query):
            answer["quotas"] = _quotas(plan.quotas)
        if WARNINGS.read(call.query):
            answer["warnings"] = [
                {"path": each.path, "message": each.message} for each in plan.warnings
            ]
        return answer

    return await made_response(call.api.compute, described)


def _quotas(quotas: Sequence[Quota]) -> list[CountedQuota]:
    return [
        {
            "service": each.service,
            "name": each.name,
            "requested": each.requested,
            "used": each.used,
            "allowed": each.allowed,
        }
        for each in quotas
    ]


def _grouped(plan: PlanView, *, changes_only: bool) -> ChangesPreview:
    def those(change: str) -> list[ChangedResource]:
        return [
            _changed(each)
            for each in plan.changes
            if each.change == change and not (changes_only and _stays(each))
        ]

    found: ResourceChanges = {
        "unchanged": those("unchanged"),
        "updated": those("updated"),
        "replaced": those("replaced"),
        "added": those("added"),
        "deleted": those("deleted"),
    }
    return {"resource_changes": found, "plan_fingerprint": plan.fingerprint}


def _stays(change: ChangeView) -> bool:
    """Return whether a resource stays as it is: unchanged, under its name, and with its object."""
    is_new = change.moved_from is not None or change.imported is not None
    return change.change == "unchanged" and not is_new


def _tree(resources: Sequence[ResourceView], root: StackAddress) -> list[Any]:
    """Return resources in the API's nesting: a nested stack is a list of its resources."""
    by_stack: dict[StackAddress, list[ResourceView]] = {}
    for resource in resources:
        by_stack.setdefault(resource.stack, []).append(resource)
    return _branch(root, by_stack, ())


def _branch(
    stack: StackAddress,
    by_stack: Mapping[StackAddress, list[ResourceView]],
    above: tuple[str, ...],
) -> list[Any]:
    return [
        _branch(resource.nested, by_stack, (*above, resource.name))
        if resource.nested
        else _previewed(resource, above)
        for resource in by_stack.get(stack, ())
    ]


def _previewed(resource: ResourceView, above: tuple[str, ...]) -> PreviewedResource:
    return {
        **_shown(replace(resource, stack=_unmade(resource.stack))),
        "updated_time": None,
        "creation_time": None,
        "physical_resource_id": resource.physical_id or "",
        "resource_action": resource.action,
        "resource_status": resource.status,
        "resource_status_reason": resource.reason,
        "attributes": resource.attributes or {},
        "path": (*above, resource.name),
    }


def _unmade(stack: StackAddress) -> StackAddress:
    """Return the address of a stack that does not exist: its id is the word None, as in Heat."""
    return replace(stack, id="None")


def _changed(change: ChangeView) -> ChangedResource:
    new, initial = change.change in _NEW, change.change in _INITIAL
    resource = change.resource
    return {
        **_shown(resource),
        "updated_time": None if new else moment(resource.updated_at),
        "creation_time": None if new else moment(resource.created_at),
        "physical_resource_id": "" if new else resource.physical_id or "",
        "resource_action": "INIT" if initial else resource.action,
        "resource_status": "COMPLETE" if initial else resource.status,
        "resource_status_reason": "" if initial else resource.reason,
        "attributes": {},
        "changed_properties": [changed.name for changed in change.changed_properties],
        "property_changes": [_property(changed) for changed in change.changed_properties],
        "change_reason": change.cause,
        "forced_by": change.forcing,
        "may_force": change.may_force,
        "path": change.path,
        "step": change.step,
        "after": change.after,
        "interruptions": change.interruptions,
        "keeps_object": change.keeps_object,
        "holds_data": change.holds_data,
        "overwrites_data": change.overwrites_data,
        "inside": change.inside,
        "moved_from": change.moved_from,
        "imported": change.imported,
        "not_compared": change.not_compared,
        "resembles": change.resembles,
        "position": None if change.position is None else place(change.position),
    }


def _property(changed: PropertyChange) -> ChangedProperty:
    return {
        "name": changed.name,
        "old": changed.old,
        "new": changed.new,
        "known": changed.known,
        "known_after": changed.known_after,
    }


def _shown(view: ResourceView) -> PreviewedResource:
    shown: PreviewedResource = {
        "resource_name": view.name,
        "resource_type": view.type_name,
        "resource_identity": _identity(view.stack, f"/resources/{view.name}"),
        "stack_identity": _identity(view.stack, ""),
        "stack_name": view.stack.name,
        "required_by": view.required_by,
        "description": view.description,
        "metadata": view.metadata,
        "properties": view.properties,
    }
    if view.parent_resource is not None:
        shown["parent_resource"] = view.parent_resource
    return shown


def _identity(stack: StackAddress, path: str) -> Identity:
    return {
        "tenant": stack.project_id,
        "stack_name": stack.name,
        "stack_id": stack.id,
        "path": path,
    }

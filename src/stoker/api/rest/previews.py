"""Previews: what a create or an update would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import made_response
from stoker.api.rest.bodies import refuse_converge, stack_name, stack_request
from stoker.api.rest.call import Call
from stoker.api.rest.shapes import described_stack, moment
from stoker.api.rest.values import query_flag, several
from stoker.engine.model.views import ChangeView, PlanView, ResourceView
from stoker.kernel.addresses import StackAddress

_CHANGES = ("unchanged", "updated", "replaced", "added", "deleted")
_NEW = ("replaced", "added")
"""Changes that the API shows as the object to be made, not as the existing one."""
_INITIAL = ("unchanged", *_NEW)
"""Changes after which the API shows the resource in its initial state."""


async def preview_create(call: Call) -> Response:
    """The stack that a create would make, with its resources; nested stacks are nested lists."""
    body = await call.document()
    name = stack_name(body)
    refuse_converge(body)
    request = await stack_request(call, body, name=name)
    stack, resources, plan = await call.service.previews.create(call.caller, request)

    def described() -> dict[str, Any]:
        shown = described_stack(call.links, replace(stack, address=_unmade(stack.address)))
        described = {**shown, "resources": _tree(resources, stack.address)}
        return {"stack": described, "plan_fingerprint": plan}

    return await made_response(described)


async def preview_update(call: Call) -> Response:
    """What a PUT would change."""
    return await _preview_update(call, existing=False)


async def preview_patch(call: Call) -> Response:
    """What a PATCH would change."""
    return await _preview_update(call, existing=True)


async def _preview_update(call: Call, *, existing: bool) -> Response:
    show_nested = query_flag(call.query, "show_nested")
    unhealthy = frozenset(several(call.query, "unhealthy"))
    request = await stack_request(call, await call.document(), existing=existing)
    plan = await call.service.previews.update(
        call.caller, call.stack, request, show_nested=show_nested, unhealthy=unhealthy
    )
    return await made_response(lambda: _grouped(plan))


async def preview_delete(call: Call) -> Response:
    """What a DELETE would remove."""
    plan = await call.service.previews.delete(call.caller, call.stack)
    return await made_response(lambda: _grouped(plan))


def _grouped(plan: PlanView) -> dict[str, Any]:
    found: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in _CHANGES}
    for change in plan.changes:
        found[change.change].append(_changed(change))
    return {"resource_changes": found, "plan_fingerprint": plan.fingerprint}


def _tree(resources: Sequence[ResourceView], root: StackAddress) -> list[Any]:
    """Resources as the API nests them: a nested stack stands as a list of its resources."""
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
        else {**_previewed(resource), "path": (*above, resource.name)}
        for resource in by_stack.get(stack, ())
    ]


def _previewed(resource: ResourceView) -> dict[str, Any]:
    unmade = _shown(replace(resource, stack=_unmade(resource.stack)))
    return unmade | {
        "updated_time": None,
        "creation_time": None,
        "physical_resource_id": resource.physical_id or "",
        "resource_action": resource.action,
        "resource_status": resource.status,
        "resource_status_reason": resource.reason,
        "attributes": resource.attributes or {},
    }


def _unmade(stack: StackAddress) -> StackAddress:
    """The address that the API shows for a stack that does not exist: its id is a word."""
    return replace(stack, id="None")


def _changed(change: ChangeView) -> dict[str, Any]:
    new, initial = change.change in _NEW, change.change in _INITIAL
    resource = change.resource
    return _shown(resource) | {
        "updated_time": None if new else moment(resource.updated_at),
        "creation_time": None if new else moment(resource.created_at),
        "physical_resource_id": "" if new else resource.physical_id or "",
        "resource_action": "INIT" if initial else resource.action,
        "resource_status": "COMPLETE" if initial else resource.status,
        "resource_status_reason": "" if initial else resource.reason,
        "attributes": {},
        "changed_properties": [changed.name for changed in change.changed_properties],
        "property_changes": [asdict(changed) for changed in change.changed_properties],
        "change_reason": change.cause,
        "forced_by": change.forcing,
        "may_force": change.may_force,
        "path": change.path,
        "step": change.step,
        "after": change.after,
        "interruptions": change.interruptions,
        "keeps_object": change.keeps_object,
        "inside": change.inside,
        "position": None if change.position is None else asdict(change.position),
    }


def _shown(view: ResourceView) -> dict[str, Any]:
    shown = {
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


def _identity(stack: StackAddress, path: str) -> dict[str, str]:
    return {
        "tenant": stack.project_id,
        "stack_name": stack.name,
        "stack_id": stack.id,
        "path": path,
    }

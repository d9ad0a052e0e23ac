"""Turns rows into views. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.calls.build import name_of_object
from stoker.engine.execution.calls.hooks import hook_of, pause_reason
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import defined
from stoker.engine.model.records import Action, Event, Resource, Stack, Status
from stoker.engine.model.views import EventView, ResourceView, StackView
from stoker.kernel.addresses import StackAddress
from stoker.schema.resource_type import ResourceType
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition, Output
from stoker.template.describe.description import learned_types
from stoker.template.describe.parameters import environment_of_stack, shown_parameters
from stoker.template.evaluate.evaluation import Evaluation, in_tree
from stoker.template.evaluate.inputs import pseudo_parameters
from stoker.template.evaluate.static_analysis import RecordedReferences


def _shown(evaluation: Evaluation) -> dict[str, str]:
    """Return the parameters of a stack for display."""
    inputs = evaluation.inputs
    declared = evaluation.resolved.declarations
    pseudo = pseudo_parameters(evaluation.template.version, inputs.identity)
    return shown_parameters(declared, evaluation.parameters, inputs.specified(declared), pseudo)


def stack_view(
    stack: Stack,
    evaluation: Evaluation | None = None,
    outputs: tuple[Output, ...] | None = None,
) -> StackView:
    """Return the view of a stack's row. An operation that waits to start counts as in progress."""
    waiting = stack.requested is not None and stack.deleted_at is None
    action = stack.requested if waiting and stack.requested else stack.action
    return StackView(
        address=stack.address,
        action=action.value,
        status=Status.IN_PROGRESS.value if waiting else stack.status.value,
        reason=f"Stack {action} started" if waiting else stack.reason,
        created_at=stack.created_at,
        updated_at=stack.updated_at,
        deleted_at=stack.deleted_at,
        description=stack.description,
        parameters=_shown(evaluation) if evaluation else {},
        outputs=outputs,
        timeout_mins=stack.timeout_mins,
        disable_rollback=stack.disable_rollback,
        owner=stack.user_name or None,
        parent_id=stack.parent_id,
        user_project_id=stack.user_project_id,
        tags=stack.tags,
        nested_depth=stack.depth,
        was_complete=stack.good_input_id is not None,
        is_import=stack.is_import,
    )


def is_emptied(stack: Stack) -> bool:
    """Return whether the stack was rolled back to nothing after its creation failed."""
    rolled_back = (stack.action, stack.status) == (Action.ROLLBACK, Status.COMPLETE)
    return rolled_back and stack.good_input_id is None


def row_to_be(ports: Ports, stack: Stack, evaluation: Evaluation, name: str) -> Resource:
    """Return a row for a resource that does not exist yet."""
    definition = defined(evaluation, name, RecordedReferences())
    now = ports.clock.now()
    return Resource(
        id=ports.ids.uuid(),
        stack_id=stack.id,
        name=name,
        type_name=definition.type_name,
        token=ports.ids.token(),
        created_at=now,
        updated_at=now,
        properties=definition.properties,
        metadata=definition.metadata,
        description=definition.description,
        dependencies=tuple(definition.dependencies),
    )


def attributes_to_be(definition: Definition) -> dict[str, Any]:
    """Return the attributes of a resource to be created; None for unknown ones."""
    type_ = definition.type
    foreseen = type_.foreseen(definition.properties)
    known = {name: value for name, value in foreseen.items() if unknown_in(value) is None}
    return {**dict.fromkeys(type_.attributes), **known}


def resource_view(
    stack: Stack,
    row: Resource,
    required_by: Sequence[str],
    attributes: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    note: str | None = None,
) -> ResourceView:
    """Return the view of a resource's row; ``note`` explains why its attributes may be old."""
    nested = None
    if row.nested_id is not None:
        name = name_of_object(stack.name, row, 255)
        nested = StackAddress(stack.project_id, name, row.nested_id)
    action = Action.CHECK if _failed_check(stack, row) else row.action
    return ResourceView(
        stack=stack.address,
        name=row.name,
        id=row.id,
        physical_id=row.physical_id,
        type_name=row.type_name,
        action=action.value,
        status=row.status.value,
        reason=row.reason,
        created_at=row.created_at,
        updated_at=row.updated_at,
        required_by=tuple(required_by),
        parent_resource=stack.parent_resource,
        nested=nested,
        description=row.description,
        attributes=attributes,
        attributes_note=note,
        metadata=row.metadata if metadata is None else metadata,
        waiting_for=_waiting_for(stack, row),
        properties=row.properties,
    )


def _failed_check(stack: Stack, row: Resource) -> bool:
    """Return whether the last check of the stack failed at a resource whose creation had failed.

    The row stays as it was, because the next update depends on the failed creation.
    """
    checked = (stack.action, stack.status) == (Action.CHECK, Status.FAILED)
    return checked and (row.action, row.status) == (Action.CREATE, Status.FAILED)


def _waiting_for(stack: Stack, row: Resource) -> str | None:
    hook = hook_of(row)
    if hook is not None and stack.status is Status.IN_PROGRESS:
        return pause_reason(hook)
    return row.reason if row.status is Status.IN_PROGRESS else None


def environment_view(evaluation: Evaluation) -> dict[str, Any]:
    """Return the environment of a stack, with the parameters of its requests.

    It evaluates nested stacks, so it is for threads.
    """
    inputs = evaluation.inputs
    return environment_of_stack(
        inputs.environment.with_parameters(inputs.parameters),
        evaluation.resolved.declarations,
        learned_types(evaluation),
        [each.resolved.declarations for each in in_tree(evaluation)],
    )


def event_view(
    stack: Stack, event: Event, ports: Ports, root: StackAddress | None = None
) -> EventView:
    """Return the view of an event; ``root`` is the stack whose tree was requested."""
    properties = event.properties
    if properties is not None:
        properties = _specified(ports.types.find(event.resource_type), properties)
    return EventView(
        id=event.id,
        stack=stack.address,
        time=event.time,
        action=event.action.value,
        status=event.status.value,
        reason=event.reason,
        resource_name=event.resource_name,
        resource_type=event.resource_type,
        physical_id=event.physical_id,
        properties=properties,
        root_stack=root,
        client_token=event.client_token,
    )


def _specified(type_: ResourceType | None, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that differ from the defaults of the type."""
    declared = {} if type_ is None else type_.properties
    defaults = {name: declared[name].default for name in properties if name in declared}
    return {
        name: value
        for name, value in properties.items()
        if value is not None and value != defaults.get(name)
    }


def matches(view: ResourceView, filters: Mapping[str, tuple[str, ...]]) -> bool:
    """Return whether a resource matches the filters of a request."""
    shown = {
        "type": view.type_name,
        "name": view.name,
        "action": view.action,
        "status": view.status,
        "id": view.id,
        "physical_resource_id": view.physical_id,
    }
    return all(shown.get(name) in values for name, values in filters.items())

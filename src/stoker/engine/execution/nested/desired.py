"""The desired state of nested stacks: the template and the input of each.

Reads stored rows and asks types that nest. Nothing here writes: operations, previews and the check
of settled stacks share these functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.inputs import input_of_nested
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Adopted, Input, Resource, Stack, Status
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Nested, NestingCall, NestingType, Referred
from stoker.template.definition import Definition
from stoker.template.evaluate.nested_stacks import is_foreseen
from stoker.template.evaluate.policies import policy_in_force
from stoker.template.evaluate.type_resolver import TemplateType


async def _template(
    stack_rows: StackRows, nested: Nested, own: Input
) -> str | Mapping[str, Any] | None:
    """Return the template of a nested stack. Raises NestedFailedError if a fetch fails."""
    if nested.template is not None or nested.url is None:
        return nested.template
    # The URL was not known when the request was accepted, so it was not fetched then.
    try:
        return own.files.get(nested.url) or await stack_rows.ports.fetch_template(nested.url)
    except RequestError as refused:
        raise NestedFailedError(refused.message) from refused


async def foreseen(
    stack_rows: StackRows,
    row: Resource,
    definition: Definition,
    attributes: frozenset[str],
    own: Input,
) -> tuple[Stack, Input, Nested] | None:
    """Return the nested stack of a row, its input after an update, and the answer of its type.

    Returns None while that is unknown. ``own`` is the input of the parent after the update. Raises
    :class:`NestedFailedError`.
    """
    if not is_foreseen(definition):
        return None
    child = await child_of(stack_rows, row)
    if child is None:
        return None
    nested = await desired_nested(stack_rows, row, definition, attributes, child, child.address.arn)
    stack_input = await input_from(stack_rows, own, child.id, definition, nested)
    return child, stack_input, nested


async def desired_nested(
    stack_rows: StackRows,
    row: Resource,
    definition: Definition,
    attributes: frozenset[str],
    child: Stack | None,
    reference: str,
    adopted: Adopted | None = None,
) -> Nested:
    """Return the nested stack that the definition describes.

    ``child`` is the present stack, ``adopted`` the data of one to adopt.
    """
    assert isinstance(definition.type, NestingType)
    # A template needs no members, and reading them takes long.
    has_members = child is not None and not isinstance(definition.type, TemplateType)
    members = await _members(stack_rows, child) if has_members else {}
    call = replace(
        nesting_call(stack_rows, row),
        properties=definition.properties,
        attributes_used=attributes,
        update_policy=policy_in_force(definition),
        previous=row.properties if child is not None else {},
        members={name: stack_rows.reference_of(member) for name, member in members.items()},
        failed_members=frozenset(name for name in members if _has_failed(members[name])),
        reference=reference,
        referred=_referred(stack_rows, definition),
    )
    if definition.snapshot is not None:
        # The members of a restored group are those of the snapshot.
        call = replace(call, data=definition.snapshot, previous=definition.properties)
    if adopted is not None:
        call = replace(
            call,
            previous=definition.properties,
            data=adopted.names,
            members=adopted.members,
        )
    type_ = definition.type
    return await stack_rows.ports.workers.compute(lambda: type_.nested(call))


def _referred(stack_rows: StackRows, definition: Definition) -> dict[str, Referred]:
    """Return the resources that a definition depends on, by reference."""
    rows = filter(None, map(stack_rows.current.get, definition.dependencies))
    return {
        str(stack_rows.reference_of(row)): Referred(row.implementation, row.data, row.metadata)
        for row in rows
    }


async def child_of(stack_rows: StackRows, row: Resource) -> Stack | None:
    """Return the nested stack of a row, also a deleted one; None if it was never created."""
    if row.nested_id is None:
        return None
    return await stack_rows.ports.store.stack(row.nested_id)


async def _members(stack_rows: StackRows, child: Stack | None) -> dict[str, Resource]:
    """Return the nested stack's resources by name."""
    if child is None:
        return {}
    rows = await stack_rows.ports.store.resources(child.id)
    return {row.name: row for row in rows if row.replaced_by is None}


async def input_from(
    stack_rows: StackRows, own: Input, child_id: str, definition: Definition, nested: Nested
) -> Input:
    """Return the input of a nested stack; ``own`` is the input of its parent."""
    template = await _template(stack_rows, nested, own)
    input_id = stack_rows.ports.ids.uuid()

    def make_input() -> Input:
        return input_of_nested(input_id, child_id, definition, nested, own, template)

    return await stack_rows.ports.workers.compute(make_input)


def nesting_call(stack_rows: StackRows, row: Resource) -> NestingCall:
    """Return a call to the type of a row that nests, with the present row."""
    return NestingCall(
        row.name, row.id, row.properties, data=row.data, now=stack_rows.ports.clock.now()
    )


def _has_failed(member: Resource) -> bool:
    return member.status is Status.FAILED or member.unhealthy

"""Attributes that a nested stack has in its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.session import StackRows, stack_rows_at
from stoker.engine.model.records import Resource, Stack
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.facts import ERRORS, HIDDEN, REFERENCE, RecordedFacts, ReferenceOf
from stoker.kernel.values import replace
from stoker.schema.properties import Type
from stoker.schema.resource_type import NestingType, ResourceType
from stoker.template.definition import Output
from stoker.template.evaluate.type_resolver import STACK_ID, TemplateType


async def nested_attributes(
    above: StackRows, child: Stack, type_: ResourceType | None
) -> dict[str, Any]:
    """Return the attributes of a nested stack in its parent ``above``."""
    ports = above.ports
    evaluation = await evaluation_at(ports, child, child.input_id)
    current = (await stack_rows_at(ports, child, None)).current
    facts = RecordedFacts(current, above.reference_of)
    return await ports.workers.compute(
        lambda: shown_by(evaluation.outputs(facts), current, above.reference_of, type_)
    )


def shown_by(
    outputs: Sequence[Output],
    current: Mapping[str, Resource],
    reference_of: ReferenceOf,
    type_: ResourceType | None,
) -> dict[str, Any]:
    """Return the attributes of a stack: outputs by name, and those of its resources.

    A resource type that nests may show all of them as ``outputs``; a template shows its outputs
    only.
    """
    values = {output.name: output.value for output in outputs if output.error is None}
    errors = {output.name: output.error for output in outputs if output.error is not None}
    inner = {f"resource.{name}": reference_of(row) for name, row in current.items()}
    deeper = {
        f"resource.{name}.{attribute}": value
        for name, row in current.items()
        for attribute, value in row.attributes.items()
        if attribute not in HIDDEN
    }
    shown: dict[str, Any] = values
    if isinstance(type_, NestingType):
        shown = {type_.attribute_of(name): value for name, value in values.items()}
        shown = {name: _declared(type_, name, value) for name, value in shown.items()}
        shown = {"outputs": values, **shown}
        errors = {type_.attribute_of(name): error for name, error in errors.items()}
    if errors:
        shown = {**shown, ERRORS: errors}
    return {**inner, **deeper, **shown}


def _declared(type_: ResourceType, name: str, value: Any) -> Any:
    """Return a value as its attribute declares it. Nested stacks from Heat list texts in a map."""
    attribute = type_.attributes.get(name)
    is_listed = isinstance(value, Mapping) and all(isinstance(v, str) for v in value.values())
    if attribute is not None and attribute.type is Type.STRING and is_listed:
        return ",".join(value.values())
    return value


def with_shown(row: Resource, shown: Mapping[str, Any], reference: Any) -> Resource:
    """Return the row of a nested stack with these attributes; ``reference`` is the stack's own.

    A stack that was taken over keeps the reference that other resources were created with.
    """
    reference = row.origin.get("reference", reference)
    if row.implementation == TemplateType.implementation:
        reference = shown.get(STACK_ID) or reference
    return replace(row, attributes={**shown, REFERENCE: reference})

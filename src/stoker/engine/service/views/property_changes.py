"""The properties that an update changes: their values before and after, as far as known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from stoker.engine.execution.nested.preview_tree import PreviewedStack, facts_amid
from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.session import StackRows
from stoker.engine.model.plans import Change, Drift, Node, Step, defined
from stoker.engine.model.records import Resource
from stoker.engine.model.secrets import generated_secrets, hidden_values
from stoker.engine.model.views import PropertyChange
from stoker.engine.planning.stack_secrets import masking_at
from stoker.kernel.logs.masking import MASK, Masking
from stoker.schema.comparison import changed_properties
from stoker.schema.properties import Interruption, Property
from stoker.schema.resource_type import Replaces, can, changes_in_place
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation


class Compared(Struct, frozen=True):
    """Differences between a resource and its definition, and the effects on the object."""

    changes: tuple[PropertyChange, ...] = ()
    # Effects of changes in place on an object in use, by property.
    interruptions: Mapping[str, str] = field(default_factory=dict)
    # Properties that need a new object if they change, which is not known yet.
    may_force: tuple[str, ...] = ()
    overwrites_data: bool = False  # a change in place overwrites data of users


async def masking_over(stack_rows: StackRows, others: Iterable[Evaluation]) -> Masking:
    """Return a masking of the secrets of a stack and its nested stacks, before and after.

    It also has the hidden parameters of all stacks above.
    """
    ports, stack = stack_rows.ports, stack_rows.stack
    found = [value for evaluation in others for value in hidden_values(evaluation)]
    pending: list[Iterable[Resource]] = [stack_rows.rows.values()]
    while pending:
        for row in pending.pop():
            type_ = ports.types.find(row.implementation)
            if type_ is not None:
                found += generated_secrets(row, type_)
            if row.nested_id is not None:
                pending.append(await ports.store.resources(row.nested_id))
    masking = await ports.workers.compute(lambda: Masking(found))
    return masking | await masking_at(ports, stack, stack_rows.rows.values())


def compared(foreseen: PreviewedStack, masking: Masking) -> dict[str, Compared]:
    """Return the differences of resources whose properties change or may, with masked secrets."""
    stack_rows = foreseen.stack_rows
    facts = facts_amid(stack_rows, foreseen.plan, foreseen.to_be)
    found = {}
    for node in foreseen.plan.nodes(Step.APPLY):
        row = stack_rows.current.get(node.name)
        if row is None or not (node.changed or node.change is Change.LATER):
            continue
        definition = defined(foreseen.evaluation, node.name, facts)
        drift = foreseen.observed.drifted.get(row.id, {})
        found[node.name] = _compared(stack_rows, row, definition, node, masking, drift)
    return found


def _compared(
    stack_rows: StackRows,
    row: Resource,
    definition: Definition,
    node: Node,
    masking: Masking,
    drift: Drift,
) -> Compared:
    schema, desired = definition.type.properties, definition.properties
    names = node.changed or tuple(sorted(changed_properties(schema, row.properties, desired)))
    changes = tuple(_property_change(name, row, definition, masking, drift) for name in names)
    if node.change is Change.REPLACE:
        return Compared(changes)
    may_force: tuple[str, ...] = ()
    if node.change is Change.LATER:
        may_force = _may_force(stack_rows, row, definition, names)
    found = {name: _effect(schema.get(name), desired) for name in names if name not in may_force}
    effects = {name: effect for name, effect in found.items() if effect is not None}
    return Compared(
        changes,
        {name: effect.effect for name, effect in effects.items()},
        may_force,
        any(effect.overwrites_data for effect in effects.values()),
    )


def _property_change(
    name: str,
    row: Resource,
    definition: Definition,
    masking: Masking,
    drift: Drift,
) -> PropertyChange:
    old, new = row.properties.get(name), definition.properties.get(name)
    if name in drift:
        old, new = drift[name].live, drift[name].applied if new is None else new
    unknown = unknown_in(new)
    known, after = unknown is None, () if unknown is None else tuple(sorted(unknown.sources))
    declared = definition.type.properties.get(name)
    sensitive = declared is not None and declared.sensitive
    if sensitive:
        return PropertyChange(name, MASK, MASK if known else None, known, after)
    # Mask only the secrets inside a value, so that a plan still shows other changes in it.
    masked = masking.data(new) if known else None
    return PropertyChange(name, masking.data(old), masked, known, after)


def _effect(declared: Property | None, desired: Mapping[str, Any]) -> Interruption | None:
    """Return the interruption that a change of the property causes, or None."""
    interruption = None if declared is None else declared.interruption
    if interruption is None:
        return None
    if interruption.unless is not None:
        name, value = interruption.unless
        if desired.get(name) == value:
            return None
    return interruption


def _may_force(
    stack_rows: StackRows, row: Resource, definition: Definition, names: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the properties that may require a new object."""
    type_ = definition.type
    if not changes_in_place(type_):
        return names
    forcing = tuple(
        name
        for name in names
        if name in type_.properties and not type_.properties[name].update_allowed
    )
    if forcing or not can(type_, Replaces):
        return forcing
    try:
        needed = type_.needs_replacement(call_about(stack_rows)(row, definition, frozenset(names)))
    except Exception:  # noqa: BLE001 - a type need not know what to do with unknown values
        needed = True
    return names if needed else ()

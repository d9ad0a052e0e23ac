"""The properties that an update would change: their values before and after, as far as known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change, Node, defined
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.secrets import generated_secrets, hidden_values
from stoker.engine.model.views import PropertyChange
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.masking import MASK, Masking
from stoker.schema.comparison import changed_properties
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation


async def secrets_in(
    ports: Ports, stack: Stack, rows: Sequence[Resource], wanted: Evaluation
) -> list[Any]:
    """The secrets in a stack of these rows and those nested in it, before an update and after."""
    earlier = ports.kept.get(stack.input_id)
    evaluations = [wanted] if earlier is None else [wanted, earlier]
    found = [value for evaluation in evaluations for value in hidden_values(evaluation)]
    pending = [rows]
    while pending:
        for row in pending.pop():
            type_ = ports.types.find(row.implementation)
            if type_ is not None:
                found += generated_secrets(row, type_)
            if row.nested_id is not None:
                pending.append(await ports.store.resources(row.nested_id))
    return found


def property_changes(
    stack_rows: StackRows,
    evaluation: Evaluation,
    planned: Mapping[str, Node],
    secrets: Iterable[Any],
) -> dict[str, tuple[PropertyChange, ...]]:
    """Of resources whose properties change: their values before and after, as far as known now.

    Values with secrets in them are masked.
    """

    def is_another(name: str) -> bool:
        return name in planned and planned[name].change not in (Change.KEEP, Change.UPDATE)

    facts = RecordedFacts(
        stack_rows.current, stack_rows.reference_of, is_another, lambda name: name in planned
    )
    masking = Masking(secrets)
    found = {}
    for name, node in planned.items():
        row = stack_rows.current.get(name)
        if row is None or not (node.changed or node.change is Change.LATER):
            continue
        definition = defined(evaluation, name, facts)
        schema, wanted = definition.type.properties, definition.properties
        names = node.changed or sorted(changed_properties(schema, row.properties, wanted))
        found[name] = tuple(_property_change(each, row, definition, masking) for each in names)
    return found


def _property_change(
    name: str, row: Resource, definition: Definition, masking: Masking
) -> PropertyChange:
    old, new = row.properties.get(name), definition.properties.get(name)
    unknown = unknown_in(new)
    known, after = unknown is None, () if unknown is None else tuple(sorted(unknown.sources))
    declared = definition.type.properties.get(name)
    sensitive = declared is not None and declared.sensitive
    if sensitive or masking.data(old) != old or (known and masking.data(new) != new):
        return PropertyChange(name, MASK, MASK if known else None, known, after)
    return PropertyChange(name, old, new if known else None, known, after)

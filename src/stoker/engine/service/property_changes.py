"""The properties that an update would change: their values before and after, as far as known."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.engine.execution.session import Session
from stoker.engine.model.plans import Change, Node, defined
from stoker.engine.model.records import Resource
from stoker.engine.model.secrets import masking_of
from stoker.engine.model.views import PropertyChange
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.masking import MASK, Masking
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation


def property_changes(
    session: Session, evaluation: Evaluation, planned: Mapping[str, Node]
) -> dict[str, tuple[PropertyChange, ...]]:
    """Of resources whose properties change: their values before and after, as far as known now."""

    def is_another(name: str) -> bool:
        return name in planned and planned[name].change not in (Change.KEEP, Change.UPDATE)

    facts = RecordedFacts(
        session.current, session.reference_of, is_another, lambda name: name in planned
    )
    masking = masking_of(evaluation)
    found = {}
    for name, node in planned.items():
        row = session.current.get(name)
        if row is None or not node.changed:
            continue
        definition = defined(evaluation, name, facts)
        found[name] = tuple(
            _property_change(each, row, definition, masking) for each in node.changed
        )
    return found


def _property_change(
    name: str, row: Resource, definition: Definition, masking: Masking
) -> PropertyChange:
    old, new = row.properties.get(name), definition.properties.get(name)
    if unknown_in(new) is not None:
        return PropertyChange(name, old, None, known=False)
    declared = definition.type.properties.get(name)
    if (declared is not None and declared.sensitive) or masking.data(new) != new:
        return PropertyChange(name, MASK, MASK)
    return PropertyChange(name, old, new)

"""What has to happen to one resource: a comparison of its row with its definition.

The planner decides with it, and so does execution, when a value that was unknown has arrived.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from stoker.engine.records import Action, Resource, Status
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.schema.comparison import changed_properties
from stoker.schema.resource_type import Call, Nests, Replaces, Updates, can
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition


class Change(StrEnum):
    """What happens to a resource."""

    CREATE = "create"
    CONTINUE = "continue"
    """An earlier operation has begun just this; it goes on."""
    UPDATE = "update"
    REPLACE = "replace"
    KEEP = "keep"
    LATER = "later"
    """It depends on a value that does not exist yet."""
    REMOVE = "remove"
    PAUSE = "pause"
    """Nothing happens for a while, between two batches."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The change, and what makes it necessary."""

    change: Change
    changed: frozenset[str] = frozenset()
    """Names of the properties that differ."""
    by_property: bool = False
    """A replacement because a property cannot be changed in place."""


CallFor = Callable[[Resource, Definition, frozenset[str]], Call]
"""Makes the call with which a type is asked about a change."""

KEEP = Decision(Change.KEEP)
REPLACE = Decision(Change.REPLACE)
LATER = Decision(Change.LATER)


def decide(
    row: Resource | None, definition: Definition, call_for: CallFor, usable: frozenset[str]
) -> Decision:
    """What brings the row to the definition.

    ``usable`` holds the ids of failed rows whose objects were found to be fine; the objects of
    other failed rows are replaced, but for nested stacks, whose own rows tell more.
    """
    if row is None or row.action is Action.INIT:
        return Decision(Change.CREATE)
    if definition.external_id is not None or row.external:
        same = row.external and definition.external_id == row.physical_id
        return KEEP if same and row.status is Status.COMPLETE else REPLACE
    if row.unhealthy or _other_type(row, definition) or row.action is Action.DELETE:
        return REPLACE
    if row.status is Status.FAILED and row.nested_id is None and row.id not in usable:
        return REPLACE
    if unknown_in(definition.properties) or unknown_in(definition.metadata):
        return LATER
    if row.action is Action.CREATE and row.status is not Status.COMPLETE:
        schema = definition.type.properties
        if not changed_properties(schema, row.properties, definition.properties):
            return Decision(Change.CONTINUE)
        if row.nested_id is None:
            return REPLACE
    return _compare(row, definition, call_for)


def _other_type(row: Resource, definition: Definition) -> bool:
    if row.type_name == definition.type_name:
        return False
    # a nested stack becomes another nested stack in place
    return not (isinstance(definition.type, Nests) and row.nested_id is not None)


def _compare(row: Resource, definition: Definition, call_for: CallFor) -> Decision:
    schema = definition.type.properties
    changed = changed_properties(schema, row.properties, definition.properties)
    changed |= frozenset(row.dirty)
    refuse_immutable(definition, changed)
    if changed:
        updatable = isinstance(definition.type, Updates | Nests) and all(
            name not in schema or schema[name].update_allowed for name in changed
        )
        if not updatable:
            return Decision(Change.REPLACE, changed, by_property=True)
        if isinstance(definition.type, Replaces) and definition.type.needs_replacement(
            call_for(row, definition, changed)
        ):
            return Decision(Change.REPLACE, changed, by_property=True)
    unfinished = row.status is not Status.COMPLETE
    if changed or unfinished or can(definition.type, Nests) or _differs(row, definition):
        return Decision(Change.UPDATE, changed)
    return KEEP


def _differs(row: Resource, definition: Definition) -> bool:
    """Whether anything but the properties differs."""
    return (
        dict(row.metadata) != dict(definition.metadata)
        or set(row.needs) != set(definition.needs)
        or row.deletion_policy != definition.deletion_policy
        or dict(row.update_policy) != dict(definition.update_policy)
    )


def refuse_immutable(definition: Definition, changed: frozenset[str]) -> None:
    """Raise DiagnosticError when a property changes that is declared immutable."""
    schema = definition.type.properties
    fixed = sorted(name for name in changed if name in schema and schema[name].immutable)
    if fixed:
        raise DiagnosticError(
            Diagnostic(
                code="immutable-property",
                message=f"{name} cannot be changed once {definition.name} exists;"
                " give it its old value, or rename the resource to make a new one",
                path=("resources", definition.name, "properties", name),
                error_type="NotSupported",
            )
            for name in fixed
        )

"""Decision about one resource: a comparison of its row with its definition.

The planner uses it, and so does execution when an unknown value has become known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.model.plans import Change, Observed, Reason
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import NOT_SUPPORTED
from stoker.kernel.values import replace
from stoker.schema.comparison import changed_properties
from stoker.schema.resource_type import (
    Call,
    MakesStack,
    NestingType,
    Replaces,
    Snapshots,
    UpdatesAnyway,
    can,
    changes_in_place,
)
from stoker.schema.unknown import Unknown, unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluate.type_resolver import TemplateType


class Decision(Struct, frozen=True):
    """The change, and its reason."""

    change: Change
    reason: Reason
    changed: frozenset[str] = frozenset()
    """Names of the properties that differ."""
    forcing: frozenset[str] = frozenset()
    """Those of them that cannot be changed in place."""
    keeps_object: bool = False
    """Of a change that is not known yet: it can only be made in place."""


CallFor = Callable[[Resource, Definition, frozenset[str]], Call]
"""Makes the call with which a type is asked about a change."""

KEEP = Decision(Change.KEEP, Reason.SAME)
LATER = Decision(Change.LATER, Reason.UNKNOWN)
NEW = Decision(Change.CREATE, Reason.NEW)


def given_properties(definition: Definition) -> Mapping[str, Any]:
    """Return the properties for an object: those of the template, or restored ones."""
    type_, snapshot = definition.type, definition.snapshot
    if snapshot is None or not can(type_, Snapshots):
        return definition.properties
    return type_.restored(definition.properties, snapshot)


def decide(
    row: Resource | None, definition: Definition, call_for: CallFor, observed: Observed
) -> Decision:
    """Return the change from the row to the definition.

    Objects of failed rows are replaced unless they are observed to be healthy. Nested stacks are
    not, as their own rows have the details.

    Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
    """
    if row is None or row.action is Action.INIT:
        return NEW
    if definition.external_id is not None or row.external:
        return _decide_external(row, definition)
    lost = _lost(row, definition, observed)
    if lost is not None:
        return Decision(Change.REPLACE, lost)
    if unknown_in(definition.properties) or unknown_in(definition.metadata):
        return _later(row, definition, observed)
    if row.action is Action.ADOPT and row.status is Status.IN_PROGRESS:
        return Decision(Change.CONTINUE, Reason.UNFINISHED)
    if row.action is Action.CREATE and row.status is not Status.COMPLETE:
        schema = definition.type.properties
        # an object of an earlier operation is none of the snapshot's
        other = row.status is Status.FAILED and _brought_back(definition)
        if not other and not changed_properties(schema, row.properties, definition.properties):
            return Decision(Change.CONTINUE, Reason.UNFINISHED)
        if row.nested_id is None:
            return Decision(Change.REPLACE, Reason.UNFINISHED)
    return _compare(row, definition, call_for, observed)


def _later(row: Resource, definition: Definition, observed: Observed) -> Decision:
    """A decision that waits for values; whether they can make a new object necessary is known."""
    type_ = definition.type
    is_unfinished = row.status is not Status.COMPLETE or bool(row.dirty)
    decides_itself = can(type_, Replaces) or not changes_in_place(type_) or type_.fixed_metadata
    if is_unfinished or decides_itself or definition.snapshot is not None:
        return LATER
    schema = type_.properties
    changed = changed_properties(schema, row.properties, definition.properties)
    changed |= observed.drifted.get(row.id, {}).keys()
    if all(name in schema and schema[name].update_allowed for name in changed):
        return replace(LATER, keeps_object=True)
    return LATER


def _lost(row: Resource, definition: Definition, observed: Observed) -> Reason | None:
    """Return why the object cannot stay, for any properties; None if it can."""
    if row.unhealthy:
        return Reason.UNHEALTHY
    if row.id in observed.gone:
        return Reason.GONE
    if not row.implementation:  # no type has been asked: there is no object
        return Reason.FAILED if row.status is Status.FAILED else Reason.UNFINISHED
    if _other_implementation(row, definition):
        return Reason.TYPE
    if row.action is Action.DELETE:
        return Reason.DELETED
    # a snapshot changes nothing, whatever becomes of it
    failed = row.status is Status.FAILED and row.action is not Action.SNAPSHOT
    fine = row.nested_id is not None or row.id in observed.healthy
    return Reason.FAILED if failed and not fine else None


def _decide_external(row: Resource, definition: Definition) -> Decision:
    """An object of the stack never becomes one that is only referred to, nor the other way round.

    Either would mean to delete an object, perhaps the very one that the id names.
    """
    if row.external and isinstance(definition.external_id, Unknown):
        return LATER
    if not row.external or definition.external_id != row.physical_id:
        raise DiagnosticError([_fixed_id(row, definition)])
    return KEEP if row.status is Status.COMPLETE else Decision(Change.CREATE, Reason.EXTERNAL)


def _other_implementation(row: Resource, definition: Definition) -> bool:
    """Return whether another type would manage the object, whatever the two are called."""
    if not isinstance(definition.type, TemplateType):
        return not manages(definition, row.implementation)
    if row.implementation == TemplateType.implementation:
        return False
    # rows of earlier versions have the name of what the template stood for
    return row.nested_id is None or row.implementation != row.type_name


def manages(definition: Definition, implementation: str) -> bool:
    """Return whether the type of a definition manages objects recorded with this implementation."""
    names = (implementation_of(definition), *definition.type.also_named)
    return implementation in names


def implementation_of(definition: Definition) -> str:
    """Return the row's record of the type that manages its object."""
    type_ = definition.type
    return type_.implementation if isinstance(type_, TemplateType) else type_.type_name


def _brought_back(definition: Definition) -> frozenset[str]:
    """The properties in whose places a snapshot has others."""
    schema, given = definition.type.properties, given_properties(definition)
    return changed_properties(schema, definition.properties, given)


def _compare(
    row: Resource, definition: Definition, call_for: CallFor, observed: Observed
) -> Decision:
    schema = definition.type.properties
    differing = changed_properties(schema, row.properties, definition.properties)
    brought_back = _brought_back(definition)
    cause = Reason.SNAPSHOT if brought_back else Reason.PROPERTY
    drifted = observed.drifted.get(row.id, {})
    changed = differing | frozenset(row.dirty) | drifted.keys() | brought_back
    refuse_immutable(definition, changed)
    if changed:
        forcing = changed
        if changes_in_place(definition.type):
            forcing = frozenset(
                name for name in changed if name in schema and not schema[name].update_allowed
            )
        if forcing:
            return Decision(Change.REPLACE, cause, changed, forcing)
        if can(definition.type, Replaces) and definition.type.needs_replacement(
            call_for(row, definition, changed)
        ):
            return Decision(Change.REPLACE, Reason.TYPE_DECIDES, changed, changed)
    if definition.type.fixed_metadata and dict(row.metadata) != dict(definition.metadata):
        return Decision(Change.REPLACE, Reason.SETTINGS)
    if differing or brought_back:
        return Decision(Change.UPDATE, cause, changed)
    if drifted:
        return Decision(Change.UPDATE, Reason.DRIFT, changed)
    if changed or row.status is not Status.COMPLETE:
        return Decision(Change.UPDATE, Reason.UNFINISHED, changed)
    if _differs(row, definition):
        return Decision(Change.UPDATE, Reason.SETTINGS)
    if can(definition.type, UpdatesAnyway) and definition.type.updates_anyway(
        definition.properties
    ):
        return Decision(Change.UPDATE, Reason.TYPE_DECIDES)
    # what is inside such a stack may change though nothing here does
    is_stack = isinstance(definition.type, NestingType) or can(definition.type, MakesStack)
    return Decision(Change.UPDATE, Reason.NESTED) if is_stack else KEEP


def _differs(row: Resource, definition: Definition) -> bool:
    """Return whether anything but the properties differs."""
    return (
        row.type_name != definition.type_name
        or dict(row.metadata) != dict(definition.metadata)
        or set(row.dependencies) != set(definition.dependencies)
        or row.deletion_policy != definition.deletion_policy
        or dict(row.update_policy) != dict(definition.update_policy)
    )


class Choice(Struct, frozen=True):
    """One of the generations of a resource, with the decision for it."""

    row: Resource | None
    decision: Decision


def choose(
    current: Resource | None,
    replaced: Sequence[Resource],
    definition: Definition,
    call_for: CallFor,
    observed: Observed,
) -> Choice:
    """Return the generation of a resource that needs the smallest change.

    That is the current one, unless it needs a change and a ``replaced`` one (the newest first)
    still exists and fits better. This happens if an update or a rollback goes back to an earlier
    input. Only healthy ones count.
    """
    best = Choice(current, decide(current, definition, call_for, observed))
    if best.decision.change is Change.LATER:
        # An earlier object may fit better once the values are known.
        return best if not replaced else Choice(current, LATER)
    for row in replaced:
        if row.id not in observed.healthy:
            continue
        try:
            choice = Choice(row, decide(row, definition, call_for, observed))
        except DiagnosticError:
            continue  # what is refused does not fit
        if choice.decision.change is Change.LATER:
            return Choice(current, LATER)
        if _way(choice.decision) < _way(best.decision):
            best = choice
    return best


def replaced_rows(rows: Iterable[Resource]) -> dict[str, list[Resource]]:
    """Rows that others have taken the place of, by name; the newest first."""
    found: dict[str, list[Resource]] = {}
    for row in rows:
        if row.replaced_by is not None:
            found.setdefault(row.name, []).append(row)
    for generations in found.values():
        generations.sort(key=lambda row: row.created_at, reverse=True)
    return found


def _way(decision: Decision) -> int:
    """Return the size of the change of the object."""
    match decision.change:
        case Change.KEEP:
            return 0
        case Change.UPDATE:
            return 2 if decision.changed else 0
        case Change.CONTINUE:
            return 1
        case _:
            return 3


def _fixed_id(row: Resource, definition: Definition) -> Diagnostic:
    return Diagnostic(
        code="fixed-external-id",
        message=f"Update to property external_id of {row.name} ({definition.type_name}) is not"
        " supported: give the new object a resource of another name",
        path=("resources", row.name, "external_id"),
        error_type=NOT_SUPPORTED,
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
                error_type=NOT_SUPPORTED,
            )
            for name in fixed
        )


def require_known(choice: Choice, definition: Definition) -> None:
    """Raise DiagnosticError if a new object needs a value that will never be known."""
    makes = choice.decision.change in (Change.CREATE, Change.REPLACE)
    if makes and unknown_in(definition.properties):
        raise DiagnosticError([still_unknown(definition)])


def still_unknown(definition: Definition) -> Diagnostic:
    """Return the error of a resource that needs a value that no resource has."""
    unknown = unknown_in(definition.properties)
    sources = ", ".join(sorted(unknown.sources)) if unknown else "another resource"
    return Diagnostic(
        code="value-never-known",
        message=f"a property of {definition.name} refers to an attribute that {sources} does not"
        " have",
        path=("resources", definition.name, "properties"),
    )

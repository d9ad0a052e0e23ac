"""The decision about one resource: a comparison of its rows with its definition.

Takes the row in force, the replaced rows whose objects still exist, the definition, and facts about
live objects. Produces the change with its reason, and the row that it starts from.

Invariant: the same arguments give the same decision. So a plan comes true: the planner decides
first, and execution decides again with this function, when an unknown value has become known or the
resource's turn has come. Only a type that implements ``Replaces`` may read the cloud here.

Tested by tests/ordering, tests/operations/test_type_changes.py, tests/replacement/test_immutable.py
and tests/rollback/test_taking_up.py.
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
    can,
    changes_in_place,
)
from stoker.schema.unknown import Unknown, unknown_in
from stoker.template.definition import Definition
from stoker.template.evaluate.type_resolver import TemplateType


class Decision(Struct, frozen=True):
    """The change of a resource, and its reason."""

    change: Change
    reason: Reason
    changed: frozenset[str] = frozenset()  # names of the properties that differ
    forcing: frozenset[str] = frozenset()  # changed properties that cannot be changed in place
    keeps_object: bool = False  # a LATER change that can only be made in place


# Makes the argument of a type's ``needs_replacement``; the set has the changed properties.
CallFor = Callable[[Resource, Definition, frozenset[str]], Call]

_MADE = (Action.CREATE, Action.UPDATE)
KEEP = Decision(Change.KEEP, Reason.SAME)
LATER = Decision(Change.LATER, Reason.UNKNOWN)
NEW = Decision(Change.CREATE, Reason.NEW)


def specified_properties(definition: Definition) -> Mapping[str, Any]:
    """Return the properties of the object: the template's, or those restored by a snapshot."""
    type_, snapshot = definition.type, definition.snapshot
    if snapshot is None or not can(type_, Snapshots):
        return definition.properties
    return type_.restored(definition.properties, snapshot)


def decide(
    row: Resource | None, definition: Definition, call_for: CallFor, observed: Observed
) -> Decision:
    """Return the change from the row to the definition.

    Raises :class:`stoker.kernel.diagnostics.DiagnosticError` for a change that is refused.
    """
    if row is None or row.action is Action.INIT:
        return NEW
    if definition.external_id is not None or row.external:
        return _decide_external(row, definition)
    if _is_plainly_unchanged(row, definition, observed):
        return KEEP
    # Before the properties: an object that cannot stay is replaced for any values of them.
    lost = _lost(row, definition, observed)
    if lost is not None:
        return Decision(Change.REPLACE, lost)
    if unknown_in(definition.properties) or unknown_in(definition.metadata):
        return _later(row, definition, observed)
    if row.action is Action.ADOPT and row.status is Status.IN_PROGRESS:
        return Decision(Change.CONTINUE, Reason.UNFINISHED)
    if row.action is Action.CREATE and row.status is not Status.COMPLETE:
        schema = definition.type.properties
        # A failed create of an earlier operation was not made from the snapshot's data.
        unrestored = row.status is Status.FAILED and _restored_properties(definition)
        if not unrestored and not changed_properties(schema, row.properties, definition.properties):
            return Decision(Change.CONTINUE, Reason.UNFINISHED)
        # A create that was cut off cannot continue with other properties, because the request in
        # flight has the earlier ones. A nested stack can: its own rows have the details.
        if row.nested_id is None:
            return Decision(Change.REPLACE, Reason.UNFINISHED)
    return _compare(row, definition, call_for, observed)


def _is_plainly_unchanged(row: Resource, definition: Definition, observed: Observed) -> bool:
    """Return whether nothing calls for a closer comparison.

    Most resources of most updates are unchanged. The comparison of all cases takes three times as
    long. A recorded row has no unknown values, so equal ones are known.
    """
    type_ = definition.type
    return (
        row.status is Status.COMPLETE
        and row.action in _MADE
        and row.properties == definition.properties
        and row.metadata == definition.metadata
        and row.update_policy == definition.update_policy
        and row.deletion_policy == definition.deletion_policy
        and row.type_name == definition.type_name
        and row.implementation == type_.type_name
        and definition.dependencies == frozenset(row.dependencies)
        and not (row.dirty or row.unhealthy or row.nested_id)
        and definition.snapshot is None
        and row.id not in observed.gone
        and row.id not in observed.drifted
        and not isinstance(type_, NestingType)
        and not can(type_, MakesStack)
        and not type_.updates_anyway(definition.properties)
    )


def _later(row: Resource, definition: Definition, observed: Observed) -> Decision:
    """Return LATER, with ``keeps_object`` if no value can make a new object necessary."""
    type_ = definition.type
    is_unfinished = row.status is not Status.COMPLETE or bool(row.dirty)
    type_decides = can(type_, Replaces) or not changes_in_place(type_) or type_.fixed_metadata
    if is_unfinished or type_decides or definition.snapshot is not None:
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
    if not row.implementation:  # No type was called yet, so there is no object.
        return Reason.FAILED if row.status is Status.FAILED else Reason.UNFINISHED
    if _other_implementation(row, definition):
        return Reason.TYPE
    if row.action is Action.DELETE:
        return Reason.DELETED
    # A failed snapshot says nothing about the object, which it does not change. A failed row of a
    # nested stack is updated: its own rows say which objects are broken.
    failed = row.status is Status.FAILED and row.action is not Action.SNAPSHOT
    fine = row.nested_id is not None or row.id in observed.healthy
    return Reason.FAILED if failed and not fine else None


def _decide_external(row: Resource, definition: Definition) -> Decision:
    """Return the change of a resource that refers to an object outside the stack.

    Raises DiagnosticError if an object of the stack would become an external one, or the other way
    round. Either would delete an object, perhaps the very one that the id names.
    """
    if row.external and isinstance(definition.external_id, Unknown):
        return LATER
    if not row.external or definition.external_id != row.physical_id:
        raise DiagnosticError([_fixed_id(row, definition)])
    return KEEP if row.status is Status.COMPLETE else Decision(Change.CREATE, Reason.EXTERNAL)


def _other_implementation(row: Resource, definition: Definition) -> bool:
    """Return whether another type would manage the object. A new name of a type is no change."""
    if not isinstance(definition.type, TemplateType):
        return not manages(definition, row.implementation)
    if row.implementation == TemplateType.implementation:
        return False
    if row.nested_id is None or row.implementation != row.type_name:
        return True
    # Rows of earlier versions record the name that the environment maps to the template.
    return definition.type.inner.is_built_in_nesting(row.implementation)


def manages(definition: Definition, implementation: str) -> bool:
    """Return whether the type of a definition manages objects recorded with this implementation."""
    names = (implementation_of(definition), *definition.type.also_named)
    return implementation in names


def implementation_of(definition: Definition) -> str:
    """Return the name that a row records for the type that manages its object."""
    type_ = definition.type
    return type_.implementation if isinstance(type_, TemplateType) else type_.type_name


def settings_columns(definition: Definition, current: Mapping[str, Resource]) -> dict[str, Any]:
    """Return the columns that do not describe the object: type, dependencies and policies."""
    return {
        "type_name": definition.type_name,
        "implementation": implementation_of(definition),
        "dependencies": tuple(sorted(definition.dependencies)),
        "requires": tuple(
            sorted(current[name].id for name in definition.dependencies if name in current)
        ),
        "deletion_policy": definition.deletion_policy.value,
        "update_policy": definition.update_policy,
        "description": definition.description,
    }


def row_columns(definition: Definition, current: Mapping[str, Resource]) -> dict[str, Any]:
    """Return all columns for a new row, with properties and metadata."""
    columns = {"properties": definition.properties, "metadata": definition.metadata}
    return {**settings_columns(definition, current), **columns}


def _restored_properties(definition: Definition) -> frozenset[str]:
    """Return the properties for which a snapshot has other values than the template."""
    schema, specified = definition.type.properties, specified_properties(definition)
    return changed_properties(schema, definition.properties, specified)


def _compare(
    row: Resource, definition: Definition, call_for: CallFor, observed: Observed
) -> Decision:
    schema = definition.type.properties
    differing = changed_properties(schema, row.properties, definition.properties)
    # ``dirty`` names properties of an update that was cut off: the object may have either value.
    restored = _restored_properties(definition)
    cause = Reason.SNAPSHOT if restored else Reason.PROPERTY
    drifted = observed.drifted.get(row.id, {})
    changed = differing | frozenset(row.dirty) | drifted.keys() | restored
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
    if differing or restored:
        return Decision(Change.UPDATE, cause, changed)
    if drifted:
        return Decision(Change.UPDATE, Reason.DRIFT, changed)
    if changed or row.status is not Status.COMPLETE:
        return Decision(Change.UPDATE, Reason.UNFINISHED, changed)
    if _differs(row, definition):
        return Decision(Change.UPDATE, Reason.SETTINGS)
    if definition.type.updates_anyway(definition.properties):
        return Decision(Change.UPDATE, Reason.TYPE_DECIDES)
    # Its template is not among the properties, and its own rows may have failed.
    is_stack = isinstance(definition.type, NestingType) or can(definition.type, MakesStack)
    return Decision(Change.UPDATE, Reason.NESTED) if is_stack else KEEP


def _differs(row: Resource, definition: Definition) -> bool:
    """Return whether metadata, dependencies, policies or the type name differ."""
    return (
        row.type_name != definition.type_name
        or dict(row.metadata) != dict(definition.metadata)
        or set(row.dependencies) != set(definition.dependencies)
        or row.deletion_policy != definition.deletion_policy
        or dict(row.update_policy) != dict(definition.update_policy)
    )


class Choice(Struct, frozen=True):
    """The generation of a resource to continue with, and the decision for it."""

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

    That is the current one, unless a healthy ``replaced`` one fits better, as when an update or a
    rollback goes back to an earlier input. Among equals, the newest wins.
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
            continue  # A refused change does not fit.
        if choice.decision.change is Change.LATER:
            return Choice(current, LATER)
        if _size_of(choice.decision) < _size_of(best.decision):
            best = choice
    return best


def replaced_rows(rows: Iterable[Resource]) -> dict[str, list[Resource]]:
    """Return the replaced rows by name, the newest first."""
    found: dict[str, list[Resource]] = {}
    for row in rows:
        if row.replaced_by is not None:
            found.setdefault(row.name, []).append(row)
    for generations in found.values():
        generations.sort(key=lambda row: row.created_at, reverse=True)
    return found


def _size_of(decision: Decision) -> int:
    """Return how much the object changes: 0 for not at all, 3 for a new one."""
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
    """Raise DiagnosticError for a change of an immutable property."""
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
    if makes and (unknown_in(definition.properties) or unknown_in(definition.metadata)):
        raise DiagnosticError([still_unknown(definition)])


def still_unknown(definition: Definition) -> Diagnostic:
    """Return the error of a resource that needs a value that no resource has."""
    unknown, part, words = unknown_in(definition.properties), "properties", "a property"
    if unknown is None and (unknown := unknown_in(definition.metadata)) is not None:
        part, words = "metadata", "the metadata"
    sources = ", ".join(sorted(unknown.sources)) if unknown else "another resource"
    return Diagnostic(
        code="value-never-known",
        message=f"{words} of {definition.name} refers to an attribute that {sources} does not have",
        path=("resources", definition.name, part),
    )

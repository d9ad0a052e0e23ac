"""Rejects plans that no cloud can carry out.

Takes the plan of an update, and reports changes that every cloud rejects and that the plan already
shows. Previews call it. An update without a preview is not rejected here: as in Heat, the resource
fails then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.execution.nested.preview_tree import PreviewedStack, facts_amid
from stoker.engine.model.plans import Change, Step, defined
from stoker.engine.model.records import Resource
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import NOT_SUPPORTED
from stoker.template.definition import Definition

# Each stack of a tree, with the names of the resources that lead to it.
Tree = list[tuple[tuple[str, ...], PreviewedStack]]


class _Leaving(Struct, frozen=True):
    """A resource that an update deletes."""

    path: tuple[str, ...]
    type_name: str
    keys: Mapping[str, str]  # descriptions of the objects that only one resource can use, by key


def require_possible(foreseen: PreviewedStack) -> None:
    """Raise DiagnosticError for changes that every cloud rejects."""
    tree = list(_tree(foreseen, ()))
    leaving = [each for above, stack in tree for each in _leaving(stack, above)]
    found = [
        diagnostic
        for above, stack in tree
        for diagnostic in stack.evaluation.template.source.all_located(
            _of_stack(stack, above, leaving)
        )
    ]
    if found:
        raise DiagnosticError(found)


def _tree(
    foreseen: PreviewedStack, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], PreviewedStack]]:
    yield above, foreseen
    for name, below in foreseen.nested.items():
        yield from _tree(below, (*above, name))


def _leaving(foreseen: PreviewedStack, above: tuple[str, ...]) -> Iterator[_Leaving]:
    rows = foreseen.stack_rows
    for row in rows.current.values():
        type_ = rows.type_of(row)
        gone = row.name not in foreseen.evaluation.dependencies and row.physical_id is not None
        keys = type_.exclusive_objects(row.properties) if gone and type_ is not None else {}
        if keys:
            yield _Leaving((*above, row.name), row.type_name, keys)


def _of_stack(
    foreseen: PreviewedStack, above: tuple[str, ...], leaving: list[_Leaving]
) -> Iterator[Diagnostic]:
    rows = foreseen.stack_rows
    facts = facts_amid(rows, foreseen.plan, foreseen.to_be)
    for node in foreseen.plan.nodes(Step.APPLY):
        row = rows.current.get(node.name)
        grows = row is not None and node.change in (Change.UPDATE, Change.LATER)
        # A new object can only conflict with objects of the resources that the same update deletes.
        if not grows and not (leaving and node.change is Change.CREATE):
            continue
        definition = defined(foreseen.evaluation, node.name, facts)
        if row is not None and grows:
            yield from _shrunk(row, definition)
        else:
            yield from _still_held((*above, node.name), definition, leaving)


def _shrunk(row: Resource, definition: Definition) -> Iterator[Diagnostic]:
    for name, declared in definition.type.properties.items():
        if not declared.only_grows:
            continue
        old, new = _number(row.properties.get(name)), _number(definition.properties.get(name))
        if old is not None and new is not None and new < old:
            yield Diagnostic(
                "shrunk",
                f"{name} cannot shrink from {old} to {new}: keep {old}, or give the resource"
                " another name, which makes a new object",
                ("resources", row.name, "properties", name),
                error_type=NOT_SUPPORTED,
            )


def _number(value: Any) -> int | float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


def _still_held(
    path: tuple[str, ...], definition: Definition, leaving: list[_Leaving]
) -> Iterator[Diagnostic]:
    name = path[-1]
    exclusive = definition.type.exclusive_objects(definition.properties)
    for each in leaving:
        for key in exclusive.keys() & each.keys.keys():
            holder = "/".join(each.path)
            is_rename = each.path[:-1] == path[:-1] and each.type_name == definition.type_name
            stays = (
                f"write stoker: {{moved_from: {holder}}} into the metadata of {name}, which keeps"
                " the object"
                if is_rename
                else f"keep the name {holder}"
            )
            yield Diagnostic(
                "taken-over",
                f"{name} needs {exclusive[key]}, which {holder} holds until it is deleted, after"
                f" {name} is created: {stays}; or give {name} one of its own, or delete {holder}"
                " in a deployment before this one",
                ("resources", name, "properties"),
                error_type=NOT_SUPPORTED,
            )

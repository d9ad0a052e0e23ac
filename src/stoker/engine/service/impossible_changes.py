"""Rejects updates that no cloud can carry out.

Takes the plan of an update, and reports changes that every cloud rejects and that the plan already
shows. Previews have a plan. A request has none until it is recorded, so it is planned here first,
but only if a comparison of the two templates shows that such a change is possible.

Called by previews and by operations. Tested by tests/operations/test_impossible_updates.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from stoker.engine.execution.nested.preview_tree import (
    PreviewedStack,
    PreviewOptions,
    facts_amid,
    preview_tree,
)
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change, Step, defined
from stoker.engine.model.records import Input, Resource, Stack
from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.evaluations import evaluation_at
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import NOT_SUPPORTED, NotFoundError
from stoker.schema.resource_type import ResourceType
from stoker.template.definition import Definition
from stoker.template.evaluate.evaluation import Evaluation

# Each stack of a tree, with the names of the resources that lead to it.
Tree = list[tuple[tuple[str, ...], PreviewedStack]]


class _Leaving(Struct, frozen=True):
    """A resource that an update deletes."""

    path: tuple[str, ...]
    type_name: str
    keys: Mapping[str, str]  # descriptions of the objects that only one resource can use, by key


async def require_possible_update(
    ports: Ports, stack: Stack, stack_input: Input, evaluation: Evaluation, request: StackRequest
) -> None:
    """Raise DiagnosticError for an update with changes that every cloud rejects."""
    try:
        earlier = await evaluation_at(ports, stack, stack.input_id)
    except NotFoundError:
        # Another update has ended since the stack was read, and the input before it was dropped.
        current = await ports.store.stack(stack.id)
        if current is None or current.input_id == stack.input_id:
            raise
        stack, earlier = current, await evaluation_at(ports, current, current.input_id)
    if not await ports.workers.compute(lambda: _is_suspicious(evaluation, earlier)):
        return
    stack_rows = StackRows(ports, stack, await ports.store.resources(stack.id))
    options = PreviewOptions.of(request)
    foreseen = await preview_tree(stack_rows, stack_input, evaluation, options)
    await ports.workers.compute(lambda: require_possible(foreseen))


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


def _is_suspicious(new: Evaluation, old: Evaluation) -> bool:
    """Return whether an update may shrink an object, or create the user of one that is in use."""
    holders = {True: False, False: False}  # whether a resource with such objects is added, deleted
    pairs: list[tuple[Evaluation | None, Evaluation | None]] = [(new, old)]
    while pairs:
        after, before = pairs.pop()
        if after is not None and before is not None and _may_shrink(after, before):
            return True
        for one, other in ((after, before), (before, after)):
            if one is not None and not holders[one is after]:
                types = _types_only_in(one, other)
                holders[one is after] = any(map(_has_exclusive_objects, types))
        children = {} if after is None else after.children
        previous = {} if before is None else before.children
        pairs += [(children.get(name), previous.get(name)) for name in {**children, **previous}]
    return all(holders.values())


def _types_only_in(one: Evaluation, other: Evaluation | None) -> set[type[ResourceType]]:
    known = {} if other is None else other.type_names
    return {type(type_) for name, type_ in one.types.items() if name not in known}


def _may_shrink(after: Evaluation, before: Evaluation) -> bool:
    for name, type_ in after.types.items():
        growing = _growing_properties(type(type_))
        if not growing or name not in before.types:
            continue
        new, old = after.analyses[name].definition, before.analyses[name].definition
        if new is None or old is None:
            return True
        for each in growing:
            value, previous = new.properties.get(each), old.properties.get(each)
            smaller, larger = _number(value), _number(previous)
            if smaller is None or larger is None:
                if value is not None and previous is not None:
                    return True
            elif smaller < larger:
                return True
    return False


@lru_cache(maxsize=1024)
def _growing_properties(type_: type[ResourceType]) -> tuple[str, ...]:
    return tuple(name for name, declared in type_.properties.items() if declared.only_grows)


@lru_cache(maxsize=1024)
def _has_exclusive_objects(type_: type[ResourceType]) -> bool:
    return type_.exclusive_objects is not ResourceType.exclusive_objects


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

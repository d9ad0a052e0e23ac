"""Objects in the cloud that prevent a resource from being created.

Takes an evaluation with its nested stacks. Types whose objects do not show their owner are searched
for an object that exists already, such as a key pair of the same name; other types report obstacles
of their own, such as an address that is in use. Only resources that the stack did not have before
are checked, and only those whose properties are known.

A check never rejects a request because the cloud is slow or broken: a check without an answer is
repeated by the create itself. Tested by tests/operations/test_obstacles.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.ownership import is_unproven
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.observe.preparation import ask_beside
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import ENDS_TURN, Ports
from stoker.engine.model.records import Action, Stack
from stoker.engine.planning.presence import Presence
from stoker.engine.service.stack_access.presenters import row_to_be
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import NOT_SUPPORTED
from stoker.kernel.logs.log import Log
from stoker.schema.resource_type import (
    Adopts,
    Contends,
    FindsObstacles,
    Impossible,
    ManagedType,
    ResourceType,
    can,
)
from stoker.schema.unknown import unknown_in
from stoker.template.evaluate.evaluation import Evaluation, in_nested

log = Log(__name__)

_MOST = 100  # resources that a request checks
_PATIENCE_SECONDS = 10.0


class NewResource(Struct, frozen=True):
    """A resource to be created."""

    names: tuple[str, ...]  # of the resources above it, and its own
    evaluation: Evaluation  # of its stack
    type: ManagedType


async def obstacle_diagnostics(
    ports: Ports, stack: Stack, evaluation: Evaluation, resources: Sequence[NewResource]
) -> list[Diagnostic]:
    """Return diagnostics about those of the :func:`searchable` resources that cannot be created."""
    obstacles = _Obstacles(ports, stack)
    answers = await asyncio.gather(*(obstacles.of(each) for each in resources))
    faults = {each.names: found for each, found in zip(resources, answers, strict=True) if found}
    if not faults:
        return []
    return await ports.workers.compute(lambda: [*_located(evaluation, (), faults)])


def searchable(evaluation: Evaluation, present: Presence) -> list[NewResource]:
    """Return the new resources for which the cloud can have obstacles."""
    found: list[NewResource] = []
    for new in _new(evaluation, present, ()):
        definition = new.evaluation.analyses[new.names[-1]].definition
        if definition is None or definition.external_id is not None:
            continue
        type_, properties = new.type, definition.properties
        if can(type_, FindsObstacles):
            is_asked = type_.may_be_obstructed(properties)
        else:
            is_asked = is_unproven(type_, properties) and unknown_in(properties) is None
        if is_asked:
            found.append(new)
        if len(found) == _MOST:
            break
    return found


def _new(
    evaluation: Evaluation, present: Presence, above: tuple[str, ...]
) -> Iterator[NewResource]:
    existing = present.names(evaluation)
    for name, type_ in evaluation.types.items():
        if name not in existing and isinstance(type_, ManagedType) and _is_searched(type_):
            yield NewResource((*above, name), evaluation, type_)
    for name, child in evaluation.children.items():
        yield from _new(child, present.below(evaluation, name), (*above, name))


def _is_searched(type_: ManagedType) -> bool:
    """Return whether there are obstacles to some objects of a type."""
    if can(type_, FindsObstacles):
        return True
    is_unique = type_.unique or type(type_).shows_owner is not ResourceType.shows_owner
    return is_unique and not type_.shares and can(type_, Adopts)


class _Obstacles:
    """Asks about resources to be created in a stack, until a common deadline."""

    def __init__(self, ports: Ports, stack: Stack) -> None:
        self._ports = ports
        self._stack = stack
        until = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        self._rows = StackRows(ports, stack, ())
        self._ask = ask_beside(self._rows, until)

    async def of(self, new: NewResource) -> Sequence[Impossible]:
        """Return the obstacles of a resource; none if the cloud does not answer."""
        try:
            return await self._of(new)
        except ENDS_TURN:
            raise
        except Exception as error:  # noqa: BLE001 - the create meets the same error, and reports it
            reason = self._ports.faults.describe(error)
            log.info("obstacles not checked", resource=new.names[-1], error=reason)
            return ()

    async def _of(self, new: NewResource) -> Sequence[Impossible]:
        type_, name = new.type, new.names[-1]
        row = row_to_be(self._ports, self._stack, new.evaluation, name)
        if can(type_, FindsObstacles):
            found = await self._ask(row, TypeCall(type_, type_.obstacles, row.properties))
            return [each for each in found if await self._owner(each.holders) is not None]
        method: Any = type_.occupants if can(type_, Contends) else type_.find  # type: ignore[attr-defined]
        seen = await self._ask(row, TypeCall(type_, method, row.properties))
        ids = [seen] if isinstance(seen, str) else list(seen or ())
        if not ids or (owner := await self._owner(ids)) is None:
            return ()
        what = (
            f"the {type_.link or type_.type_name} {ids[0]} already exists, and belongs to {owner}"
        )
        return [Impossible((), f"{what}: use another name, or import that object")]

    async def _owner(self, ids: Sequence[str]) -> str | None:
        """Return whose an object is, in words; None if it is no obstacle.

        That is an object of the same tree, or of a stack or resource that is being deleted: it may
        be released before it is needed.
        """
        store, root = self._ports.store, self._stack.root_id or self._stack.id
        owner = "no stack of this project"
        for physical_id in ids:
            for row in await store.resources_of_object(self._stack.project_id, physical_id):
                stack = await store.stack(row.stack_id)
                if stack is None or Action.DELETE in (row.action, stack.action):
                    return None
                if (stack.root_id or stack.id) == root:
                    return None
                owner = f"the resource {row.name} of the stack {stack.name}"
        return owner


def _located(
    evaluation: Evaluation,
    above: tuple[str, ...],
    faults: dict[tuple[str, ...], Sequence[Impossible]],
) -> Iterator[Diagnostic]:
    template = evaluation.template
    for name in evaluation.names:
        for fault in faults.get((*above, name), ()):
            path = template.resources[name].path
            if fault.path:
                path = (*path, template.version.dialect.properties, *fault.path)
            found = Diagnostic("obstacle", fault.message, path, error_type=NOT_SUPPORTED)
            yield template.source.located(found)
    for name, child in evaluation.children.items():
        yield from in_nested(evaluation, name, [*_located(child, (*above, name), faults)])

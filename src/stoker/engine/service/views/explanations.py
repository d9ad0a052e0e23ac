"""Explanations of the state of a stack: causes of waits, failures and replacements.

The search descends through nested stacks to the resources that the others wait for, or that failed
first. Their texts include the messages of the cloud.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Reason
from stoker.engine.model.records import (
    Action,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    current_operation,
)
from stoker.engine.model.requests import Caller, EventQuery, Page
from stoker.engine.model.views import Cause, CauseKind, Explanation
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.service.mentioned_objects import with_mentioned_objects
from stoker.engine.service.stack_access.lookup import Finder, current_rows, row_of
from stoker.engine.service.stack_access.presenters import stack_view
from stoker.engine.service.stack_access.resource_positions import positions_of
from stoker.engine.service.views.waits import Waiting, waits
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import DiagnosticError, Position
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace

MOST = 100  # causes that one explanation reports
_EVENTS = 200  # newest events that are searched for failures of deleted resources
_REQUEST = re.compile(r"\breq-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_ABORTED = " aborted: "  # part of the reason of a resource that was aborted since another failed
# Causes of replacements that no property forced.
_WHY_REPLACED = {
    Reason.TYPE: "a different resource type manages it now",
    Reason.UNHEALTHY: "it was marked unhealthy",
    Reason.FAILED: "its last action had failed",
    Reason.DELETED: "its object was gone",
    Reason.UNFINISHED: "an earlier action on it was interrupted",
}


class Explanations:
    """Explanations, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def stack(self, caller: Caller, address: StackAddress) -> Explanation:
        """Explain the state of a stack."""
        return await self._explained(await self._finder.at(caller, address), None)

    async def resource(self, caller: Caller, address: StackAddress, name: str) -> Explanation:
        """Explain the state of a resource. Raises NotFoundError if the stack does not have it."""
        return await self._explained(await self._finder.at(caller, address), name)

    async def _explained(self, stack: Stack, name: str | None) -> Explanation:
        operation = current_operation(await self._ports.store.operations(stack.id))
        tree = _Tree(self._ports)
        causes = await tree.causes(stack, operation, (), name)
        if name is None and not causes:
            causes = await self._of_the_past(stack)
        failed = any(cause.kind is CauseKind.FAILED for cause in causes)
        # Resources that were aborted by a failure add nothing to it.
        relevant = [cause for cause in causes if not (failed and cause.kind is CauseKind.ABORTED)]
        shown = await with_mentioned_objects(self._ports, stack, relevant[:MOST])
        since = stack.updated_at or stack.created_at
        return Explanation(
            stack_view(stack),
            since if operation is None else operation.created_at,
            None if operation is None else operation.deadline,
            shown,
            is_complete=len(relevant) <= MOST and not tree.is_cut,
        )

    async def _of_the_past(self, stack: Stack) -> list[Cause]:
        """Return the failures of resources that no longer exist, as after a rollback."""
        if stack.action is not Action.ROLLBACK and stack.status is not Status.FAILED:
            return []
        page = Page(limit=_EVENTS, descending=True)
        found: list[Cause] = []
        for event in await self._ports.store.events([stack.id], EventQuery(page)):
            if event.resource_id is None:
                begins = event.status is Status.IN_PROGRESS and event.action is not Action.ROLLBACK
                if begins:
                    break
                continue
            if event.status is Status.FAILED:
                cause = Cause(
                    _kind_of_failure(event.reason),
                    (event.resource_name,),
                    stack.address,
                    event.resource_type,
                    event.action.value,
                    event.status.value,
                    event.reason,
                    event.time,
                    event.physical_id,
                    request_id=_request_in(event.reason),
                )
                found.append(cause)
        if not found and stack.status is Status.FAILED:
            found.append(_of_stack(stack, CauseKind.FAILED, stack.reason, stack.updated_at))
        return found[::-1]


class _Tree:
    """Searches for causes, down the tree of nested stacks."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._left = MOST
        self.is_cut = False  # some causes were left out

    async def causes(
        self, stack: Stack, operation: Operation | None, above: tuple[str, ...], only: str | None
    ) -> list[Cause]:
        """Return the causes in a stack and its nested stacks, or those of one resource."""
        rows = await self._ports.store.resources(stack.id)
        stack_rows = StackRows(self._ports, stack, rows)
        found: list[Cause] = []
        if operation is not None:
            found += await self._waiting(stack_rows, operation, above, only)
        for row in current_rows(rows):
            if only in (None, row.name) and _counts_as_failed(row, stack, operation):
                found += await self._below(row, above) or [_failure(stack, row, above)]
        if only is not None and not found:
            found = [await self._settled(stack, rows, only)]
        self._left -= len(found)
        return await self._placed(stack, found, above)

    async def _waiting(
        self, stack_rows: StackRows, operation: Operation, above: tuple[str, ...], only: str | None
    ) -> list[Cause]:
        stack, found = stack_rows.stack, []
        if operation.status is OperationStatus.WAITING:
            text = (
                "the operation has not started: it is still being planned, or an earlier one is"
                " finishing"
            )
            return [_of_stack(stack, CauseKind.PLANNING, text, operation.created_at, above)]
        await stack_rows.load_signals()

        def of_rows() -> list[Waiting]:
            waiting = waits(stack_rows, operation)
            return [each for each in waiting if only in (None, each.name)]

        all_ = await self._ports.workers.compute(of_rows)
        self.is_cut = self.is_cut or len(all_) > MOST
        for waiting in all_[:MOST]:
            below: list[Cause] = []
            if waiting.kind is CauseKind.NESTED and waiting.row is not None:
                below = await self._below(waiting.row, above)
            found += below or [_wait(stack, waiting, operation, above)]
        return found

    async def _settled(self, stack: Stack, rows: Sequence[Resource], name: str) -> Cause:
        """Return the cause for a resource that waits for nothing. Raises NotFoundError."""
        known = current_rows(rows)
        if all(row.name != name for row in known):
            evaluation = await evaluation_at(self._ports, stack, stack.input_id)
            if name in evaluation.type_names:
                return _not_made(stack, name, evaluation.type_names[name])
        return _settled(stack, row_of(known, name, stack), ())

    async def _below(self, row: Resource, above: tuple[str, ...]) -> list[Cause]:
        """Return the causes in the nested stack of a row."""
        child = None if row.nested_id is None else await self._ports.store.stack(row.nested_id)
        if child is None:
            return []
        if self._left <= 0:
            self.is_cut = True
            return []
        operation = current_operation(await self._ports.store.operations(child.id))
        return await self.causes(child, operation, (*above, row.name), None)

    async def _placed(
        self, stack: Stack, found: Sequence[Cause], above: tuple[str, ...]
    ) -> list[Cause]:
        """Return the causes with positions in the user's documents."""
        depth = len(above)
        properties = {
            cause.path[depth]: next(iter(cause.because_of), None)
            for cause in found
            if cause.position is None and len(cause.path) > depth
        }
        if not properties:
            return list(found)
        try:
            evaluation = await evaluation_at(self._ports, stack, stack.input_id)
        except (DiagnosticError, RequestError):
            return list(found)  # The input was deleted, or is unreadable.
        places = await self._ports.workers.compute(lambda: positions_of(evaluation, properties))

        def place(cause: Cause) -> Position | None:
            is_here = cause.position is None and len(cause.path) > depth
            return places.get(cause.path[depth]) if is_here else cause.position

        return [replace(cause, position=place(cause)) for cause in found]


def _counts_as_failed(row: Resource, stack: Stack, operation: Operation | None) -> bool:
    """Return whether the failure belongs to the explained operation, not to an earlier one."""
    if row.status is not Status.FAILED:
        return False
    return operation is None or row.updated_at >= operation.created_at


def _cause(stack: Stack, row: Resource, above: tuple[str, ...], **details: Any) -> Cause:
    return Cause(
        path=(*above, row.name),
        stack=stack.address,
        type_name=row.type_name,
        action=row.action.value,
        status=row.status.value,
        physical_id=row.physical_id,
        **details,
    )


def _wait(stack: Stack, waiting: Waiting, operation: Operation, above: tuple[str, ...]) -> Cause:
    row, has_started = waiting.row, waiting.kind not in (CauseKind.DEPENDENCY, CauseKind.ORDER)
    details: dict[str, Any] = {
        "kind": waiting.kind,
        "text": waiting.text,
        "waits_for": waiting.waits_for,
        "signals": waiting.signals,
        "hook": waiting.hook,
        "request_id": _request_in(waiting.text),
        "since": operation.created_at,
    }
    if row is not None:
        if has_started and row.action_started_at is not None:
            details["since"] = max(row.action_started_at, operation.created_at)
        return _cause(stack, row, above, **details)
    return Cause(
        path=(*above, waiting.name),
        stack=stack.address,
        type_name="",
        action=Action.INIT.value,
        status=Status.COMPLETE.value,
        **details,
    )


def _failure(stack: Stack, row: Resource, above: tuple[str, ...]) -> Cause:
    if row.unhealthy:
        text = f"the next update will replace it: {row.reason}"
        return _cause(stack, row, above, kind=CauseKind.MARKED, text=text, since=row.updated_at)
    return _cause(
        stack,
        row,
        above,
        kind=_kind_of_failure(row.reason),
        text=row.reason,
        since=row.updated_at,
        request_id=_request_in(row.reason),
    )


def _settled(stack: Stack, row: Resource, above: tuple[str, ...]) -> Cause:
    """Return the origin of a resource's object, if the resource has nothing to do."""
    if "forcing" in row.origin:
        forcing = tuple(row.origin["forcing"])
        because = f"because of {', '.join(forcing)}"
        if not forcing:
            because = f"because {_WHY_REPLACED.get(row.origin['reason'], 'a new one was needed')}"
        before = row.origin["object"]
        text = f"{because}; the previous object was {before}" if before else because
        return _cause(
            stack,
            row,
            above,
            kind=CauseKind.REPLACED,
            text=text,
            since=row.created_at,
            because_of=forcing,
        )
    text = f"it is {row.action}_{row.status}"
    return _cause(stack, row, above, kind=CauseKind.NOTHING, text=text, since=row.updated_at)


def _not_made(stack: Stack, name: str, type_name: str) -> Cause:
    """Return the cause of a resource of the template that the stack does not have yet."""
    return Cause(
        CauseKind.NOTHING,
        (name,),
        stack.address,
        type_name,
        Action.INIT.value,
        Status.COMPLETE.value,
        "it has not been created: the stack has not got that far yet",
    )


def _of_stack(
    stack: Stack,
    kind: CauseKind,
    text: str,
    since: float | None,
    above: tuple[str, ...] = (),
) -> Cause:
    return Cause(
        kind,
        above,
        stack.address,
        "OS::Heat::Stack",
        stack.action.value,
        stack.status.value,
        text,
        since,
        stack.id,
        request_id=_request_in(text),
    )


def _kind_of_failure(reason: str) -> CauseKind:
    return CauseKind.ABORTED if _ABORTED in reason else CauseKind.FAILED


def _request_in(text: str) -> str | None:
    """Return the id of the request that a cloud's response names."""
    found = _REQUEST.search(text)
    return None if found is None else found[0]

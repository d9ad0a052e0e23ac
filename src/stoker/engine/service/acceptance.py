"""Accepts requests: checks everything that can be known, records it, and lets a driver begin.

A request is refused before anything is recorded, or it is recorded whole, in one transaction:
the input, the operation and, for a new stack, the stack. From then on it survives any crash.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stoker.engine.model.interfaces import Change, Guard, Inside, Ports, StoreFault
from stoker.engine.model.kinds import ChangeRequest, MarkRequest, OperationKind, Request
from stoker.engine.model.records import (
    Action,
    Operation,
    Stack,
    Status,
)
from stoker.engine.model.requests import Caller, StackQuery, StackRequest
from stoker.engine.model.transitions import Transitions
from stoker.engine.planning.permissions import OWNER, owner_facts
from stoker.engine.service.evaluating import check, evaluated, evaluated_update
from stoker.engine.service.guards import (
    DeletedAlready,
    live,
    record,
    refuse_second_delete,
    require_updatable,
    update_under_way,
)
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import BAD_REQUEST, Exists, InProgress, Invalid, LimitExceeded, NotFound
from stoker.template.evaluate.evaluation import Evaluation

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
_MARK_PAUSES = [0.005 * 1.5**number for number in range(16)]
"""Seconds between looks at a mark that was accepted; after seven in all the answer is given."""
UNMADE = "None"
"""Shown as the id of a stack that is only previewed."""


class Acceptance:
    """The requests that change something. ``notify`` tells the dispatcher of a stack."""

    def __init__(self, ports: Ports, notify: Callable[[str], None]) -> None:
        self._ports = ports
        self._notify = notify
        self._transitions = Transitions(ports.clock, ports.ids)

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        """Record a new stack and its first operation."""
        name = _check_name(request.name)
        stack = new_stack(self._ports, caller, name, request)
        given, evaluation = await evaluated(self._ports, stack, request)
        await self._check_name(caller, name)
        await check(self._ports, caller, stack, evaluation)
        credentials = await self._ports.deferred.grant(caller)
        stack = replace(
            stack,
            input_id=given.id,
            credentials={**credentials, OWNER: owner_facts(caller)},
            description=_description(evaluation),
        )
        stack, event = self._transitions.stack_to(
            stack, Action.CREATE, Status.IN_PROGRESS, "Stack CREATE started"
        )
        asked = ChangeRequest(rollback=not stack.disable_rollback)
        operation = self._operation(stack, Action.CREATE, given.id, asked)
        change = Change(
            stack.id,
            None,
            (given,),
            (stack,),
            operations=(operation,),
            events=(event,),
            guard=self._room_for(caller),
        )
        self._ports.kept.put(given.id, evaluation)
        try:
            await record(self._ports, self._notify, change)
        except StoreFault:
            raise  # perhaps the stack was recorded, and needs its credentials
        except Exception:
            await self._ports.deferred.revoke(credentials)
            raise
        finally:
            self._ports.deferred.settle(credentials)
        return stack.address

    async def evaluate_new(self, caller: Caller, request: StackRequest) -> tuple[Stack, Evaluation]:
        """A stack as a create request would make it, and its evaluation, fully checked."""
        name = _check_name(request.name)
        stack = replace(new_stack(self._ports, caller, name, request), id=UNMADE)
        _, evaluation = await evaluated(self._ports, stack, request)
        await self._check_name(caller, name)
        await self._check_room(caller)
        await check(self._ports, caller, stack, evaluation)
        return replace(stack, description=_description(evaluation)), evaluation

    async def update(self, caller: Caller, stack: Stack, request: StackRequest) -> None:
        """Record an update; whatever is under way on the stack gives way to it."""
        require_updatable(stack)
        given, evaluation = await evaluated_update(self._ports, caller, stack, request)
        disable_rollback = stack.disable_rollback
        if request.disable_rollback is not None:
            disable_rollback = request.disable_rollback
        settings: dict[str, Any] = {
            "description": _description(evaluation),
            "disable_rollback": disable_rollback,
        }
        if request.timeout_mins is not None or not request.existing:
            settings["timeout_mins"] = request.timeout_mins
        if request.tags is not None or not request.existing:
            settings["tags"] = request.tags or ()
        stack = replace(stack, timeout_mins=settings.get("timeout_mins", stack.timeout_mins))
        operation = self._operation(
            stack,
            Action.UPDATE,
            given.id,
            ChangeRequest(rollback=not disable_rollback, settings=settings),
        )
        self._ports.kept.put(given.id, evaluation)
        change = Change(
            stack.id,
            None,
            inputs=(given,),
            operations=(operation,),
            guard=lambda inside: require_updatable(live(inside, stack)),
        )
        await record(self._ports, self._notify, change)

    async def delete(self, stack: Stack) -> None:
        """Record a delete; whatever is under way on the stack gives way to it."""
        if stack.deleted_at is not None:
            raise NotFound(f"the stack {stack.name} ({stack.id}) is deleted already")
        change = Change(
            stack.id,
            None,
            operations=(self._operation(stack, Action.DELETE),),
            guard=lambda inside: refuse_second_delete(live(inside, stack)),
        )
        try:
            await record(self._ports, self._notify, change)
        except DeletedAlready:
            self._notify(stack.id)

    async def cancel_update(self, stack: Stack) -> None:
        """Give up the update under way and go back to what the stack was before."""
        update = update_under_way(stack, await self._ports.store.queue(stack.id))
        operation = self._operation(stack, Action.ROLLBACK, cancels=update)

        def guard(inside: Inside) -> None:
            if update_under_way(live(inside, stack), inside.queue(stack.id)) != update:
                raise InProgress(
                    f"another update of the stack {stack.name} came in between; cancel again"
                )

        change = Change(stack.id, None, operations=(operation,), guard=guard)
        await record(self._ports, self._notify, change)

    async def mark(self, stack: Stack, row_id: str, *, unhealthy: bool, reason: str) -> None:
        """Record a mark on a resource, and return when it is there; refused while others run."""
        request = MarkRequest(row_id, unhealthy=unhealthy, reason=reason)
        operation = self._operation(stack, Action.SIGNAL, request=request)

        def guard(inside: Inside) -> None:
            now = live(inside, stack)
            if any(op.kind is not OperationKind.MARK for op in inside.queue(stack.id)):
                raise InProgress(
                    f"Stack {now.name} already has an action ({now.action}) in progress; wait for"
                    " its end"
                )

        change = Change(stack.id, None, operations=(operation,), guard=guard)
        await record(self._ports, self._notify, change)
        # whoever drives the stack may be another process, which tells nobody here
        for pause in _MARK_PAUSES:
            found = await self._ports.store.operation_status(operation.id)
            if found is None or found[0].final:
                return
            await asyncio.sleep(pause)

    def _operation(
        self,
        stack: Stack,
        action: Action,
        input_id: str | None = None,
        request: Request | None = None,
        *,
        cancels: str | None = None,
    ) -> Operation:
        now = self._ports.clock.now()
        minutes = stack.timeout_mins or self._ports.limits.timeout_mins
        return Operation(
            id=self._ports.ids.uuid(),
            stack_id=stack.id,
            action=action,
            created_at=now,
            request=request or ChangeRequest(),
            input_id=input_id,
            deadline=now + minutes * 60,
            cancels=cancels,
        )

    async def _check_name(self, caller: Caller, name: str) -> None:
        if await self._ports.store.find_stack(caller.project_id, name) is not None:
            raise Exists(
                f"The Stack ({name}) already exists. Choose another name, or update or delete that"
                " one"
            )

    async def _check_room(self, caller: Caller) -> None:
        if (most := self._most_stacks(caller)) is not None:
            count = await self._ports.store.count_stacks(caller.project_id, StackQuery())
            _require_room(count, most)

    def _most_stacks(self, caller: Caller) -> int | None:
        most = self._ports.limits.stacks_per_project
        return None if caller.is_admin or most < 0 else most

    def _room_for(self, caller: Caller) -> Guard | None:
        most = self._most_stacks(caller)
        if most is None:
            return None
        return lambda inside: _require_room(inside.count_stacks(caller.project_id), most)


def new_stack(ports: Ports, caller: Caller, name: str, request: StackRequest) -> Stack:
    """A stack as a create request asks for it, not recorded."""
    now = ports.clock.now()
    return Stack(
        id=ports.ids.uuid(),
        project_id=caller.project_id,
        name=name,
        action=Action.INIT,
        status=Status.COMPLETE,
        reason="",
        created_at=now,
        input_id="",
        user_id=caller.user_id,
        user_name=caller.user_name,
        credentials={"token": caller.token, "project_id": caller.project_id},
        timeout_mins=request.timeout_mins,
        disable_rollback=request.disable_rollback is not False,
        tags=request.tags or (),
    )


def _check_name(name: str | None) -> str:
    if name is None:
        raise Invalid("No stack name specified", BAD_REQUEST)
    if not NAME.fullmatch(name):
        raise DiagnosticError(
            [
                Diagnostic(
                    code="invalid-stack-name",
                    message=f'Invalid stack name "{name[:80]}": it must contain only alphanumeric'
                    ' or "_-." characters, must start with alpha and have 255 characters at most',
                )
            ]
        )
    return name


def _require_room(count: int, most: int) -> None:
    if count >= most:
        raise LimitExceeded(
            f"You have reached the maximum stacks per tenant, {most}. Delete stacks of this project"
        )


def _description(evaluation: Evaluation) -> str:
    return str(evaluation.template.description or "No description")

"""Accepts requests: checks everything that can be known, records it, and lets a driver begin.

A request is refused before anything is recorded, or it is recorded whole, in one transaction:
the input, the operation and, for a new stack, the stack. From then on it survives any crash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stoker.engine.model.interfaces import Change, Guard, Inside, Ports, StoreFault
from stoker.engine.model.records import (
    Action,
    Input,
    Operation,
    OperationStatus,
    Stack,
    Status,
)
from stoker.engine.model.requests import Caller, StackQuery, StackRequest
from stoker.engine.model.secrets import findings_of, masking_of
from stoker.engine.model.transitions import Transitions
from stoker.engine.planning.evaluations import evaluation_at, evaluation_of
from stoker.engine.planning.permissions import OWNER, owner_facts, require_types
from stoker.engine.service.fetching import with_fetched
from stoker.engine.service.guards import (
    DeletedAlready,
    live,
    record,
    refuse_second_delete,
    require_updatable,
    update_under_way,
)
from stoker.engine.service.inputs import input_of
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import BAD_REQUEST, Exists, InProgress, Invalid, LimitExceeded, NotFound
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.parameters.parameters import immutable_changes

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
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
        stack = self._new_stack(caller, name, request)
        given, evaluation = await self._evaluate(stack, request)
        await self._check_free(caller, name)
        await self._check(caller, stack, evaluation)
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
        rollback = not stack.disable_rollback
        operation = self._operation(stack, Action.CREATE, given.id, rollback=rollback)
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
        stack = replace(self._new_stack(caller, name, request), id=UNMADE)
        _, evaluation = await self._evaluate(stack, request)
        await self._check_free(caller, name)
        await self._check(caller, stack, evaluation)
        return replace(stack, description=_description(evaluation)), evaluation

    async def update(self, caller: Caller, stack: Stack, request: StackRequest) -> None:
        """Record an update; whatever is under way on the stack gives way to it."""
        require_updatable(stack)
        given, evaluation = await self.evaluate_update(caller, stack, request)
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
            rollback=not disable_rollback,
            settings=settings,
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

    async def evaluate_update(
        self, caller: Caller, stack: Stack, request: StackRequest
    ) -> tuple[Input, Evaluation]:
        """The input that an update would give the stack, and its evaluation, fully checked."""
        old = await self._ports.store.input(stack.input_id) if request.existing else None
        earlier = await evaluation_at(self._ports, stack, stack.input_id)
        given, evaluation = await self._evaluate(stack, request, old, earlier)

        def changes() -> Sequence[Diagnostic]:
            return immutable_changes(
                evaluation.declarations, earlier.parameters, evaluation.parameters
            )

        if fixed := await self._ports.workers.compute(changes):
            raise DiagnosticError(fixed)
        await self._check(caller, stack, evaluation)
        return given, evaluation

    async def delete(self, stack: Stack) -> None:
        """Record a delete; whatever is under way on the stack gives way to it."""
        if stack.deleted_at is not None:
            raise NotFound(f"the stack {stack.name} ({stack.id}) is deleted already")
        change = Change(
            stack.id,
            None,
            operations=(self._operation(stack, Action.DELETE, None),),
            guard=lambda inside: refuse_second_delete(live(inside, stack)),
        )
        try:
            await record(self._ports, self._notify, change)
        except DeletedAlready:
            self._notify(stack.id)

    async def evaluate_description(self, caller: Caller, request: StackRequest) -> Evaluation:
        """An evaluation that says what a template is, whatever values it will get."""
        stack = self._new_stack(caller, request.name or "stack", request)
        _, evaluation = await self._evaluate(stack, request)
        return evaluation

    async def _evaluate(
        self,
        stack: Stack,
        request: StackRequest,
        old: Input | None = None,
        earlier: Evaluation | None = None,
    ) -> tuple[Input, Evaluation]:
        """The input of a request and its evaluation, not checked yet."""
        input_id = self._ports.ids.uuid()

        def evaluate() -> tuple[Input, Evaluation]:
            given = input_of(input_id, stack.id, request, old)
            return given, evaluation_of(self._ports, stack, given, earlier)

        given, evaluation = await self._ports.workers.compute(evaluate)
        return await with_fetched(self._ports, stack, given, evaluation, earlier)

    async def cancel_update(self, stack: Stack) -> None:
        """Give up the update under way and go back to what the stack was before."""
        update = update_under_way(stack, await self._ports.store.queue(stack.id))
        operation = self._operation(stack, Action.ROLLBACK, None, cancels=update)

        def guard(inside: Inside) -> None:
            if update_under_way(live(inside, stack), inside.queue(stack.id)) != update:
                raise InProgress(
                    f"another update of the stack {stack.name} came in between; cancel again"
                )

        change = Change(stack.id, None, operations=(operation,), guard=guard)
        await record(self._ports, self._notify, change)

    def _new_stack(self, caller: Caller, name: str, request: StackRequest) -> Stack:
        now = self._ports.clock.now()
        return Stack(
            id=self._ports.ids.uuid(),
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

    def _operation(
        self,
        stack: Stack,
        action: Action,
        input_id: str | None,
        *,
        rollback: bool = False,
        cancels: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Operation:
        now = self._ports.clock.now()
        minutes = stack.timeout_mins or self._ports.limits.timeout_mins
        return Operation(
            id=self._ports.ids.uuid(),
            stack_id=stack.id,
            action=action,
            status=OperationStatus.WAITING,
            created_at=now,
            input_id=input_id,
            deadline=now + minutes * 60,
            rollback=rollback,
            cancels=cancels,
            settings=settings or {},
        )

    async def _check_free(self, caller: Caller, name: str) -> None:
        if await self._ports.store.find_stack(caller.project_id, name) is not None:
            raise Exists(
                f"The Stack ({name}) already exists. Choose another name, or update or delete that"
                " one"
            )
        most = self._most_stacks(caller)
        if most is not None:
            _require_room(
                await self._ports.store.count_stacks(caller.project_id, StackQuery()), most
            )

    def _most_stacks(self, caller: Caller) -> int | None:
        most = self._ports.limits.stacks_per_project
        return None if caller.is_admin or most < 0 else most

    def _room_for(self, caller: Caller) -> Guard | None:
        most = self._most_stacks(caller)
        if most is None:
            return None
        return lambda inside: _require_room(inside.count_stacks(caller.project_id), most)

    async def _check(self, caller: Caller, stack: Stack, evaluation: Evaluation) -> None:
        """Everything that can be found wrong before anything is done."""
        findings = await self._ports.workers.compute(lambda: findings_of(evaluation))
        findings.raise_errors()
        require_types(self._ports.policy, caller, evaluation)
        most = self._ports.limits.resources_per_stack
        if 0 <= most < len(evaluation.names):
            raise LimitExceeded(
                f"Maximum resources per stack exceeded. The template has {len(evaluation.names)}"
                f" resources; a stack may have {most}"
            )
        checks = evaluation.custom_checks()
        if not checks:
            return
        verdicts = await self._ports.workers.run(
            "identity", lambda: self._ports.clouds.check(stack, checks)
        )
        masking = await self._ports.workers.compute(lambda: masking_of(evaluation))
        for check, verdict in zip(checks, verdicts, strict=True):
            if verdict is not None:
                told = Diagnostic("not-in-cloud", masking.text(verdict), check.path)
                findings.add(evaluation.template.source.located(told))
        findings.raise_errors()


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

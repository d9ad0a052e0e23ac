"""Requests that change stacks: evaluated, checked, recorded, and left to a driver.

Takes a caller and a request, and returns as soon as the request is recorded; the driver of the
stack carries it out. Each method has the same steps: evaluate the request, collect the checks that
the transaction repeats, make the operation, commit.

A request is rejected before anything is written, or it is recorded whole, in one transaction: the
input, the operation and, for a new stack, the stack. From then on it survives any crash.

Called by the REST and AWS APIs. Tested by tests/operations/test_operations.py, test_requests.py,
test_cancel.py, test_client_tokens.py, test_accepted_plans.py and test_change_sets.py.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

from stoker.engine.model.interfaces import Dispatcher, Ports, PublicChange
from stoker.engine.model.kinds import CancelRequest, ChangeRequest, MarkRequest, WalkRequest
from stoker.engine.model.records import Action, Stack, Status
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_records.change_sets import ChangeSetExecution
from stoker.engine.model.transitions import Transitions
from stoker.engine.service.requests.evaluate import (
    NewStack,
    description_of,
    evaluated_adopt,
    evaluated_in_review,
    evaluated_new,
    evaluated_update,
)
from stoker.engine.service.requests.plan_fingerprints import (
    agreed_delete,
    agreed_update,
    require_agreed,
    require_agreed_create,
    require_change,
)
from stoker.engine.service.requests.protections import (
    protection_of,
    require_same_protection,
    rules_for,
)
from stoker.engine.service.requests.record import record_new_stack
from stoker.engine.service.stack_access.guards import (
    AlreadyDoneError,
    cancellable,
    require_deletable,
    require_in_review,
    require_markable,
    require_new_token,
    require_room_for_stack,
    require_same_cancellable,
    require_still_updatable,
    require_there,
    require_updatable,
    require_walkable,
)
from stoker.engine.service.stack_access.lookup import (
    Finder,
    await_end,
    current_rows,
    row_by_any_id,
)
from stoker.engine.service.stack_access.shared_values import export_names, require_shared
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NotSupportedError
from stoker.kernel.values import replace

_WALKS = {"suspend": Action.SUSPEND, "resume": Action.RESUME, "check": Action.CHECK}
# True if the stack is rolled back
_CANCELS = {"cancel_update": True, "cancel_without_rollback": False}


class Operations:
    """Operations on stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder, dispatcher: Dispatcher) -> None:
        self._ports = ports
        self._finder = finder
        self._dispatcher = dispatcher
        self._transitions = Transitions(ports.clock, ports.ids)

    async def find(self, caller: Caller, name_or_id: str) -> StackAddress:
        """Return the address of a stack by name, id or ARN. Deleted stacks are found by id only."""
        return (await self._finder.by_name_or_id(caller, name_or_id)).address

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        """Record a stack and the operation that creates it."""
        new = await evaluated_new(self._ports, caller, request)
        return await self._start(caller, Action.CREATE, request, new)

    async def adopt(self, caller: Caller, request: StackRequest, document: str) -> StackAddress:
        """Record a stack and the operation that adopts the objects of a document.

        The document has the format of an export. Values of the request replace those of the
        document.
        """
        new = await evaluated_adopt(self._ports, caller, request, document)
        return await self._start(caller, Action.ADOPT, request, new)

    async def _start(
        self, caller: Caller, action: Action, request: StackRequest, new: NewStack
    ) -> StackAddress:
        """Record a new stack with its first operation, which this engine drives."""
        ports, stack_input, evaluation = self._ports, new.input, new.evaluation
        await require_agreed_create(ports, new.stack, request, stack_input, evaluation)
        protections = protection_of(new.stack, request)
        exports = await export_names(ports, evaluation)
        checks = (
            partial(require_new_token, caller=caller),
            partial(require_room_for_stack, limits=ports.limits, caller=caller),
            partial(require_shared, stack=new.stack, stack_input=stack_input, names=exports),
        )
        stack, event = self._transitions.stack_to(
            new.stack, action, Status.IN_PROGRESS, f"Stack {action} started"
        )
        content = _creation(request, disable_rollback=stack.disable_rollback)
        operation = ports.operation_on(stack, action, content, stack_input.id, caller=caller)
        event = replace(event, client_token=operation.client_token)
        change = PublicChange(
            stack.id,
            puts=(stack, stack_input, operation, event, *protections),
            guards=checks,
            acquires=(stack.id,),
        )
        ports.evaluations.put(stack_input.id, evaluation)
        await record_new_stack(ports, caller, change)
        return stack.address

    async def create_reviewed(
        self, caller: Caller, stack: Stack, request: StackRequest, change_set_id: str
    ) -> None:
        """Record the create of a stack that has only had change sets, by executing one of them.

        Raises PlanOutdatedError if the plan of the change set is outdated.
        """
        ports = self._ports
        stack_input, evaluation = await evaluated_in_review(ports, caller, stack, request)
        await require_agreed_create(ports, stack, request, stack_input, evaluation)
        protections = protection_of(stack, request)
        exports = await export_names(ports, evaluation)
        checks = (
            partial(require_new_token, caller=caller),
            partial(require_in_review, stack=stack),
            partial(require_shared, stack=stack, stack_input=stack_input, names=exports),
        )
        disable_rollback = request.disable_rollback is not False
        settings = {
            "description": description_of(evaluation),
            "disable_rollback": disable_rollback,
            "timeout_mins": request.timeout_mins,
            "tags": request.tags or (),
            **_import_setting(stack, request),
        }
        content = _creation(request, disable_rollback=disable_rollback)
        operation = ports.operation_on(
            replace(stack, timeout_mins=request.timeout_mins),
            Action.CREATE,
            replace(content, settings=settings),
            stack_input.id,
            caller=caller,
        )
        change = PublicChange(
            stack.id,
            puts=(
                stack_input,
                operation,
                ChangeSetExecution(change_set_id, operation.id),
                *protections,
            ),
            guards=checks,
        )
        ports.evaluations.put(stack_input.id, evaluation)
        await ports.store.commit(change)

    async def update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        executes: str | None = None,
    ) -> None:
        """Record an update, which supersedes the operation in progress.

        ``executes`` is the id of the change set that it executes. Raises PlanOutdatedError if the
        plan that the request accepts is outdated.
        """
        ports = self._ports
        stack = await self._finder.at(caller, address)
        require_updatable(stack)
        stack_input, evaluation = await evaluated_update(ports, caller, stack, request)
        await require_change(ports, stack, stack_input, request)
        exports = await export_names(ports, evaluation)
        rules = await rules_for(ports, stack, request)
        agreement = await agreed_update(ports, stack, stack_input, evaluation, request)
        checks = (
            partial(require_new_token, caller=caller),
            partial(require_still_updatable, stack=stack),
            partial(require_agreed, agreement=agreement),
            partial(require_same_protection, before=rules.before),
            partial(require_shared, stack=stack, stack_input=stack_input, names=exports),
        )
        settings = _changed_settings(stack, request, description_of(evaluation))
        content = ChangeRequest(
            rollback=not settings["disable_rollback"],
            settings=settings,
            accepted=None if agreement is None else agreement.accepted,
            converge=request.converge,
            moves=request.moves,
            import_objects=request.import_objects,
            change_imported=request.change_imported,
            keep_objects=request.keep_objects,
            express=request.express,
            policy=rules.of_update,
        )
        # The time limit of the request applies to its own operation, too.
        limited = replace(stack, timeout_mins=settings.get("timeout_mins", stack.timeout_mins))
        operation = ports.operation_on(
            limited, Action.UPDATE, content, stack_input.id, caller=caller
        )
        executions = () if executes is None else (ChangeSetExecution(executes, operation.id),)
        change = PublicChange(
            stack.id,
            puts=(stack_input, operation, *executions, *rules.new),
            guards=checks,
        )
        ports.evaluations.put(stack_input.id, evaluation)
        await ports.store.commit(change)

    async def delete(
        self,
        caller: Caller,
        address: StackAddress,
        plan_fingerprint: str | None = None,
        *,
        express: bool = False,
    ) -> None:
        """Record a delete, which supersedes the operation in progress. A second one has no effect.

        With ``express``, deletes start as soon as those before them are certain to proceed.

        Raises NotFoundError for a deleted stack, and PlanOutdatedError if the plan that the request
        accepts is outdated.
        """
        stack = await self._finder.at(caller, address)
        require_there(stack)
        agreement = await agreed_delete(self._ports, stack, plan_fingerprint)
        checks = (
            partial(require_new_token, caller=caller),
            partial(require_deletable, stack=stack),
            partial(require_agreed, agreement=agreement),
        )
        content = ChangeRequest(express=express)
        operation = self._ports.operation_on(stack, Action.DELETE, content, caller=caller)
        change = PublicChange(stack.id, puts=(operation,), guards=checks)
        try:
            await self._ports.store.commit(change)
        except AlreadyDoneError:
            # The delete is recorded already. Its driver may be waiting, so wake it.
            self._dispatcher.wake(stack.id)

    async def act(self, caller: Caller, address: StackAddress, action: str) -> None:
        """Record an action on the whole stack. Raises NotSupportedError for an unknown action."""
        stack = await self._finder.at(caller, address)
        if action in _WALKS:
            await self._walk(stack, _WALKS[action])
        elif action in _CANCELS:
            await self._cancel(caller, stack, back=_CANCELS[action])
        else:
            raise NotSupportedError(f'the action "{action}" is not available in this release')

    async def _walk(self, stack: Stack, action: Action) -> None:
        """Record an action on every resource. It has no effect if it was the last one."""
        operation = self._ports.operation_on(stack, action, WalkRequest())
        check = partial(require_walkable, stack=stack, action=action)
        change = PublicChange(stack.id, puts=(operation,), guards=(check,))
        with contextlib.suppress(AlreadyDoneError):
            await self._ports.store.commit(change)

    async def _cancel(self, caller: Caller, stack: Stack, *, back: bool) -> None:
        """Cancel the update or create in progress. With ``back``, roll the update back."""
        require_there(stack)
        cancelled = cancellable(stack, await self._ports.store.queue(stack.id), back=back)
        action = Action.ROLLBACK if back else cancelled.action
        content = ChangeRequest() if back else CancelRequest()
        operation = self._ports.operation_on(
            stack, action, content, cancels=cancelled.id, caller=caller
        )
        checks = (
            partial(require_new_token, caller=caller),
            partial(require_same_cancellable, stack=stack, expected=cancelled.id, back=back),
        )
        change = PublicChange(stack.id, puts=(operation,), guards=checks)
        await self._ports.store.commit(change)

    async def mark_unhealthy(
        self, caller: Caller, address: StackAddress, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource so that the next update replaces it, or remove the mark.

        ``name`` may also be the id of its object. Returns when that is done. Raises
        ActionInProgressError while any other operation is in progress.
        """
        stack = await self._finder.at(caller, address)
        rows = current_rows(await self._ports.store.outlines(stack.id))
        row = row_by_any_id(rows, name, stack)
        if unhealthy == row.unhealthy:
            return
        content = MarkRequest(row.id, unhealthy=unhealthy, reason=reason)
        operation = self._ports.operation_on(stack, Action.SIGNAL, content)
        check = partial(require_markable, stack=stack)
        await self._ports.store.commit(PublicChange(stack.id, puts=(operation,), guards=(check,)))
        await await_end(self._ports.store, operation.id)


def _creation(request: StackRequest, *, disable_rollback: bool) -> ChangeRequest:
    """Return the content of the operation that creates a stack."""
    deletes = request.deletes_on_failure
    return ChangeRequest(
        rollback=not disable_rollback and not deletes,
        deletes=deletes,
        import_objects=request.import_objects,
        express=request.express,
    )


def _changed_settings(stack: Stack, request: StackRequest, description: str) -> dict[str, Any]:
    """Return the columns of the stack that change when an update starts."""
    settings: dict[str, Any] = {
        "description": description,
        "disable_rollback": stack.disable_rollback,
    }
    if request.disable_rollback is not None:
        settings["disable_rollback"] = request.disable_rollback
    if request.timeout_mins is not None:
        settings["timeout_mins"] = request.timeout_mins
    if request.tags is not None or not request.existing:
        settings["tags"] = request.tags or ()
    return {**settings, **_import_setting(stack, request)}


def _import_setting(stack: Stack, request: StackRequest) -> dict[str, Any]:
    # Engines of an earlier release, on the same database, do not know the column.
    return {} if request.is_import == stack.is_import else {"is_import": request.is_import}

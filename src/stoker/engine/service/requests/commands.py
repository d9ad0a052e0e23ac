"""Requests of users that change something: checked, recorded, and left to a driver.

A request is refused before anything is recorded, or it is recorded whole, in one transaction: the
input, the operation and, for a new stack, the stack. From then on it survives any crash.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from stoker.engine.model.change_sets import NO_CHANGE_SETS, ChangeSetChange
from stoker.engine.model.interfaces import Dispatcher, Ports, PublicChange, TransactionReader
from stoker.engine.model.kinds import (
    CancelRequest,
    ChangeRequest,
    MarkRequest,
    OperationKind,
    WalkRequest,
)
from stoker.engine.model.records import Action, Stack, Status, is_walked
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.transitions import Transitions
from stoker.engine.service.requests.evaluate import (
    NewStack,
    description_of,
    evaluated_adopt,
    evaluated_new,
    evaluated_update,
)
from stoker.engine.service.requests.plan_fingerprints import (
    agreed_delete,
    agreed_update,
    require_agreed,
    require_change,
    require_create,
)
from stoker.engine.service.requests.protections import rules_for
from stoker.engine.service.requests.record import guard_of_new, protection_of, record
from stoker.engine.service.stack_access.guards import (
    AlreadyDoneError,
    cancellable,
    live,
    refuse_second_delete,
    require_awake,
    require_deletable,
    require_rest,
    require_there,
    require_updatable,
    token_is_unused,
)
from stoker.engine.service.stack_access.lookup import Finder, row_by_any_id
from stoker.engine.service.stack_access.presenters import current_rows
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, NotSupportedError
from stoker.kernel.values import replace

_WALKS = {"suspend": Action.SUSPEND, "resume": Action.RESUME, "check": Action.CHECK}
_CANCELS = {"cancel_update": True, "cancel_without_rollback": False}
"""Whether the stack goes back."""
_MARK_PAUSES = [0.005 * 1.5**number for number in range(16)]
"""Seconds between polls of an accepted mark; the request is answered after seven in all."""


class Operations:
    """Operations on stacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder, dispatcher: Dispatcher) -> None:
        self._ports = ports
        self._finder = finder
        self._dispatcher = dispatcher
        self._transitions = Transitions(ports.clock, ports.ids)

    async def find(self, caller: Caller, name_or_id: str) -> StackAddress:
        """The address of a stack by name, id or ARN. Deleted stacks are found by id only."""
        return (await self._finder.by_name_or_id(caller, name_or_id)).address

    async def create(self, caller: Caller, request: StackRequest) -> StackAddress:
        """Check everything, record the stack, start it, and return without waiting."""
        made = await evaluated_new(self._ports, caller, request)
        return await self._begin(caller, Action.CREATE, request, made)

    async def adopt(self, caller: Caller, request: StackRequest, document: str) -> StackAddress:
        """As :meth:`create`, of the objects that a document names: none is made.

        The request counts before the document, which has the form of an export.
        """
        made = await evaluated_adopt(self._ports, caller, request, document)
        return await self._begin(caller, Action.ADOPT, request, made)

    async def _begin(
        self, caller: Caller, action: Action, request: StackRequest, made: NewStack
    ) -> StackAddress:
        """Record a new stack."""
        stack, given, evaluation = made
        if (plan := request.plan_fingerprint) is not None:
            await self._ports.workers.compute(lambda: require_create(plan, given, evaluation))
        protections = protection_of(stack, request)
        guard = await guard_of_new(self._ports, caller, made)

        def change_of(stack: Stack) -> PublicChange:
            stack, event = self._transitions.stack_to(
                stack, action, Status.IN_PROGRESS, f"Stack {action} started"
            )
            deletes = request.deletes_on_failure
            rollback = not stack.disable_rollback and not deletes
            asked = ChangeRequest(rollback=rollback, deletes=deletes)
            operation = self._ports.operation_on(stack, action, asked, given.id, caller=caller)
            event = replace(event, client_token=operation.client_token)
            return PublicChange(
                stack.id,
                (stack,),
                (given,),
                operations=(operation,),
                events=(event,),
                protections=protections,
                guards=(token_is_unused(caller), guard),
                taken=(stack.id,),
            )

        return (await record(self._ports, caller, made, change_of)).address

    async def update(
        self,
        caller: Caller,
        address: StackAddress,
        request: StackRequest,
        *,
        executes: str | None = None,
    ) -> None:
        """Record an update; whatever is under way on the stack gives way to it.

        ``executes`` is the id of the change set that it carries out. Raises PlanOutdatedError
        where the plan that is accepted does not hold any more.
        """
        stack = await self._finder.at(caller, address)
        require_updatable(stack)
        given, evaluation = await evaluated_update(self._ports, caller, stack, request)
        if request.must_change:
            await require_change(self._ports, stack, given, request)
        rules = await rules_for(self._ports, stack, request, (given, evaluation))
        agreement = await agreed_update(self._ports, stack, given, evaluation, request)
        disable_rollback = stack.disable_rollback
        if request.disable_rollback is not None:
            disable_rollback = request.disable_rollback
        settings: dict[str, Any] = {
            "description": description_of(evaluation),
            "disable_rollback": disable_rollback,
        }
        if request.timeout_mins is not None:
            settings["timeout_mins"] = request.timeout_mins
        if request.tags is not None or not request.existing:
            settings["tags"] = request.tags or ()
        stack = replace(stack, timeout_mins=settings.get("timeout_mins", stack.timeout_mins))
        asked = ChangeRequest(
            rollback=not disable_rollback,
            settings=settings,
            accepted=None if agreement is None else agreement.accepted,
            converge=request.converge,
            policy=rules.of_update,
        )
        operation = self._ports.operation_on(stack, Action.UPDATE, asked, given.id, caller=caller)
        self._ports.kept.put(given.id, evaluation)

        def guard(inside: TransactionReader) -> None:
            require_updatable(live(inside, stack))
            require_agreed(inside, agreement)
            rules.require(inside)

        executed = None if executes is None else (executes, operation.id)
        change = PublicChange(
            stack.id,
            inputs=(given,),
            operations=(operation,),
            change_sets=ChangeSetChange(executed=executed) if executed else NO_CHANGE_SETS,
            protections=rules.new,
            guards=(token_is_unused(caller), guard),
        )
        await self._ports.store.commit(change)

    async def delete(
        self, caller: Caller, address: StackAddress, plan_fingerprint: str | None = None
    ) -> None:
        """Record a delete; whatever is under way on the stack gives way to it.

        Raises NotFoundError when the stack is gone, PlanOutdatedError where the plan that is
        accepted does not hold any more.
        """
        stack = await self._finder.at(caller, address)
        require_there(stack)
        agreement = await agreed_delete(self._ports, stack, plan_fingerprint)

        def guard(inside: TransactionReader) -> None:
            refuse_second_delete(live(inside, stack))
            require_deletable(inside, stack)
            require_agreed(inside, agreement)

        operation = self._ports.operation_on(stack, Action.DELETE, ChangeRequest(), caller=caller)
        change = PublicChange(
            stack.id, operations=(operation,), guards=(token_is_unused(caller), guard)
        )
        try:
            await self._ports.store.commit(change)
        except AlreadyDoneError:
            self._dispatcher.wake(stack.id)

    async def act(self, caller: Caller, address: StackAddress, action: str) -> None:
        """An action on the whole stack. Raises NotSupportedError for one that there is not."""
        stack = await self._finder.at(caller, address)
        if action in _WALKS:
            await self._walk(stack, _WALKS[action])
        elif action in _CANCELS:
            await self._cancel(caller, stack, back=_CANCELS[action])
        else:
            raise NotSupportedError(f'the action "{action}" is not available in this release')

    async def _walk(self, stack: Stack, action: Action) -> None:
        """Have one thing done to each resource; nothing where that was done last."""
        operation = self._ports.operation_on(stack, action, WalkRequest())

        def guard(inside: TransactionReader) -> None:
            now = live(inside, stack)
            require_rest(now, inside.queue(stack.id))
            if action is Action.CHECK:
                require_awake(now)
            if is_walked(now, action):
                raise AlreadyDoneError

        change = PublicChange(stack.id, operations=(operation,), guards=(guard,))
        with contextlib.suppress(AlreadyDoneError):
            await self._ports.store.commit(change)

    async def _cancel(self, caller: Caller, stack: Stack, *, back: bool) -> None:
        """Cancel the update or create in progress. With ``back``, roll the update back."""
        require_there(stack)
        given_up = cancellable(stack, await self._ports.store.queue(stack.id), back=back)
        action = Action.ROLLBACK if back else given_up.action
        request = ChangeRequest() if back else CancelRequest()
        operation = self._ports.operation_on(
            stack, action, request, cancels=given_up.id, caller=caller
        )

        def guard(inside: TransactionReader) -> None:
            newest = cancellable(live(inside, stack), inside.queue(stack.id), back=back)
            if newest.id != given_up.id:
                raise ActionInProgressError(
                    f"another update of the stack {stack.name} was accepted in the meantime;"
                    " cancel again"
                )

        change = PublicChange(
            stack.id, operations=(operation,), guards=(token_is_unused(caller), guard)
        )
        await self._ports.store.commit(change)

    async def mark_unhealthy(
        self, caller: Caller, address: StackAddress, name: str, *, unhealthy: bool, reason: str
    ) -> None:
        """Mark a resource so that the next update replaces it, or take the mark back.

        ``name`` may also be the id of its object. Returns when that is done. Raises
        ActionInProgressError while anything else is under way.
        """
        stack = await self._finder.at(caller, address)
        rows = current_rows(await self._ports.store.resources(stack.id))
        row = row_by_any_id(rows, name, stack)
        if unhealthy == row.unhealthy:
            return
        request = MarkRequest(row.id, unhealthy=unhealthy, reason=reason)
        operation = self._ports.operation_on(stack, Action.SIGNAL, request)

        def guard(inside: TransactionReader) -> None:
            now = live(inside, stack)
            if any(op.kind is not OperationKind.MARK for op in inside.queue(stack.id)):
                raise ActionInProgressError(
                    f"Stack {now.name} already has an action ({now.action}) in progress; wait for"
                    " its end"
                )

        change = PublicChange(stack.id, operations=(operation,), guards=(guard,))
        await self._ports.store.commit(change)
        # The engine of the stack may be another process, which does not notify this one.
        for pause in _MARK_PAUSES:
            found = await self._ports.store.operation_status(operation.id)
            if found is None or found[0].final:
                return
            await asyncio.sleep(pause)

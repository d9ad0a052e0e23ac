"""Change sets: store a request with its plan, and execute it in a later request.

Only the shown plan is executed, as with any saved plan. A new stack is recorded with its first
change set: it has a name and an id, and nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from stoker.engine.model.interfaces import Key, Ports, PublicChange, TransactionReader
from stoker.engine.model.records import OperationStatus, Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_records.change_sets import ChangeSet
from stoker.engine.model.views import ChangeSetState, ChangeSetView
from stoker.engine.service.change_sets import contents
from stoker.engine.service.previews.previews import Previews
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.requests.evaluate import evaluated_in_review, evaluated_new
from stoker.engine.service.requests.plan_fingerprints import same_input, still_holds
from stoker.engine.service.requests.record import record_new_stack
from stoker.engine.service.stack_access.guards import (
    is_in_review,
    live,
    require_room_for_stack,
)
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import (
    CHANGE_SET_NOT_FOUND,
    PLAN_OUTDATED,
    ActionInProgressError,
    AlreadyExistsError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.kernel.values import replace

MOST = 100  # change sets of a stack
# Seconds between polls of a running change set; 2.6 in all.
_PAUSES = [0.01 * 1.5**number for number in range(12)]
_RUNNING = ChangeSetState.RUNNING
_ENDS: Mapping[OperationStatus | None, ChangeSetState] = {
    None: ChangeSetState.COMPLETE,
    OperationStatus.COMPLETE: ChangeSetState.COMPLETE,
    OperationStatus.FAILED: ChangeSetState.FAILED,
    OperationStatus.SUPERSEDED: ChangeSetState.FAILED,
}


class ChangeSets:
    """Change sets, for a caller."""

    def __init__(self, ports: Ports, finder: Finder, operations: Operations) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder
        self._operations = operations
        self._previews = Previews(ports, finder)

    async def create(
        self, caller: Caller, name: str, request: StackRequest, description: str
    ) -> ChangeSetView:
        """Create a change set for a new stack, and the empty stack with it."""
        assert request.name is not None
        found = await self._store.find_stack(caller.project_id, request.name)
        again = None if found is None else await self._again(caller, found, name)
        if again is not None:
            return again
        if found is None:
            new = await evaluated_new(self._ports, caller, request)
            stack, stack_input, evaluation = new.stack, new.input, new.evaluation
        elif is_in_review(found):
            stack = found
            stack_input, evaluation = await evaluated_in_review(self._ports, caller, stack, request)
        else:
            raise NotSupportedError(
                f"Stack [{found.name}] already exists and cannot be created again with the"
                f" changeSet [{name}]"
            )

        blank = self._blank(caller, stack, name, description)
        change_set = await contents.of_create(
            self._ports, blank, stack, stack_input, evaluation, request
        )
        if found is None:
            has_room = partial(require_room_for_stack, limits=self._ports.limits, caller=caller)
            change = PublicChange(
                stack.id, puts=(stack, stack_input, change_set), guards=(has_room,)
            )
            self._ports.evaluations.put(stack_input.id, evaluation)
            await record_new_stack(self._ports, caller, change)
        else:
            await self._keep(stack, change_set)
        return ChangeSetView(change_set, stack.address, ChangeSetState.AVAILABLE)

    async def of_update(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        request: StackRequest,
        description: str,
        *,
        show_nested: bool = False,
    ) -> ChangeSetView:
        """Create a change set that updates a stack.

        A change set without changes is stored as well, with a fault. Raises ActionInProgressError
        while an operation is open.
        """
        stack = await self._finder.at(caller, address)
        again = await self._again(caller, stack, name)
        if again is not None:
            return again
        plan, stack_input, evaluation = await self._previews.planned(
            caller, stack, request, show_nested=show_nested
        )
        if plan.fingerprint is None:
            action = stack.requested or stack.action
            raise ActionInProgressError(
                f"Stack:{address.arn} is in {action}_IN_PROGRESS state and can not be updated; wait"
                " for its end"
            )
        old = await self._store.input(stack.input_id)
        blank = self._blank(caller, stack, name, description)
        change_set = await self._ports.workers.compute(
            lambda: contents.of_update(
                blank, stack, plan, evaluation, request, same_input(stack_input, old)
            )
        )
        await self._keep(stack, change_set)
        return await self._view(stack, change_set)

    async def _again(self, caller: Caller, stack: Stack, name: str) -> ChangeSetView | None:
        """Return the change set that an earlier attempt of the same request created, or None."""
        client = caller.client
        found = None if client is None else await self._store.change_set(stack.id, name)
        if client is None or found is None:
            return None
        is_same = (found.client_token, found.client_digest) == (client.text, client.digest)
        return await self._view(stack, found) if is_same else None

    def _blank(self, caller: Caller, stack: Stack, name: str, description: str) -> ChangeSet:
        ids, now, client = self._ports.ids, self._ports.clock.now(), caller.client
        blank = ChangeSet(ids.uuid(), stack.id, name, now, description)
        if client is None:
            return blank
        return replace(blank, client_token=client.text, client_digest=client.digest)

    async def _keep(self, stack: Stack, change_set: ChangeSet) -> None:
        def guard(inside: TransactionReader) -> None:
            now = live(inside, stack)
            # The plan was made outside of this transaction. The stack may have been created since.
            if is_in_review(now) != change_set.makes:
                raise ActionInProgressError(
                    f"the stack {stack.name} has changed in the meantime; try again"
                )
            known = inside.change_sets(stack.id)
            if change_set.name in known:
                raise AlreadyExistsError(
                    f"ChangeSet [{change_set.name}] already exists for stack {stack.name}"
                )
            if len(known) >= MOST:
                raise LimitExceededError(
                    f"{stack.name} has {MOST} change sets, as many as it may have"
                )

        change = PublicChange(stack.id, puts=(change_set,), guards=(guard,))
        await self._store.commit(change)

    async def list(self, caller: Caller, address: StackAddress) -> Sequence[ChangeSetView]:
        """Return the change sets of a stack, oldest first, without their plans."""
        stack = await self._finder.at(caller, address)
        found = await self._store.change_sets(stack.id)
        return [await self._view(stack, each) for each in found]

    async def show(self, caller: Caller, address: StackAddress, name: str) -> ChangeSetView:
        """Return a change set, by name or id. Raises NotFoundError."""
        stack = await self._finder.at(caller, address)
        found = await self._store.change_set(stack.id, name)
        if found is None:
            raise NotFoundError(f"ChangeSet [{name:.300}] does not exist", CHANGE_SET_NOT_FOUND)
        return await self._view(stack, found)

    async def delete(self, caller: Caller, address: StackAddress, name: str) -> None:
        """Delete a change set. Raises ValidationError while it is executed."""
        found = await self.show(caller, address, name)
        if found.state is _RUNNING:
            raise _not_now(found)
        dropped = Key(ChangeSet, found.change_set.id)
        await self._store.commit(PublicChange(found.change_set.stack_id, drops=(dropped,)))

    async def execute(
        self, caller: Caller, address: StackAddress, name: str, *, disable_rollback: bool | None
    ) -> None:
        """Execute a change set. Raises ValidationError unless it is available.

        Returns when its operation has ended, or after a while: clients poll immediately, and then
        after half a minute.
        """
        found = await self.show(caller, address, name)
        if found.state is not ChangeSetState.AVAILABLE:
            raise _not_now(found)
        change_set, stack = found.change_set, await self._finder.at(caller, found.stack)
        request = contents.request_of(change_set)
        if disable_rollback is not None:
            request = replace(request, disable_rollback=disable_rollback)
        # The stack is recorded already, with its change sets only.
        if change_set.makes:
            await self._operations.create_reviewed(caller, stack, request, change_set.id)
        else:
            await self._operations.update(caller, address, request, executes=change_set.id)
        for pause in _PAUSES:
            if (await self.show(caller, address, change_set.id)).state is not _RUNNING:
                return
            await asyncio.sleep(pause)

    async def _view(self, stack: Stack, found: ChangeSet) -> ChangeSetView:
        return ChangeSetView(found, stack.address, await self._state(stack, found))

    async def _state(self, stack: Stack, found: ChangeSet) -> ChangeSetState:
        if found.fault:
            return ChangeSetState.UNAVAILABLE
        if found.operation_id is not None:
            ended = await self._store.operation_status(found.operation_id)
            return _ENDS.get(ended and ended[0], _RUNNING)
        if found.makes:
            holds = is_in_review(stack)
        else:
            holds = still_holds(found.fingerprint, await self._store.tree(stack.id))
        return ChangeSetState.AVAILABLE if holds else ChangeSetState.OUTDATED


def _not_now(found: ChangeSetView) -> ValidationError:
    return ValidationError(
        f"ChangeSet [{found.change_set.name}] cannot be executed or deleted in its current"
        f" execution status of [{found.state}]",
        PLAN_OUTDATED,
    )

"""Rollbacks that users request: of a change that failed, or of a rollback that failed itself.

An update with rollback enabled is rolled back by its own operation, without a request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stoker.engine.model.interfaces import Ports, PublicChange, TransactionReader
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.records import CANCELLABLE, Action, Stack, Status
from stoker.engine.model.requests import Caller
from stoker.engine.service.stack_access.guards import (
    live,
    require_new_token,
    require_rest,
)
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import NotSupportedError


class Rollbacks:
    """Rollbacks, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def begin(self, caller: Caller, address: StackAddress) -> None:
        """Return to the last complete state of the stack, or to nothing if there was none.

        Raises NotSupportedError for a stack whose last change has not failed,
        ActionInProgressError for one that is changing.
        """
        stack = await self._finder.at(caller, address)

        def require(now: Stack) -> None:
            if now.status is not Status.FAILED or now.action not in CANCELLABLE:
                raise _not_failed(now, "create or update")

        require(stack)
        await self._roll_back(caller, stack, stack.good_input_id, require)

    async def resume(self, caller: Caller, address: StackAddress) -> None:
        """Resume a rollback that failed. Raises as :meth:`begin`."""
        stack = await self._finder.at(caller, address)

        def require(now: Stack) -> None:
            if (now.action, now.status) != (Action.ROLLBACK, Status.FAILED):
                raise _not_failed(now, "rollback")

        require(stack)
        # A rollback to nothing keeps the input that the stack had.
        await self._roll_back(caller, stack, stack.good_input_id and stack.input_id, require)

    async def _roll_back(
        self, caller: Caller, stack: Stack, input_id: str | None, require: Callable[[Stack], None]
    ) -> None:
        request, rollback = ChangeRequest(), Action.ROLLBACK
        operation = self._ports.operation_on(stack, rollback, request, input_id, caller=caller)

        def unchanged(inside: TransactionReader) -> None:
            now = live(inside, stack)
            require_rest(now, inside.queue(stack.id))
            require(now)

        checks = (partial(require_new_token, caller=caller), unchanged)
        change = PublicChange(stack.id, puts=(operation,), guards=checks)
        await self._ports.store.commit(change)


def _not_failed(stack: Stack, what: str) -> NotSupportedError:
    return NotSupportedError(
        f"Stack {stack.name} is in {stack.action}_{stack.status} state and can not be rolled back:"
        f" its last {what} has not failed"
    )

"""Accepts signals to resources: stores them before they are acknowledged.

Takes a caller, the name of a resource and details. A signal becomes a row together with its event;
the driver of the stack is notified, and gives the stored signals to the resources that wait for
them. A client may repeat a signal. The type of the resource sees all stored signals, and decides
about the meaning of a repeated one.

Called by the REST API, the AWS API, signed URLs and queues. The effect of a signal depends on its
kind; see ``handlers``. Tested by tests/operations/test_operations.py, test_creation_policies.py and
tests/hooks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports, PublicChange
from stoker.engine.model.records import CREATION_SIGNAL, Action, Stack, Status, StoredSignal
from stoker.engine.model.requests import Caller
from stoker.engine.service.signals.handlers import SignalRejectedError, handler_of
from stoker.engine.service.signals.received import ReceivedSignal
from stoker.engine.service.signals.reports import (
    MOST_TRIES,
    ConcurrentUpdateError,
    has_creation_policy,
    signal_event,
)
from stoker.engine.service.stack_access.guards import (
    require_resource,
    require_room_for_signal,
    signal_size,
)
from stoker.engine.service.stack_access.lookup import Finder, current_rows, require_own, row_of
from stoker.engine.service.stack_access.row_reader import RowReader
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ACTION_NOT_SUPPORTED, LimitExceededError, ValidationError

_LONGEST_ID = 64


class SignalService:
    """Accepts signals for resources."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder
        # By resource: its signals are read, checked and stored one at a time.
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def signal(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        details: Mapping[str, Any] | None,
        *,
        must_fit: bool = False,
    ) -> None:
        """Store a signal and return; it is applied afterwards.

        Raises ValidationError for a resource that accepts no signals, or none now. A signal whose
        details the resource does not accept becomes an event and nothing else; with ``must_fit``,
        it raises ValidationError as well.
        """
        stack = await self._finder.at(caller, address)
        lock = self._locks.setdefault(f"{stack.id}/{name}", asyncio.Lock())
        async with lock:
            for _ in range(MOST_TRIES):
                try:
                    await self._apply(caller, stack, name, details or {})
                    return
                except SignalRejectedError:
                    if must_fit:
                        raise
                    return
                except ConcurrentUpdateError:
                    continue  # Another process stored a signal. This one must be checked with it.
        raise LimitExceededError(f"{name} gets too many signals at once; send this one again")

    async def _apply(
        self, caller: Caller, stack: Stack, name: str, details: Mapping[str, Any]
    ) -> None:
        """Give a signal to the handler of its kind."""
        size = signal_size(self._ports.limits, name, details)
        rows = await RowReader(self._ports).all(stack)
        row = row_of(current_rows(rows), name, stack)
        require_own(caller, row)
        signal = ReceivedSignal(StackRows(self._ports, stack, rows), row, details, size)
        await handler_of(signal)(signal)

    async def creation_signal(
        self, caller: Caller, address: StackAddress, name: str, unique_id: str, *, success: bool
    ) -> None:
        """Store a signal that a creation policy waits for; other resources get a normal signal.

        Raises ValidationError for a resource that waits for nothing.
        """
        stack = await self._finder.at(caller, address)
        status = "SUCCESS" if success else "FAILURE"
        stack_input = await self._ports.store.input(stack.input_id)
        if not has_creation_policy(stack_input, name):
            body = {"Status": status, "UniqueId": unique_id, "Reason": "", "Data": ""}
            await self.signal(caller, address, name, body)
            return
        row = row_of(current_rows(await RowReader(self._ports).all(stack)), name, stack)
        require_own(caller, row)
        if (row.action, row.status) != (Action.CREATE, Status.IN_PROGRESS):
            raise ValidationError(
                f"Resource {name} is in {row.action}_{row.status} state and cannot be signaled",
                ACTION_NOT_SUPPORTED,
            )
        ports, short_id = self._ports, unique_id[:_LONGEST_ID]
        details = {CREATION_SIGNAL: [short_id, success]}
        signal = StoredSignal(ports.ids.uuid(), stack.id, row.id, ports.clock.now(), details)
        reason = f"Received {status} signal with UniqueId {short_id}"
        size = len(unique_id)
        change = PublicChange(
            stack.id,
            puts=(await signal_event(ports, stack, row, reason), signal),
            guards=(
                partial(require_resource, row=row),
                partial(require_room_for_signal, limits=ports.limits, row=row, size=size),
            ),
        )
        await ports.store.commit(change)

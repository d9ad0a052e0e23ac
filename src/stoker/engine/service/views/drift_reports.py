"""Reports of external changes to the objects of a stack and of its nested stacks.

All objects are read now; nothing is recorded. The report is about one state of the stack: it is
refused while an operation is in progress, and if one was accepted in the meantime.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence

from stoker.engine.execution.observe.observing import Observation, repairable
from stoker.engine.execution.observe.preparation import ask_beside, observe_all
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Action, Resource, Stack, is_nested
from stoker.engine.model.requests import Caller
from stoker.engine.model.views import DriftedProperty, DriftView
from stoker.engine.service.stack_access.guards import require_there
from stoker.engine.service.stack_access.lookup import Finder, current_rows, row_of
from stoker.engine.service.stack_access.presenters import resource_view
from stoker.engine.service.views.property_changes import masking_over
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError
from stoker.kernel.logs.masking import Masking

LONGEST = 120.0  # seconds; objects not read by then are reported as not compared


class DriftReports:
    """Reports on live objects, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder

    async def report(
        self, caller: Caller, address: StackAddress, only: Collection[str] | None = None
    ) -> Sequence[DriftView]:
        """Return all resources, or those in ``only``, including nested stacks, with differences.

        Raises ActionInProgressError for a stack that is changing, NotFoundError for an unknown
        name.
        """
        stack = await self._finder.at(caller, address)
        require_there(stack)
        whole = StackRows(self._ports, stack, await self._store.resources(stack.id))
        masking = await masking_over(whole, [])
        until = asyncio.get_running_loop().time() + LONGEST
        if only is not None:
            await self._require_quiet(stack)
            known = current_rows(list(whole.rows.values()))
            rows = [row_of(known, name, stack) for name in only]
            some = await self._views(whole, rows, masking, until)
            await self._require_quiet(stack)
            return some
        found: list[DriftView] = []
        async for each in self._tree(stack):
            stack_rows = StackRows(self._ports, each, await self._store.resources(each.id))
            rows = current_rows(list(stack_rows.rows.values()))
            found += await self._views(stack_rows, rows, masking, until)
            await self._require_quiet(each)
        return found

    async def _tree(self, stack: Stack) -> AsyncIterator[Stack]:
        """Yield the stack, then its nested stacks."""
        pending = [stack]
        while pending:
            each = pending.pop(0)
            await self._require_quiet(each)
            yield each
            pending += await self._store.children(each.id)

    async def _require_quiet(self, stack: Stack) -> None:
        """Raise ActionInProgressError if a stack has an open operation, or was changed."""
        now, queue = await self._store.stack(stack.id), await self._store.queue(stack.id)
        same = now is not None and (now.input_id, now.fencing_token, now.updated_at) == (
            stack.input_id,
            stack.fencing_token,
            stack.updated_at,
        )
        if not same or any(operation.action is not Action.SIGNAL for operation in queue):
            raise ActionInProgressError(
                f"the stack {stack.name} has an operation in progress; try again when it is"
                f" {stack.action}_COMPLETE"
            )

    async def _views(
        self, stack_rows: StackRows, found: Sequence[Resource], masking: Masking, until: float
    ) -> list[DriftView]:
        rows = [row for row in found if not is_nested(row)]
        observations = await observe_all(stack_rows, rows, ask_beside(stack_rows, until))

        def views() -> list[DriftView]:
            return [_view(stack_rows, row, observations.get(row.id), masking) for row in rows]

        return await self._ports.workers.compute(views)


def _view(
    stack_rows: StackRows, row: Resource, observation: Observation | None, masking: Masking
) -> DriftView:
    shown = resource_view(stack_rows.stack, row, ())
    if observation is None:
        return DriftView(shown, *_unseen(stack_rows, row))
    if observation.unread is not None:
        return DriftView(shown, "unknown", masking.text(observation.unread))
    if observation.gone:
        return DriftView(shown, "gone")
    can_be_set = repairable(stack_rows.type_of(row), observation)
    properties = tuple(
        DriftedProperty(
            each.name, masking.data(each.applied), masking.data(each.live), each.name in can_be_set
        )
        for each in observation.found.differences
    )
    state = "changed" if properties else "same"
    return DriftView(shown, state, "", properties, observation.found.unreported)


def _unseen(stack_rows: StackRows, row: Resource) -> tuple[str, str]:
    """Return the state of a resource that was not read, and the reason."""
    type_ = stack_rows.type_of(row)
    if type_ is None:
        return "unknown", f"the resource type {row.type_name} is not installed here"
    if type_.service is None:
        return "internal", "it has no object in the cloud"
    if row.external:
        return "unknown", "it refers to an object that the stack does not own"
    if row.physical_id is None or row.action in (Action.INIT, Action.DELETE):
        return "unknown", f"it is {row.action}_{row.status}"
    return "unknown", f"{row.type_name} cannot read the properties of its objects"

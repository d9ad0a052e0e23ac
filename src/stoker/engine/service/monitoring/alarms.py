"""Alarms: the watches of a project, each with the rule of its resource."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.watches import Watch
from stoker.kernel.addresses import ResourceAddress
from stoker.kernel.errors import WATCH_NOT_FOUND, NotFoundError
from stoker.schema.resource_type import can
from stoker.schema.watching import WatchesMetric, WatchRule


class AlarmView(Struct, frozen=True):
    """An alarm as users see it."""

    watch: Watch
    rule: WatchRule
    resource: ResourceAddress
    updated_at: float  # time of the last change of its resource


class Alarms:
    """Finds and shows watches."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def of(self, caller: Caller, name: str | None = None) -> Sequence[Watch]:
        """Return the watches of a project, or the one with a name. Raises NotFoundError."""
        found = await self._ports.store.watches(caller.project_id, name)
        if name is not None and not found:
            raise NotFoundError(f"The alarm ({name[:255]}) could not be found.", WATCH_NOT_FOUND)
        return found

    async def shown(self, caller: Caller, name: str | None = None) -> Sequence[AlarmView]:
        """Return the alarms of a project, or the one with a name. Raises NotFoundError."""
        return await self.views(await self.of(caller, name))

    async def watching(self, caller: Caller, metric: tuple[str, str]) -> Sequence[AlarmView]:
        """Return the alarms of a project that watch a metric, given as namespace and name."""
        found = await self._ports.store.watches(caller.project_id, metric=metric)
        return await self.views(found)

    async def views(self, watches: Sequence[Watch]) -> Sequence[AlarmView]:
        """Return the alarms of watches, except those whose resource no longer exists."""
        views = []
        for watch in watches:
            stack = await self._ports.store.stack(watch.stack_id)
            row = await self._ports.store.resource(watch.resource_id)
            rule = None if stack is None or row is None else rule_of(self._ports, stack, row)
            if stack is not None and row is not None and rule is not None:
                address = ResourceAddress(stack.address, row.name)
                views.append(AlarmView(watch, rule, address, row.updated_at))
        return views


def rule_of(ports: Ports, stack: Stack, row: Resource) -> WatchRule | None:
    """Return the rule that a row describes; None if it no longer describes one."""
    rows = StackRows(ports, stack, [row])
    type_ = rows.type_of(row)
    if row.replaced_by is not None or not can(type_, WatchesMetric):
        return None
    return type_.rule(build_call(rows, row, type_))

"""Answers queries about resources from committed rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.requests import Caller, ResourceQuery
from stoker.engine.model.views import ResourceView
from stoker.engine.service.stack_access.access import require_readable
from stoker.engine.service.stack_access.lookup import Finder, current_rows, is_own, row_of
from stoker.engine.service.stack_access.presenters import matches, resource_view
from stoker.engine.service.stack_access.row_reader import RowReader
from stoker.engine.service.views.live_attributes import LiveAttributes
from stoker.engine.service.views.live_values import attributes_of, metadata_of, unstarted
from stoker.kernel.addresses import StackAddress

Result = TypeVar("Result")

_FEW = 100  # rows whose views take a millisecond on the event loop; more use a thread


class ResourceQueries:
    """Queries about resources, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._store = ports.store
        self._finder = finder
        self._live = LiveAttributes(ports)
        self._rows = RowReader(ports)

    async def resources(
        self, caller: Caller, address: StackAddress, query: ResourceQuery
    ) -> Sequence[ResourceView]:
        """Return the resources of the stack, and of nested stacks down to the requested depth."""
        stack = await self._finder.at(caller, address)
        found: list[ResourceView] = []
        described = 0  # rows since the event loop last ran other work
        async for each in self.tree(stack, query.nested_depth):
            session = None
            if query.with_attributes:
                rows = await self._rows.all(each)
                session = await self._session(each, rows)
            else:
                rows = await self._rows.outlines(each)
            if query.with_unstarted:
                rows = [*rows, *await unstarted(self._ports, each, rows)]
            views = partial(_resource_views, each, rows, session, query.filters)
            found += await self._computed(len(rows), views)
            described += len(rows)
            if described > _FEW:  # there may be many small stacks
                await asyncio.sleep(0)
                described = 0
        return found

    async def tree(self, stack: Stack, depth: int) -> AsyncIterator[Stack]:
        """Yield a stack and its nested stacks, level by level, down to the requested depth."""
        level = [stack]
        while level:
            for each in level:
                yield each
            if depth <= 0:
                return
            depth -= 1
            level = [child for each in level for child in await self._store.children(each.id)]

    async def _computed(self, count: int, call: Callable[[], Result]) -> Result:
        """Run work on ``count`` rows; only little work runs on the event loop."""
        return call() if count <= _FEW else await self._ports.workers.compute(call)

    async def resource(
        self,
        caller: Caller,
        address: StackAddress,
        name: str,
        *,
        with_attributes: Sequence[str] = (),
        with_unstarted: bool = False,
    ) -> ResourceView:
        """Return a resource with its live attributes, or with a note if they are recorded ones."""
        stack = await self._finder.at(caller, address)
        session = await self._rows.about(stack, name)
        rows = list(session.rows.values())
        if with_unstarted:
            rows += await unstarted(self._ports, stack, rows)
        row = row_of(rows, name, stack)
        await self._require_readable(caller, session, row)
        shown = await self._live.of(session, [row.name])
        row = shown.rows.get(row.name, row)
        attributes = attributes_of(session, row, with_attributes)
        needed = _needed_by(rows)
        metadata = await metadata_of(session, row)
        return resource_view(
            stack, row, needed.get(row.name, ()), attributes, metadata, note=shown.note
        )

    async def metadata(self, caller: Caller, address: StackAddress, name: str) -> Mapping[str, Any]:
        """Return the metadata of a resource, with additions of its signals and deployments."""
        stack = await self._finder.at(caller, address)
        session = await self._rows.about(stack, name)
        rows = list(session.rows.values())
        row = row_of([*rows, *await unstarted(self._ports, stack, rows)], name, stack)
        await self._require_readable(caller, session, row)
        return await metadata_of(session, row)

    async def _session(self, stack: Stack, rows: Sequence[Resource]) -> StackRows:
        session = StackRows(self._ports, stack, rows)
        await session.load_signals()
        return session

    async def _require_readable(self, caller: Caller, session: StackRows, row: Resource) -> None:
        if not is_own(caller, row):  # Other resources may grant it, by their properties.
            stack = session.stack
            session = StackRows(self._ports, stack, current_rows(await self._rows.all(stack)))
        require_readable(caller, session, row)


def _resource_views(
    stack: Stack,
    rows: Sequence[Resource],
    session: StackRows | None,
    filters: Mapping[str, tuple[str, ...]],
) -> list[ResourceView]:
    """Return views of the resources that match, with attributes if there is a session."""
    current = current_rows(rows)
    needed = _needed_by(current)
    views = (
        resource_view(
            stack,
            row,
            needed.get(row.name, ()),
            None if session is None else attributes_of(session, row),
        )
        for row in current
    )
    return [view for view in views if matches(view, filters)]


def _needed_by(rows: Sequence[Resource]) -> dict[str, list[str]]:
    needed: dict[str, list[str]] = {}
    for row in rows:
        for need in row.dependencies:
            needed.setdefault(need, []).append(row.name)
    return needed

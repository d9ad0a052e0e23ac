"""Reads the rows that an answer about a stack needs, and the values of few of them.

The values of resources are most of the bytes of a stack, and reading them takes most of the time.
The properties, metadata, attributes and data of a resource are its values. A list of resources
shows none of them, and outputs refer to few resources.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack
from stoker.engine.service.stack_access.lookup import current_rows
from stoker.schema.resource_type import ResourceType


class RowReader:
    """Reads rows of stacks from the cache of this process, or from the store."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._store = ports.store

    async def all(self, stack: Stack) -> Sequence[Resource]:
        """Return all rows with their values, oldest first."""
        cached = self._cached(stack)
        return await self._store.resources(stack.id) if cached is None else cached

    async def outlines(self, stack: Stack) -> Sequence[Resource]:
        """Return all rows, oldest first. Their values may be missing."""
        cached = self._cached(stack)
        return await self._store.outlines(stack.id) if cached is None else cached

    async def about(self, stack: Stack, name: str) -> StackRows:
        """Return all current rows. Those of one resource, and those that calls about it use, have
        values.

        The resource may have had the name before.
        """
        found = StackRows(self._ports, stack, ())
        await found.load_signals()
        rows = self._cached(stack)
        if rows is None:
            outlines = {row.id: row for row in await self._store.outlines(stack.id)}
            own = [row for row in outlines.values() if name in (row.name, *row.former_names)]
            ids = {needed for row in own for needed in (row.id, *row.requires)}
            read = await self._store.some_resources(stack.id, ids={*ids, *found.signals})
            rows = [*{**outlines, **{row.id: row for row in read if row.id in outlines}}.values()]
        found.restore(current_rows(rows))
        return found

    async def of(self, stack: Stack, names: Collection[str]) -> StackRows:
        """Return the rows of these resources, and those that calls about them use."""
        cached = self._cached(stack)
        found = StackRows(self._ports, stack, cached or ())
        if names:
            await found.load_signals()
        if names and cached is None:
            read = await self._store.some_resources(stack.id, names, found.signals)
            configs = {
                needed
                for row in read
                if _names_configs(found.type_of(row))
                for needed in row.requires
            }
            found.restore([*read, *await self._store.some_resources(stack.id, ids=configs)])
        return found

    def _cached(self, stack: Stack) -> Sequence[Resource] | None:
        settled = self._ports.rows.at(stack.id, stack.fencing_token)
        return None if settled is None else settled.rows


def _names_configs(type_: ResourceType | None) -> bool:
    return type_ is not None and bool(type_.names_software or type_.keeps_software)

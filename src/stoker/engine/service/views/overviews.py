"""Answers searches, and lists the past operations of a stack."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller
from stoker.engine.model.storage.overview import Match, PastOperation, SearchQuery
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.addresses import StackAddress
from stoker.kernel.values import replace


class Overviews:
    """Reads across many rows, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._store, self._finder = ports.store, finder

    async def search(self, caller: Caller, query: SearchQuery) -> Sequence[Match]:
        """Return the stacks and resources that match; those of others only to an administrator."""
        if not caller.is_admin:
            query = replace(query, project_id=caller.project_id)
        return await self._store.search(query)

    async def operations(
        self, caller: Caller, address: StackAddress, limit: int, before: str | None
    ) -> Sequence[PastOperation]:
        """Return operations of a stack, newest first; ``before`` is the id of a newer one."""
        stack = await self._finder.at(caller, address)
        return await self._store.past_operations(stack.id, limit, before)

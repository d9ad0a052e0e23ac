"""One-time tickets that were used. Many processes write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from stoker.store.schema import service_tables
from stoker.store.sql.compiled import insert_into
from stoker.store.sql.databases import for_writing
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import in_time, in_transaction

Result = TypeVar("Result")

_TICKETS = service_tables.spent_tickets


class SqlSpentTickets:
    """Used tickets in a relational database."""

    def __init__(self, engine: sa.Engine, runner: Runner) -> None:
        self._writing = for_writing(engine)
        self._runner = runner

    async def spend(self, ticket_id: str, expires_at: float) -> bool:
        """Record the use of a ticket. Return False if it was used before, in any process."""

        def insert(connection: sa.Connection) -> bool:
            row = insert_into(connection.dialect, _TICKETS).values(
                id=ticket_id, expires_at=expires_at
            )
            unless_spent = row.on_conflict_do_nothing(index_elements=["id"])
            recorded = connection.execute(unless_spent.returning(_TICKETS.c.id))
            return recorded.first() is not None

        return await self._write(insert)

    async def purge(self, before: float) -> int:
        """Delete the tickets that expired before a time; return their number."""
        old = _TICKETS.delete().where(_TICKETS.c.expires_at < before)
        return await self._write(lambda connection: connection.execute(old).rowcount)

    async def _write(self, change: Callable[[sa.Connection], Result]) -> Result:
        return await in_time(self._runner.write(lambda: in_transaction(self._writing, change)))

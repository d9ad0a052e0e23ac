"""One transaction that reads, on a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from stoker.store.encryption import Cipher
from stoker.store.faults import database_faults
from stoker.store.runners import Runner

Result = TypeVar("Result")


class Reading:
    """Reads from a relational database."""

    def __init__(self, engine: sa.Engine, cipher: Cipher, runner: Runner) -> None:
        self._engine = engine
        self._cipher = cipher
        self._runner = runner

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        def transaction() -> Result:
            with database_faults(), self._engine.connect() as connection:
                return query(connection)

        return await self._runner.read(transaction)

"""Group commit: changes that become ready together share a transaction.

Changes that come in while a transaction is under way go into the next one, so the cost of a commit
is paid once for all that became ready in one turn of the loop.
"""

from __future__ import annotations

import asyncio

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, StoreFault
from stoker.store.databases import for_writing
from stoker.store.faults import database_faults
from stoker.store.runners import Runner
from stoker.store.sealing import Seal
from stoker.store.write import write


class GroupCommit:
    """Writes changes, one transaction at a time."""

    def __init__(self, engine: sa.Engine, seal: Seal, runner: Runner) -> None:
        self._engine = for_writing(engine)
        self._seal = seal
        self._runner = runner
        self._pending: list[tuple[Change, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def commit(self, change: Change) -> None:
        """Return once the change is durable; see :class:`stoker.engine.model.interfaces.Store`."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((change, written))
        if self._flushing is None:
            self._flushing = asyncio.ensure_future(self._flush())
        await written

    async def _flush(self) -> None:
        """Write what is pending until nothing is: one transaction at a time."""
        try:
            # everyone who is ready in this turn of the loop joins the first transaction
            await asyncio.sleep(0)
            while self._pending:
                batch, self._pending = self._pending, []
                await self._write([change for change, _ in batch], [f for _, f in batch])
        finally:
            self._flushing = None

    async def _write(self, changes: list[Change], waiting: list[asyncio.Future[None]]) -> None:
        def transaction() -> list[Exception | None]:
            try:
                return self._transact(changes)
            except StoreFault:
                raise
            except Exception:  # noqa: BLE001 - told to the one whose change it is
                # what cannot be written must not take with it what shares its transaction
                return [self._transact_alone(change) for change in changes]

        try:
            verdicts: list[Exception | None] = await self._runner.write(transaction)
        except Exception as error:  # noqa: BLE001 - everyone who waits must hear of it
            verdicts = [error] * len(changes)
        for future, verdict in zip(waiting, verdicts, strict=True):
            if future.done():
                continue
            if verdict is None:
                future.set_result(None)
            else:
                future.set_exception(verdict)

    def _transact(self, changes: list[Change]) -> list[Exception | None]:
        with database_faults(), self._engine.begin() as connection:
            return write(connection, changes, self._seal)

    def _transact_alone(self, change: Change) -> Exception | None:
        try:
            try:
                [verdict] = self._transact([change])
            except sa.exc.IntegrityError:
                # somebody took the name at the same time: the second look tells so
                [verdict] = self._transact([change])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return error
        return verdict

"""Group commit: changes that become ready together share a transaction.

Changes that come in while a transaction is under way go into the next one, so the cost of a commit
is paid once for all that became ready in one turn of the loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, Observer, StoreFault
from stoker.store.databases import for_writing
from stoker.store.encryption import Cipher
from stoker.store.outbox import SqlOutbox
from stoker.store.runners import Runner
from stoker.store.transactions import in_transaction
from stoker.store.write import write

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Entry:
    """A change, or work that writes, and who waits for it."""

    what: Change | Callable[[sa.Connection], Any]
    done: asyncio.Future[Any]


Verdict = tuple[Any, Exception | None]
"""What came of an entry: a result, or why nothing was written."""


class GroupCommit:
    """Writes changes, one transaction at a time."""

    def __init__(
        self, engine: sa.Engine, cipher: Cipher, runner: Runner, *, notifies: bool
    ) -> None:
        self._engine = for_writing(engine)
        self._cipher = cipher
        self._runner = runner
        self.outbox = SqlOutbox(engine, cipher, runner, notifies=notifies)
        self._pending: list[_Entry] = []
        self._flushing: asyncio.Task[None] | None = None
        self.observers: list[Observer] = []
        self.transactions = 0
        self.seconds = 0.0
        """That these transactions took."""

    async def commit(self, change: Change) -> None:
        """Return once the change is durable; see :class:`stoker.engine.model.interfaces.Store`."""
        await self._enter(change)

    async def run(self, work: Callable[[sa.Connection], Result]) -> Result:
        """The result of work that writes, once it is durable. What it raises of its own accord
        tells that it has written nothing.
        """
        result: Result = await self._enter(work)
        return result

    async def _enter(self, what: Change | Callable[[sa.Connection], Any]) -> Any:
        entry = _Entry(what, asyncio.get_running_loop().create_future())
        self._pending.append(entry)
        if self._flushing is None:
            self._flushing = asyncio.ensure_future(self._flush())
        return await entry.done

    async def _flush(self) -> None:
        """Write what is pending until nothing is: one transaction at a time."""
        try:
            # everyone who is ready in this turn of the loop joins the first transaction
            await asyncio.sleep(0)
            while self._pending:
                batch, self._pending = self._pending, []
                await self._write(batch)
        finally:
            self._flushing = None

    async def _write(self, batch: list[_Entry]) -> None:
        def transaction() -> list[Verdict]:
            try:
                return self._transact(batch)
            except StoreFault:
                raise
            except Exception:  # noqa: BLE001 - told to the one whose change it is
                # what cannot be written must not take with it what shares its transaction
                return [self._transact_alone(entry) for entry in batch]

        started = time.monotonic()
        try:
            verdicts: list[Verdict] = await self._runner.write(transaction)
        except Exception as error:  # noqa: BLE001 - everyone who waits must hear of it
            verdicts = [(None, error)] * len(batch)
        self.transactions += 1
        self.seconds += time.monotonic() - started
        for entry, (result, refused) in zip(batch, verdicts, strict=True):
            if not entry.done.done():
                if refused is None:
                    entry.done.set_result(result)
                else:
                    entry.done.set_exception(refused)
            if isinstance(entry.what, Change) and isinstance(refused, StoreFault | None):
                for observer in self.observers:
                    observer.committed(entry.what, certain=refused is None)
        self.outbox.tell()

    def _transact(self, batch: list[_Entry]) -> list[Verdict]:
        """All in one transaction: first what is not a change, then the changes together."""
        changes = [entry.what for entry in batch if isinstance(entry.what, Change)]

        def everything(connection: sa.Connection) -> tuple[list[Verdict], list[Exception | None]]:
            worked = [
                _worked(connection, entry.what)
                for entry in batch
                if not isinstance(entry.what, Change)
            ]
            written = write(connection, changes, self._cipher, self.outbox) if changes else []
            return worked, written

        worked, written = in_transaction(self._engine, everything)
        works, commits = iter(worked), iter(written)
        return [
            (None, next(commits)) if isinstance(entry.what, Change) else next(works)
            for entry in batch
        ]

    def _transact_alone(self, entry: _Entry) -> Verdict:
        try:
            try:
                [verdict] = self._transact([entry])
            except sa.exc.IntegrityError:
                # somebody took the name at the same time: the second look tells so
                [verdict] = self._transact([entry])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return None, error
        return verdict


def _worked(connection: sa.Connection, work: Callable[[sa.Connection], Any]) -> Verdict:
    try:
        return work(connection), None
    except (StoreFault, sa.exc.SQLAlchemyError, sqlite3.Error, OSError):
        raise
    except Exception as refused:  # noqa: BLE001 - it is told to whoever asked for the work
        return None, refused

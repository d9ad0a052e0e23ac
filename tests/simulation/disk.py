"""The database's disk and lock: transactions that fail, and those with an unknown outcome."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError

Result = TypeVar("Result")
_ERRORS = (
    (sqlite3.SQLITE_BUSY, "database is locked"),
    (sqlite3.SQLITE_FULL, "database or disk is full"),
    (sqlite3.SQLITE_IOERR, "disk I/O error"),
)
LOCKED = 40.0  # seconds for which nothing can be written


@dataclass
class Disk:
    """Makes commits fail, and runs transactions inline, with a place to die before and
    after each.
    """

    time: Callable[[], float]
    # By the number of a writing transaction: ``lost``; ``unknown``, which is written nevertheless;
    # or ``locked``, from then on for a while.
    faults: Mapping[int, str] = field(default_factory=dict)
    locked: tuple[float, float] = (0.0, 0.0)  # start and end of a time without writes
    read_faults: Collection[int] = ()  # numbers of the reading transactions that fail
    away: tuple[float, float] = (0.0, 0.0)  # start and end of a time without reads and writes
    written: Callable[[], None] = lambda: None  # called for every written transaction
    # Called for every commit, even if the client does not get an answer.
    committed: Callable[[], None] = lambda: None
    rolled_back: Callable[[], None] = lambda: None  # called for every rollback
    writes: int = 0  # writing transactions so far
    reads: int = 0  # reading transactions so far
    failed: int = 0  # failed transactions

    _fault: str = ""  # fate of the transaction that is being written

    @property
    def is_locked(self) -> bool:
        """Return whether nothing can be written."""
        return self.is_away or self._lasts(self.locked)

    @property
    def is_away(self) -> bool:
        """Return whether reads and writes fail."""
        return self._lasts(self.away)

    def _lasts(self, period: tuple[float, float]) -> bool:
        since, until = period
        return since <= self.time() < until

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """The result of a writing transaction, unless it fails."""
        await asyncio.sleep(0)
        fault = self.faults.get(self.writes, "")
        self.writes += 1
        if fault == "locked":
            self.locked = (self.time(), self.time() + LOCKED)
        self._fault = "lost" if self.is_locked else fault
        try:
            result = transaction()
        finally:
            self._fault = ""
            self.written()
        await asyncio.sleep(0)
        return result

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """The result of a reading transaction, unless it fails."""
        await asyncio.sleep(0)
        self.reads += 1
        if self.is_away or self.reads - 1 in self.read_faults:
            self.failed += 1
            raise StoreError("the database failed: it cannot be read", passing=True)
        return transaction()

    def commit(self, connection: sa.Connection) -> None:
        """A transaction is to be committed."""
        if self._fault in ("", "unknown"):
            self.committed()
        if not self._fault:
            return
        if self._fault == "unknown":
            connection.connection.commit()
        code, words = _ERRORS[self.failed % len(_ERRORS)]
        self.failed += 1
        error = sqlite3.OperationalError(words)
        error.sqlite_errorcode = code
        raise sa.exc.OperationalError("COMMIT", None, error)

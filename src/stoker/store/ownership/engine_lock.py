"""Locks for the stacks of a database: for one exclusive service, or for engines that share them.

Fencing tokens keep engines from harming each other's stacks; these locks refuse the start of
services that do not know each other. For a file of SQLite the lock of the data directory does so.
"""

from __future__ import annotations

import asyncio
import threading
import time

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.postgresql import Lock, place_of
from stoker.store.sql.session_lock import SessionLock

log = Log(__name__)

PATIENCE = 5.0  # seconds for which an engine that has just ended may still have the lock
EVERY = 5.0  # seconds between two checks of the lock


class EngineLock:
    """The lock of one process. All methods may be called for any database."""

    def __init__(self, database: sa.Engine, *, shared: bool = False) -> None:
        """``shared`` is for one of several processes of an installation."""
        self._database = database
        # A service of an earlier release holds only the first lock. It may run at the same time as
        # engines that share the work, which replace it.
        locks = (Lock.MEMBERS,) if shared else (Lock.ENGINE, Lock.MEMBERS)
        self._lock = SessionLock(database, locks, shared=shared)
        self._mutex = threading.Lock()
        self._released = False

    @property
    def _is_needed(self) -> bool:
        return self._database.dialect.name == "postgresql"

    def acquire(self, patience: float = PATIENCE) -> None:
        """Acquire the lock. Raises :class:`UnusableDatabaseError` if another engine keeps it."""
        deadline = time.monotonic() + patience
        while self._is_needed:
            try:
                return self._lock_or_raise()
            except UnusableDatabaseError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(0.1)
        return None

    def hold(self) -> None:
        """Check that this process has the lock; acquire it again after a broken connection.

        Raises UnusableDatabaseError if another engine has it, and StoreError.
        """
        with self._mutex:
            # A thread may still check after the end of the service. The lock would not be released.
            if not self._released and not self._lock.is_held():
                self._lock_or_raise()
                log.warning(
                    "the connection that holds the lock of this engine was lost; it is restored"
                )

    async def lost(self, every: float = EVERY) -> str:
        """Wait until another engine has the lock; return the reason in words."""
        while self._is_needed:
            await asyncio.sleep(every)
            try:
                await asyncio.to_thread(self.hold)
            except StoreError:
                continue  # no other service can acquire it meanwhile
            except UnusableDatabaseError as error:
                return str(error)
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    def release(self) -> None:
        """Release the lock permanently."""
        with self._mutex:
            self._released = True
            self._lock.release()

    def _lock_or_raise(self) -> None:
        """Try to acquire the lock once."""
        if not self._lock.acquire():
            raise UnusableDatabaseError(
                f"a service uses the database {place_of(self._database.url)} already"
                f" ({self._lock.holder()}); use it or end it, or name another database"
            )

"""Lets guards read rows inside the write transaction.

Writes in bulk are cheap for a server. So the changes before the guarded one are written when a
guard reads rows that they may change, or else at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change
from stoker.store.sql.encryption import Cipher


class LazyFlush:
    """Reads rows after all earlier changes."""

    def __init__(
        self,
        transaction: sa.Connection,
        cipher: Cipher,
        write: Callable[[Sequence[Change]], None],
    ) -> None:
        """``write`` writes changes."""
        self._transaction = transaction
        self._cipher = cipher
        self._write = write
        self._unwritten: list[Change] = []

    @property
    def _connection(self) -> sa.Connection:
        """Return the connection for any rows, after all earlier changes are written."""
        self.settle()
        return self._transaction

    def allow(self, change: Change) -> None:
        """Write a change before the next read of its rows."""
        self._unwritten.append(change)

    def settle(self) -> None:
        """Write the changes that are allowed so far."""
        if self._unwritten:
            changes, self._unwritten = self._unwritten, []
            self._write(changes)

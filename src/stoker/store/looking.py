"""Looks of guards at rows, in the transaction that writes what they guard.

What is written together costs a server little. So the changes before the guarded one are written
when a guard asks for rows that they may change, and else at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change
from stoker.store.encryption import Cipher


class Looking:
    """Looks at rows as all changes before have left them."""

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
        """To look at any rows."""
        self.settle()
        return self._transaction

    def allow(self, change: Change) -> None:
        """Write a change before anybody looks at its rows."""
        self._unwritten.append(change)

    def settle(self) -> None:
        """Write what was allowed."""
        if self._unwritten:
            changes, self._unwritten = self._unwritten, []
            self._write(changes)

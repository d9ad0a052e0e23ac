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
        unwritten: Sequence[Change],
        flush: Callable[[], None],
    ) -> None:
        """``flush`` writes the ``unwritten`` changes and empties the list."""
        self._transaction = transaction
        self._cipher = cipher
        self._unwritten = unwritten
        self._flush = flush

    @property
    def _connection(self) -> sa.Connection:
        """Return the connection for any rows, after all earlier changes are written."""
        self.settle()
        return self._transaction

    def settle(self) -> None:
        """Write the changes that are allowed so far."""
        if self._unwritten:
            self._flush()

"""Calls that outlive their caller: an operation that timed out, a driver that failed.

A thread cannot be stopped, and what it does to an object must not come later than what is done to
that object next. Whoever calls about a row therefore lets the call that was left behind end first.
The calls of a process are kept in one place, as drivers and their sessions come and go.
"""

from __future__ import annotations

from concurrent.futures import Future

Ended = Future[float | None]
"""The end of a call: seconds within which its request may still be done; None if it was cut off."""
_MANY = 10_000


class OrphanedCalls:
    """The calls of one process that were left behind, by id of the row."""

    def __init__(self) -> None:
        self._calls: dict[str, Ended] = {}

    def remember(self, row_id: str, ended: Ended) -> None:
        """A call about the row is still running, and nobody waits for it."""
        if len(self._calls) >= _MANY:
            self._calls = {key: call for key, call in self._calls.items() if not call.done()}
        self._calls[row_id] = ended

    def take(self, row_id: str) -> Ended | None:
        """The orphaned call about the row; the caller must wait for it."""
        return self._calls.pop(row_id, None)

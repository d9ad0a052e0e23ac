"""Calls that outlive their caller: an operation that timed out, a driver that failed.

A thread cannot be stopped, and its request must not arrive after the next request about the same
object. So each call about a row waits first for an orphaned call about it. The calls of a process
are kept in one place, which outlives drivers and their sessions. So are the sent changes without an
answer, for the next driver of the same stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future

from stoker.engine.model.records import Stack

Ended = Future[float | None]
"""The end of a call: seconds within which its request may still be done; None if it was cut off."""
_MANY = 10_000


class OrphanedCalls:
    """The calls of one process that were left behind, by id of the row."""

    def __init__(self) -> None:
        self._calls: dict[str, Ended] = {}
        self._unanswered: dict[str, tuple[int, dict[str, float]]] = {}
        """By stack: the fencing token of its last driver, and what that driver knew."""

    def remember(self, row_id: str, ended: Ended) -> None:
        """Remember a running call about the row that has lost its caller."""
        if len(self._calls) >= _MANY:
            self._calls = {key: call for key, call in self._calls.items() if not call.done()}
        self._calls[row_id] = ended

    def any_of(self, row_ids: Iterable[str]) -> bool:
        """Return whether there is an orphaned call about one of the rows."""
        return bool(self._calls) and any(row_id in self._calls for row_id in row_ids)

    def take(self, row_id: str) -> Ended | None:
        """The orphaned call about the row; the caller must wait for it."""
        return self._calls.pop(row_id, None)

    def unanswered(self, stack: Stack, changing: Iterable[str], now: float) -> dict[str, float]:
        """Return the time of the last change whose outcome is unknown, by row.

        For a driver that has just acquired the stack, which keeps the answer up to date. If the
        last driver belonged to this process, it has left the times. Otherwise every change in
        progress may have been sent by a process that is dead or hangs.
        """
        token, found = self._unanswered.pop(stack.id, (None, {}))
        if stack.was_handed_over:
            found = {}
        elif token != stack.fencing_token - 1:
            found = dict.fromkeys(changing, now)
        if len(self._unanswered) >= _MANY:
            del self._unanswered[next(iter(self._unanswered))]
        self._unanswered[stack.id] = stack.fencing_token, found
        return found

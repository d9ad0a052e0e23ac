"""Calls that outlive their caller: an operation that timed out, a driver that failed.

A thread cannot be stopped, and its request must not arrive after the next request about the same
object. So each call about a row first waits for an orphaned call about it. The process has one
collection of orphaned calls, which outlives drivers and their sessions. It also has the changes
that were sent without a response, for the next driver of the same stack.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future

from stoker.engine.model.records import Stack

# The end of a call: seconds within which its request may take effect; None if it was cancelled.
Ended = Future[float | None]
_MAX_ENTRIES = 10_000


class OrphanedCalls:
    """The orphaned calls of one process, by row id."""

    def __init__(self) -> None:
        self._calls: dict[str, Ended] = {}
        # By stack: fencing token of the last driver, and its times of unanswered changes by row.
        self._unanswered: dict[str, tuple[int, dict[str, float]]] = {}

    def remember(self, row_id: str, ended: Ended) -> None:
        """Remember a running call about the row that has lost its caller."""
        if len(self._calls) >= _MAX_ENTRIES:
            self._calls = {key: call for key, call in self._calls.items() if not call.done()}
        self._calls[row_id] = ended

    def any_of(self, row_ids: Iterable[str]) -> bool:
        """Return whether there is an orphaned call about one of the rows."""
        return bool(self._calls) and any(row_id in self._calls for row_id in row_ids)

    def pop(self, row_id: str) -> Ended | None:
        """Remove and return the orphaned call about a row; the caller must wait for it."""
        return self._calls.pop(row_id, None)

    def unanswered(self, stack: Stack, changing: Iterable[str], now: float) -> dict[str, float]:
        """Return the time of the last change whose outcome is unknown, by row.

        A driver that has just acquired the stack calls this, and keeps the result up to date. If
        the last driver belonged to this process, it has left the times. Otherwise every change in
        progress may have been sent by a process that is dead or hangs.
        """
        token, times = self._unanswered.pop(stack.id, (None, {}))
        if stack.was_released:
            times = {}
        elif token != stack.fencing_token - 1:
            # Another process drove the stack in between. Assume that it sent all changes just now.
            times = dict.fromkeys(changing, now)
        if len(self._unanswered) >= _MAX_ENTRIES:
            del self._unanswered[next(iter(self._unanswered))]
        self._unanswered[stack.id] = stack.fencing_token, times
        return times

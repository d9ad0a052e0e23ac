"""Calls that outlive their caller: an operation that timed out, a driver that failed.

A thread cannot be stopped, and what it does to an object must not come later than what is done to
that object next. Whoever calls about a row therefore lets the call that was left behind end first.
The calls of a process are kept in one place, as drivers and their sessions come and go. So is what
a driver knows of the changes that it has sent, for the next one of the same stack.
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
        """A call about the row is still running, and nobody waits for it."""
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
        """By row: when a change was sent last of which nobody knows whether it has been done.

        For a driver that has just taken the stack over; it keeps the answer up to date. If the
        last driver belonged to this process, that is what it has left. Else every change that is
        under way may have been sent, by a process that is dead or takes itself for alive.
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

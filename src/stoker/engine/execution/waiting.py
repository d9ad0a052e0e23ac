"""Waits of the actions of an operation, and the ways in which they end early.

In: a :class:`stoker.schema.resource_type.Wait` of a type, or a time. Out: the action continues, or
:class:`StoppedError` is raised because of the operation as a whole. An action that waits for a
signal first notes the round of signals, and then reads them, so it cannot miss one in between. Used
by everything in :mod:`stoker.engine.execution` that waits; the driver wakes and ends the waits.
Tested by tests/operations/test_waiting.py.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

from stoker.engine.model.records import OperationStatus
from stoker.schema.resource_type import Wait


class StoppedError(Exception):
    """A wait ended early because the operation was superseded, failed or timed out."""


SIGNAL = "signal"  # the source that a wait is for; the end of a nested stack has the stack's id
End = tuple[OperationStatus, str]  # the final status of an operation, and its reason
NO_ENDS: Mapping[str, End] = MappingProxyType({})


class _Counting:
    """A context that is counted while it is open; many may be open together."""

    def __init__(self, count: Callable[[int], None], by: int) -> None:
        self._count = count
        self._by = by

    def __enter__(self) -> None:
        self._count(self._by)

    def __exit__(self, *failure: object) -> None:
        self._count(-self._by)


class Waiting:
    """All waits of one operation.

    ``stop`` ends every wait immediately and leaves the actions in progress: another operation, or
    another engine, continues from there. ``fail`` records that the operation has failed: waits for
    a signal end immediately, those for a nested stack continue once they were woken, and all end
    after ``grace`` seconds. ``wake`` ends the waits for a signal, or for the end of one nested
    stack, because it has arrived.
    """

    def __init__(self) -> None:
        self._pauses: dict[asyncio.Future[None], str | None] = {}
        # End of each wait, on the loop's clock.
        self._ends_at: dict[asyncio.Future[None], float] = {}
        self._busy = 1  # steps that do not wait; the operation itself is one
        self._quiet_since = 0.0
        self._rounds: Counter[str] = Counter()
        self._wakes = 0
        self._ends: dict[str, End] = {}
        self.expired = False  # all waits are over
        self.stopped = False  # no further action may start
        self.failed: str | None = None  # the reason of the failure

    @property
    def round(self) -> int:
        """Return the number of signals so far. Note it before reading signals, to miss none."""
        return self.round_of(SIGNAL)

    def round_of(self, source: str) -> int:
        """Return the number of ends of a nested stack so far."""
        return self._rounds[source] + self._wakes

    def end_of(self, operation_id: str) -> End | None:
        """Return the end of an operation on a nested stack, once, if the wake named it."""
        return self._ends.pop(operation_id, None)

    @property
    def step(self) -> _Counting:
        """Count a step in progress for as long as this context lasts."""
        return _Counting(self._count, 1)

    @property
    def resting(self) -> _Counting:
        """Count the step that this belongs to as waiting, for a pause or for other steps."""
        return _Counting(self._count, -1)

    def _count(self, by: int) -> None:
        self._busy += by
        if not self._busy:
            self._quiet_since = asyncio.get_running_loop().time()

    def rests_until(self, least: float) -> float | None:
        """Return the end of the next wait, on the loop's clock, if all steps only wait.

        None unless they have for ``least`` seconds, and will for as long.
        """
        if self._busy or self.failed is not None or not self._pauses:
            return None
        now, until = asyncio.get_running_loop().time(), min(self._ends_at.values())
        return until if now - self._quiet_since >= least and until - now >= least else None

    def stop(self) -> None:
        """End every wait; actions in progress stay as they are."""
        self.stopped = True
        self._end_pauses()

    def fail(self, reason: str, grace: float) -> None:
        """Record that the operation has failed. A second failure changes nothing."""
        if self.failed is not None:
            return
        self.failed = reason
        for pause, awaited in self._pauses.items():
            if awaited is not None:
                _finish(pause)
        asyncio.get_running_loop().call_later(grace, self._expire)

    def expire(self, reason: str) -> None:
        """End the operation because of its time limit, also if it has failed before."""
        self.failed = self.failed or reason
        self._expire()

    def _expire(self) -> None:
        self.expired = True
        self._end_pauses()

    def wake(self, source: str = SIGNAL, ends: Mapping[str, End] = NO_ENDS) -> None:
        """Report a signal, or the end of an operation on the nested stack with the id ``source``.

        ``ends`` contains the ends of operations on it by id, as far as known.
        """
        self._rounds[source] += 1
        self._ends.update(ends)
        for pause, awaited in self._pauses.items():
            if awaited == source:
                _finish(pause)

    def wake_all(self) -> None:
        """Wake all waits for signals, present and imminent: some may have arrived unnoticed."""
        self._wakes += 1
        for pause, awaited in self._pauses.items():
            if awaited is not None:
                _finish(pause)

    def _end_pauses(self) -> None:
        for pause in self._pauses:
            _finish(pause)

    def _over(self, wait: Wait, source: str) -> bool:
        if self.stopped or self.expired:
            return True
        return self.failed is not None and wait.on_signal and source == SIGNAL

    async def sleep(self, seconds: float) -> None:
        """Wait for a time, as :meth:`wait` does; no signal shortens it."""
        await self.wait(Wait(after=seconds), self.round)

    async def wait(self, wait: Wait, seen_round: int, source: str = SIGNAL) -> None:
        """Return after the time, or at the next signal if the wait is for one.

        ``source`` names the sender of the signal. ``seen_round`` is its round at which the caller
        last read. Raises :class:`StoppedError` when the operation as a whole ends the wait.
        """
        if self._over(wait, source):
            raise StoppedError
        if wait.on_signal and seen_round != self.round_of(source):
            return
        loop = asyncio.get_running_loop()
        pause = loop.create_future()
        self._pauses[pause] = source if wait.on_signal else None
        self._ends_at[pause] = loop.time() + max(wait.after, 0)
        timer = loop.call_at(self._ends_at[pause], _finish, pause)
        try:
            self._count(-1)
            await pause
        finally:
            self._count(1)
            timer.cancel()
            del self._pauses[pause], self._ends_at[pause]
        if self._over(wait, source):
            raise StoppedError


def _finish(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)

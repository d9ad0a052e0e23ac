"""Pauses of an operation's actions, and the ways in which they end early."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

from stoker.engine.model.records import OperationStatus
from stoker.schema.resource_type import Wait


class StoppedError(Exception):
    """The pause was ended early because of what happened to the operation as a whole."""


SIGNAL = "signal"
"""What a pause is for, unless it is for the end of a nested stack: that has the stack's id."""


End = tuple[OperationStatus, str]
"""How an operation has ended, and why."""
NO_ENDS: Mapping[str, End] = MappingProxyType({})


class _Counting:
    """A context that counts while it lasts; many may last at once."""

    def __init__(self, count: Callable[[int], None], by: int) -> None:
        self._count = count
        self._by = by

    def __enter__(self) -> None:
        self._count(self._by)

    def __exit__(self, *failure: object) -> None:
        self._count(-self._by)


class Waiting:
    """All pauses of one operation.

    ``stop`` ends every pause at once and leaves the actions in progress: another operation, or
    another engine, goes on from there. ``fail`` says that the operation has failed: pauses for a
    signal end at once, those for a nested stack go on once they have been told, and all end after
    ``grace`` seconds. ``wake`` ends the pauses for a signal,
    or for the end of one nested stack, because it has come.
    """

    def __init__(self) -> None:
        self._pauses: dict[asyncio.Future[None], str | None] = {}
        self._ends_at: dict[asyncio.Future[None], float] = {}
        """By pause: when its time is up, on the loop's clock."""
        self._busy = 1
        """Steps that are under way and do not pause; the operation itself is one."""
        self._quiet_since = 0.0
        self._rounds: Counter[str] = Counter()
        self._looks = 0
        self._ends: dict[str, End] = {}
        self.expired = False
        """Nobody waits any more."""
        self.stopped = False
        """No further action may begin."""
        self.failed: str | None = None
        """Why the operation has failed; None while it has not."""

    @property
    def round(self) -> int:
        """Counts the signals: who has seen it before looking cannot miss one."""
        return self.round_of(SIGNAL)

    def round_of(self, source: str) -> int:
        """The same for the ends of a nested stack."""
        return self._rounds[source] + self._looks

    def end_of(self, operation_id: str) -> End | None:
        """How an operation on a nested stack has ended, if that was told; tells it once."""
        return self._ends.pop(operation_id, None)

    @property
    def step(self) -> _Counting:
        """Count a step that is under way for as long as this context lasts."""
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
        """When the next pause ends, on the loop's clock, if for ``least`` seconds there has been
        nothing but pauses, and will be for as long; else None.
        """
        if self._busy or self.failed is not None or not self._pauses:
            return None
        now, until = asyncio.get_running_loop().time(), min(self._ends_at.values())
        return until if now - self._quiet_since >= least and until - now >= least else None

    def stop(self) -> None:
        """End every pause, leave what is in progress as it is."""
        self.stopped = True
        self._end_pauses()

    def fail(self, reason: str, grace: float) -> None:
        """The operation has failed. A second failure changes nothing."""
        if self.failed is not None:
            return
        self.failed = reason
        for pause, awaited in self._pauses.items():
            if awaited is not None:
                _finish(pause)
        asyncio.get_running_loop().call_later(grace, self._expire)

    def expire(self, reason: str) -> None:
        """The operation's time is up, whether or not it has failed before."""
        self.failed = self.failed or reason
        self._expire()

    def _expire(self) -> None:
        self.expired = True
        self._end_pauses()

    def wake(self, source: str = SIGNAL, ends: Mapping[str, End] = NO_ENDS) -> None:
        """A signal has arrived, or the nested stack of that id has come to an end.

        ``ends`` tells how operations on it have ended, by their ids, where that is known.
        """
        self._rounds[source] += 1
        self._ends.update(ends)
        for pause, awaited in self._pauses.items():
            if awaited == source:
                _finish(pause)

    def wake_all(self) -> None:
        """Something may have come of which nobody was told: whoever waits for it looks, and
        whoever is about to wait.
        """
        self._looks += 1
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
        """Return after the time, or at the next signal where the wait is for one.

        ``source`` names what counts as the signal. ``seen_round`` is its round at which the caller
        last looked. Raises :class:`StoppedError` when
        the operation as a whole ends the pause.
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

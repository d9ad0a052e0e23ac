"""Pauses of an operation's actions, and the ways in which they end early."""

from __future__ import annotations

import asyncio

from stoker.schema.resource_type import Wait


class Stopped(Exception):
    """The pause was ended early because of what happened to the operation as a whole."""


class Waiting:
    """All pauses of one operation.

    ``stop`` ends every pause at once and leaves the actions in progress: another operation, or
    another engine, goes on from there. ``fail`` says that the operation has failed: pauses for a
    signal end at once, all others after ``grace`` seconds. ``rouse`` ends the pauses for a signal
    because one has arrived.
    """

    def __init__(self) -> None:
        self._pauses: dict[asyncio.Future[None], bool] = {}
        self._expired = False
        self.stopped = False
        """No further action may begin."""
        self.failed: str | None = None
        """Why the operation has failed; None while it has not."""
        self.round = 0
        """Counts the calls of :meth:`rouse`: who has seen it cannot miss a signal."""

    def stop(self) -> None:
        """End every pause, leave what is in progress as it is."""
        self.stopped = True
        self._end_pauses()

    def fail(self, reason: str, grace: float) -> None:
        """The operation has failed. A second failure changes nothing."""
        if self.failed is not None:
            return
        self.failed = reason
        self._end_pauses(for_signal_only=True)
        asyncio.get_running_loop().call_later(grace, self._expire)

    def _expire(self) -> None:
        self._expired = True
        self._end_pauses()

    def rouse(self) -> None:
        """A signal or the end of a nested stack has arrived."""
        self.round += 1
        self._end_pauses(for_signal_only=True)

    def _end_pauses(self, *, for_signal_only: bool = False) -> None:
        for pause, on_signal in self._pauses.items():
            if (on_signal or not for_signal_only) and not pause.done():
                pause.set_result(None)

    def _over(self, wait: Wait) -> bool:
        return self.stopped or self._expired or (self.failed is not None and wait.on_signal)

    async def wait(self, wait: Wait, seen_round: int) -> None:
        """Return after the time, or at the next signal where the wait is for one.

        ``seen_round`` is the round at which the caller last looked. Raises :class:`Stopped` when
        the operation as a whole ends the pause.
        """
        if self._over(wait):
            raise Stopped
        if wait.on_signal and seen_round != self.round:
            return
        loop = asyncio.get_running_loop()
        pause = loop.create_future()
        self._pauses[pause] = wait.on_signal
        timer = loop.call_later(max(wait.after, 0), _finish, pause)
        try:
            await pause
        finally:
            timer.cancel()
            del self._pauses[pause]
        if self._over(wait):
            raise Stopped


def _finish(pause: asyncio.Future[None]) -> None:
    if not pause.done():
        pause.set_result(None)

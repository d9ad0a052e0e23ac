"""An event loop whose time is virtual and whose order is drawn from a seed.

Each turn runs one ready callback, chosen by the seed; when nothing is ready, time jumps to the
next timer. After a given number of turns the loop dies in the middle of everything, as a process
does that is killed.
"""

from __future__ import annotations

import asyncio
import random
import selectors
from typing import Any


class KilledError(Exception):
    """The loop has died."""


class StuckError(Exception):
    """Nothing is ready and no timer is set, or the work has no end."""


MOST_TURNS = 500_000  # more turns than any finite scenario needs


class _Selector(selectors.BaseSelector):
    """Instead of waiting for files, it lets time pass."""

    def __init__(self) -> None:
        self.loop: VirtualLoop | None = None
        self._files: dict[Any, selectors.SelectorKey] = {}

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        key = selectors.SelectorKey(fileobj, 0, events, data)
        self._files[fileobj] = key
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._files.pop(fileobj)

    def select(self, timeout: float | None = None) -> list[Any]:
        assert self.loop is not None
        if timeout is None:
            raise StuckError
        self.loop.now += max(timeout, 1e-6)
        return []

    def get_map(self) -> Any:
        return self._files


class VirtualLoop(asyncio.SelectorEventLoop):
    """See the module's description. ``kill_after`` counts turns; None means never."""

    def __init__(self, seed: random.Random, now: float, kill_after: int | None = None) -> None:
        self.now = now
        self.turns = 0
        self._seed = seed
        self.kill_after = kill_after
        selector = _Selector()
        super().__init__(selector)
        self._clock_resolution = 1e-6
        selector.loop = self

    @property
    def is_over(self) -> bool:
        """Return whether the loop runs no turn any more."""
        return self.kill_after is not None and self.turns >= self.kill_after

    def time(self) -> float:
        return self.now

    def _make_self_pipe(self) -> None:
        """No sockets: no thread wakes this loop, and thousands of dead loops are kept."""
        self._ssock = self._csock = None

    def _close_self_pipe(self) -> None:
        """There is none."""

    def turn(self, within: VirtualLoop) -> float | None:
        """Run one turn in the middle of another loop's; returns when the next is due, if ever."""
        self.now = within.now
        asyncio.events._set_running_loop(None)
        self.stop()
        try:
            self.run_forever()
        except (KilledError, StuckError):
            return None
        finally:
            asyncio.events._set_running_loop(within)
        if self._ready:
            return within.now
        timers = self._scheduled
        return float(timers[0].when()) if timers else None

    def _run_once(self) -> None:
        if self.is_over:
            raise KilledError
        self.turns += 1
        if self.turns > MOST_TURNS:
            raise StuckError(f"no end after {MOST_TURNS} turns")
        ready = list(self._ready)
        if len(ready) > 1:
            chosen = self._seed.randrange(len(ready))
            first = ready.pop(chosen)
            self._ready.clear()
            self._ready.append(first)
            try:
                super()._run_once()
            finally:
                self._ready.extend(ready)
        else:
            super()._run_once()

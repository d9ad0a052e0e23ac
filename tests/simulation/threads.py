"""Calls that run beside the loop, as on threads, but in turns with it: one of them at a time.

A call runs until it sends a request to the cloud; then it stands still until the loop hands it the
answer. So it goes on when the task that has asked for it is cancelled, and a history is the same
every time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class Dead(BaseException):
    """Raised in a call whose process has died, to be rid of its thread."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The call has sent a request, and waits for the answer."""

    act: Callable[[], Any]
    """What the cloud does when the request reaches it."""
    takes: float
    """Seconds that the cloud takes, beside what every request takes."""


@dataclass(frozen=True, slots=True)
class Returned:
    """The call is over."""

    value: Any = None
    error: BaseException | None = None


class _Worker:
    """A thread that runs calls, one after another; it outlives worlds."""

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.outbox: queue.SimpleQueue[Sent | Returned] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        _here.worker = self
        while True:
            call = self.inbox.get()
            try:
                returned = Returned(call())
            except BaseException as error:  # noqa: BLE001 - told to whoever has asked
                returned = Returned(error=error)
            self.outbox.put(returned)


_idle: list[_Worker] = []
_here = threading.local()


class CallThread:
    """One call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call: Callable[[], Any] | None = call
        self._worker: _Worker | None = None

    @property
    def waits(self) -> bool:
        """Whether the call stands still until it is answered."""
        return self._worker is not None

    def start(self) -> Sent | Returned:
        """Run until the call sends a request, or is over."""
        self._worker = _idle.pop() if _idle else _Worker()
        call, self._call = self._call, None
        return self._hand(call)

    def answer(self, value: Any = None, error: BaseException | None = None) -> Sent | Returned:
        """Hand over the answer to the request, and run on."""
        return self._hand((value, error))

    def kill(self) -> None:
        """The process of the call has died."""
        if self._worker is not None:
            self.answer(error=Dead())

    def _hand(self, message: Any) -> Sent | Returned:
        worker = self._worker
        assert worker is not None
        worker.inbox.put(message)
        told = worker.outbox.get()
        if isinstance(told, Returned):
            self._worker = None
            _idle.append(worker)
        return told


def send(act: Callable[[], Any], takes: float = 0.0) -> Any:
    """The answer to a request, as the calling thread sees it; elsewhere it comes at once."""
    worker: _Worker | None = getattr(_here, "worker", None)
    if worker is None:
        return act()
    worker.outbox.put(Sent(act, takes))
    value, error = worker.inbox.get()
    if error is not None:
        raise error
    return value

"""Calls that run beside the loop, as on threads, but in turns with it: one of them at a time.

A call runs until it sends a request to the cloud; then it waits until the loop hands it the answer.
So it continues when its task is cancelled, and a history is the same every time. It has its own
stack and no thread: a process that is forked has it, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from greenlet import getcurrent, greenlet


class DeadError(BaseException):
    """Raised in a call whose process has died, to be rid of its stack."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The call has sent a request, and waits for the answer."""

    act: Callable[[], Any]  # effect in the cloud when the request arrives
    takes: float  # seconds that the cloud takes in addition to every request's


@dataclass(frozen=True, slots=True)
class Returned:
    """The call is over."""

    value: Any = None
    error: BaseException | None = None


class _Stack(greenlet):
    """The state of one call."""


class CallThread:
    """One call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._stack = _Stack(self._run)

    @property
    def waits(self) -> bool:
        """Return whether the call waits for an answer."""
        return bool(self._stack)

    def start(self) -> Sent | Returned:
        """Run until the call sends a request, or is over."""
        return self._go_on()

    def answer(self, value: Any = None, error: BaseException | None = None) -> Sent | Returned:
        """Hand over the answer to the request, and run on."""
        return self._go_on(value, error)

    def kill(self) -> None:
        """The process of the call has died."""
        if self.waits:
            self.answer(error=DeadError())

    def _go_on(self, *answer: Any) -> Sent | Returned:
        self._stack.parent = getcurrent()
        told: Sent | Returned = self._stack.switch(*answer)
        return told

    def _run(self) -> Returned:
        try:
            return Returned(self._call())
        except BaseException as error:  # noqa: BLE001 - told to whoever has asked
            return Returned(error=error)


def send(act: Callable[[], Any], takes: float = 0.0) -> Any:
    """Return the answer to a request inside a call, which waits for it; elsewhere, immediately."""
    stack = getcurrent()
    if not isinstance(stack, _Stack):
        return act()
    value, error = stack.parent.switch(Sent(act, takes))
    if error is not None:
        raise error
    return value

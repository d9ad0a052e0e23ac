"""Receives notifications about a stack from the service, instead of polling it."""

from __future__ import annotations

import time
from http import HTTPStatus
from threading import Event as Signal
from threading import Thread

from stoker.cli.client.client import Client, RefusedError, is_passing
from stoker.cli.client.stacks import DEEP, ORCHESTRATION, Stack
from stoker.cli.console.failures import CommandError

LONGEST_SILENCE = 5.0  # seconds after which the service is polled anyway
# Seconds after which a stream counts as dead. The service sends a keepalive every ten seconds.
SILENCE = 25.0
_TOGETHER = 0.05  # seconds in which events are combined
_PAUSE = 1.0  # seconds before an ended stream is opened again


class EventStreamClient:
    """Follows the events of a stack on a thread. A service without streams is polled.

    With ``until_end``, it ends with the operation that is in progress.
    """

    def __init__(
        self,
        client: Client,
        stack: Stack,
        after: str | None,
        silence: float = SILENCE,
        *,
        until_end: bool = True,
    ) -> None:
        self._client = client
        self._path = f"{stack.path}/events"
        self._silence = silence
        self._until_end = until_end
        self._last = after or ""  # id of the last received event
        self._notified = Signal()
        self._closed = Signal()
        self._streams = False
        Thread(target=self._listen, daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Wait for a notification. Without a stream, sleep for these seconds."""
        if not self._streams:
            time.sleep(seconds)
            return
        self._notified.wait(LONGEST_SILENCE)
        self._notified.clear()
        time.sleep(_TOGETHER)

    def close(self) -> None:
        """Open no more streams."""
        self._closed.set()

    def _listen(self) -> None:
        """Follow one stream after another. A stream ends with its service, or when it is silent."""
        more = True
        while more and not self._closed.is_set():
            try:
                more = self._follow()
            except CommandError as failure:
                # The next request renews an expired token.
                more = is_passing(failure) or _is_unknown(failure)
            self._streams = False
            self._notified.set()
            if more:
                self._closed.wait(_PAUSE)

    def _follow(self) -> bool:
        """Follow a stream; return whether there may be another one after its end."""
        query = {"nested_depth": DEEP, "until_end": self._until_end, "marker": self._last}
        for line in self._client.lines(ORCHESTRATION, self._path, query, self._silence):
            self._streams = True
            if line.startswith("id:"):
                self._last = line.removeprefix("id:").strip()
            elif line == "event: end":
                return False
            elif line.startswith("event:"):
                self._notified.set()
        return self._streams


def _is_unknown(failure: CommandError) -> bool:
    return isinstance(failure, RefusedError) and failure.status == HTTPStatus.UNAUTHORIZED

"""Hears from the service that something has happened to a stack, so that nobody has to ask."""

from __future__ import annotations

import time
from threading import Event as Signal
from threading import Thread

from stoker.cli.client import Client
from stoker.cli.failures import CommandFailed
from stoker.cli.stacks import DEEP, ORCHESTRATION, Stack

LONGEST_SILENCE = 5.0
"""Seconds after which it is asked all the same."""
_TOGETHER = 0.05
"""Seconds in which what happens is taken together."""


class News:
    """Follows the events of a stack on a thread; a service that has no stream of them is asked."""

    def __init__(self, client: Client, stack: Stack, after: str | None) -> None:
        self._client = client
        self._path = f"{stack.path}/events"
        self._query = {"nested_depth": DEEP, "until_end": True, "marker": after or ""}
        self._told = Signal()
        self._streams = False
        Thread(target=self._listen, daemon=True).start()

    def wait(self, seconds: float) -> None:
        """Return when something has happened; after so many seconds where nobody tells."""
        if not self._streams:
            time.sleep(seconds)
            return
        self._told.wait(LONGEST_SILENCE)
        self._told.clear()
        time.sleep(_TOGETHER)

    def _listen(self) -> None:
        try:
            for line in self._client.lines(ORCHESTRATION, self._path, self._query):
                self._streams = True
                if line.startswith("event:"):
                    self._told.set()
        except CommandFailed:
            pass  # whoever asks is told
        finally:
            self._streams = False
            self._told.set()

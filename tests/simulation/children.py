"""Forked processes that continue from the current state, each on its own."""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Hashable, Sequence
from typing import Generic, NoReturn, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Children(Generic[Key]):
    """At most this many together; each has a key, and reports lines of text when it ends.

    With ``until_told`` no more are started after the first report.
    """

    def __init__(self, most: int, until_told: bool = False) -> None:
        self._most = most
        self._until_told = until_told
        # Process and key of each, by the pipe that it reports on.
        self._running: dict[int, tuple[int, Key]] = {}
        self._report: int | None = None
        self.begun: set[Key] = set()
        # Reports of those that had any, in the order of their ends.
        self.told: list[tuple[Key, Sequence[str]]] = []

    @property
    def is_child(self) -> bool:
        """Return whether this process is one of them."""
        return self._report is not None

    def fork(self, key: Key) -> bool:
        """Start a child here, once there is room; return whether this is the child."""
        while len(self._running) >= self._most:
            self._wait()
        if self._until_told and self.told:
            return False
        # of other threads a child would have nothing but their locks
        assert threading.active_count() == 1, "a process with threads cannot be forked"
        self.begun.add(key)
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            self._report = writing
            return True
        os.close(writing)
        self._running[reading] = process, key
        return False

    def end(self, lines: Sequence[str]) -> NoReturn:
        """Report, and end this child."""
        assert self._report is not None
        with os.fdopen(self._report, "w") as report:
            json.dump(lines, report)
        os._exit(0)  # not as Python ends: the rest belongs to the parent

    def join(self) -> None:
        """Return when all have ended."""
        while self._running:
            self._wait()

    def _wait(self) -> None:
        for pipe in select.select(list(self._running), (), ())[0]:
            process, key = self._running.pop(pipe)
            with os.fdopen(pipe) as report:
                text = report.read()
            _, status = os.waitpid(process, 0)
            lines = json.loads(text) if text else [f"its process ended with status {status}"]
            if lines:
                self.told.append((key, lines))

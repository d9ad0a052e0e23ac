"""Steps of a long story: each prints its result and its time, and a failure does not end it."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST_CHARACTERS = 1500  # of an error; the log has all of it


class Steps:
    """The steps so far."""

    def __init__(self, log: Path) -> None:
        """``log`` is the file for tracebacks."""
        self._log = log
        self.failed: list[str] = []
        self.count = 0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Run the block as a step. An exception is printed, and is the result of the step."""
        self.count += 1
        started = time.monotonic()
        result = "ok"
        try:
            yield
        except Exception as error:  # noqa: BLE001 - the other steps still run
            self.failed.append(name)
            result = f"FAILED: {type(error).__name__}: {error}"[:_MOST_CHARACTERS]
            with self._log.open("a") as log:
                log.write(f"{name}\n{traceback.format_exc()}\n")
        sys.stdout.write(f"{time.monotonic() - started:7.1f} s  {name:58} {result}\n")
        sys.stdout.flush()

    def summary(self) -> str:
        """Return the result in words."""
        if not self.failed:
            return f"all {self.count} steps passed"
        return f"{len(self.failed)} of {self.count} steps failed: {', '.join(self.failed)}"

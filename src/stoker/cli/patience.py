"""Waiting on while a service does not answer: what it was asked to do goes on, or will."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import click

from stoker.cli.client import is_passing
from stoker.cli.failures import CommandFailed

Value = TypeVar("Value")
SECONDS = 300.0
"""In which a service has to answer again: it may be started anew, or its database may be away."""
_SHORTEST, _LONGEST = 0.3, 5.0
"""Seconds between two questions."""


class Patience:
    """That of one command, which says once that it waits."""

    def __init__(
        self,
        seconds: float = SECONDS,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._seconds = seconds
        self._now = now
        self._sleep = sleep
        self._said = False

    def ask(self, question: Callable[[], Value]) -> Value:
        """The answer to a question that changes nothing, asked again while nobody answers.

        Raises :class:`CommandFailed` for an answer that is a refusal, and where none comes in time.
        """
        began, pause = self._now(), _SHORTEST
        while True:
            try:
                return question()
            except CommandFailed as failure:
                if not is_passing(failure):
                    raise
                if self._now() - began > self._seconds:
                    waited = f"{self._seconds:.0f} seconds"
                    message = f"{failure.message}; it was not there for {waited}"
                    raise CommandFailed(message) from None
                self._say(failure)
            self._sleep(pause)
            pause = min(2 * pause, _LONGEST)

    def _say(self, failure: CommandFailed) -> None:
        if not self._said:
            minutes = self._seconds / 60
            words = f"stoker: {failure.message}; waiting for it for up to {minutes:.0f} minutes"
            click.echo(words, err=True)
        self._said = True

"""Retries while a service is unavailable: its operations continue, or will."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import click

from stoker.cli.client.client import NoServiceError, is_passing
from stoker.cli.console.failures import CommandError
from stoker.kernel.backoff import Backoff

Value = TypeVar("Value")
# The service must respond within this time; it may be restarting, or its database may be down.
SECONDS = 300.0
_BACKOFF = Backoff(0.3, 5.0)


class RetryPolicy:
    """Retries the requests of one command, which reports the wait once."""

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

    def ask(self, question: Callable[[], Value], *, first: bool = False) -> Value:
        """Return the answer to a request that changes nothing, retried while the service is down.

        Raises :class:`CommandError` for an answer that is a refusal, and for none in time. For the
        ``first`` request also if the service cannot be reached: the address may be wrong.
        """
        began, pauses = self._now(), iter(_BACKOFF)
        while True:
            try:
                return question()
            except CommandError as failure:
                if not is_passing(failure) or (first and isinstance(failure, NoServiceError)):
                    raise
                if self._now() - began > self._seconds:
                    waited = f"{self._seconds:.0f} seconds"
                    message = f"{failure.message}; it was not there for {waited}"
                    raise CommandError(message) from None
                self._say(failure)
            self._sleep(next(pauses))

    def begin(self, request: Callable[[], object], has_started: Callable[[], bool]) -> None:
        """Send a request that starts an operation, retried unless it has started.

        A request without an answer may have been accepted, or may be yet. From then on
        ``has_started`` decides, even if the next request is refused for that reason.
        """
        unsure = False

        def attempt() -> None:
            nonlocal unsure
            if unsure and has_started():
                return
            try:
                request()
            except CommandError as failure:
                if is_passing(failure):
                    unsure = True
                elif unsure and has_started():
                    return
                raise

        self.ask(attempt)

    def _say(self, failure: CommandError) -> None:
        if not self._said:
            minutes = self._seconds / 60
            why = failure.message.rstrip(".")
            words = f"stoker: {why}; waiting for it for up to {minutes:.0f} minutes"
            click.echo(words, err=True)
        self._said = True

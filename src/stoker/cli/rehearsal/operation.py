"""Starts operations on the rehearsed stack, and waits for their ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import click
from msgspec import Struct

from stoker.cli.client.client import Client, RefusedError, is_passing
from stoker.cli.client.stacks import (
    ORCHESTRATION,
    Event,
    Stack,
    events_of,
    find_stack,
    last_event_id,
    refresh,
)
from stoker.cli.console.failures import CommandError
from stoker.cli.deploy.causes import ShownAs, explanation_of, lines_of

Value = TypeVar("Value")
_POLL_SECONDS = 0.01
_SETTLING_SECONDS = 2.0  # A failed stack may be visible for a moment before its rollback starts.

# Called with the events that have arrived since the last call, while an operation runs.
Observer = Callable[[list[Event]], None]


class OutOfTimeError(CommandError):
    """The time of the rehearsal is over."""


class Deadline:
    """The end of the time for the whole rehearsal."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self, what: str) -> None:
        """Raise :class:`OutOfTimeError` if the time is over while waiting for ``what``."""
        if time.monotonic() > self._end:
            minutes = f"{self._seconds / 60:.3g} minutes"
            raise OutOfTimeError(
                f"the rehearsal has not ended within {minutes}: {what}; allow more with --timeout"
            )


class Ended(Struct, frozen=True):
    """An operation that has ended."""

    action: str  # that was requested
    stack: Stack
    seconds: float
    events: tuple[Event, ...] = ()
    causes: tuple[str, ...] = ()  # why it failed, in lines

    @property
    def state(self) -> str:
        """Return the state of the stack at the end."""
        return self.stack.state


class Operations:
    """Runs operations on stacks of the throw-away cloud, one after another."""

    def __init__(self, client: Client, deadline: Deadline, shown_as: ShownAs | None = None) -> None:
        self._client = client
        self._deadline = deadline
        self._shown_as = shown_as

    def create(
        self, send: Callable[[], Any], name: str, observe: Observer = lambda _: None
    ) -> Ended:
        """Create a stack with a request, and wait for the end."""
        began = time.monotonic()
        send()
        stack = self._asked(partial(find_stack, self._client, name), f"the create of {name} starts")
        assert stack is not None
        return self._end("CREATE", stack, None, began, observe)

    def update(
        self, send: Callable[[], Any], stack: Stack, observe: Observer = lambda _: None
    ) -> Ended:
        """Update a stack with a request, and wait for the end, also that of a rollback."""
        last = last_event_id(self._client, stack)
        began = time.monotonic()
        send()
        return self._end("UPDATE", stack, last, began, observe)

    def delete(self, stack: Stack, observe: Observer = lambda _: None) -> Ended:
        """Delete a stack, and wait for the end."""
        last = last_event_id(self._client, stack)
        began = time.monotonic()
        self._client.call(ORCHESTRATION, "DELETE", stack.path)
        return self._end("DELETE", stack, last, began, observe)

    def _end(
        self, action: str, stack: Stack, last: str | None, began: float, observe: Observer
    ) -> Ended:
        try:
            return self._awaited(action, stack, last, began, observe)
        except OutOfTimeError as error:
            raise OutOfTimeError("\n".join([error.message, *self._causes(stack)])) from None

    def _awaited(
        self, action: str, stack: Stack, last: str | None, began: float, observe: Observer
    ) -> Ended:
        seen: list[Event] = []
        failed_at: float | None = None
        while True:
            waiting = f"{stack.name} is still {stack.state}"
            now = self._asked(partial(refresh, self._client, stack), waiting)
            events = self._asked(partial(events_of, self._client, now, last), waiting)
            seen += events
            last = events[-1].id if events else last
            stack = now
            answered = time.monotonic()
            if stack.status != "IN_PROGRESS" and stack.action in (action, "ROLLBACK"):
                may_roll_back = stack.status == "FAILED" and stack.action != "ROLLBACK"
                failed_at = failed_at or answered
                if not may_roll_back or answered - failed_at > _SETTLING_SECONDS:
                    break
            self._clear_hooks(events, waiting)
            observe(events)
            time.sleep(_POLL_SECONDS)
        ended = self._asked(partial(refresh, self._client, stack, outputs=True), "outputs")
        causes = () if ended.status == "COMPLETE" else self._causes(ended)
        return Ended(action, ended, (failed_at or answered) - began, tuple(seen), causes)

    def _clear_hooks(self, events: list[Event], what: str) -> None:
        """Clear the hooks of an environment, since no person does it here."""
        for event in events:
            if event.hook is not None:
                path = f"/stacks/{event.stack_name}/{event.stack_id}/resources/{event.resource}"
                body = {"unset_hook": event.hook}
                call = partial(self._client.call, ORCHESTRATION, "POST", f"{path}/signal", body)
                with suppress(RefusedError):  # An earlier attempt without an answer cleared it.
                    self._asked(call, what)

    def _causes(self, stack: Stack) -> tuple[str, ...]:
        try:
            found, _ = explanation_of(self._client, stack, None, self._shown_as)
        except CommandError as error:
            return (stack.reason, error.message)
        return tuple(click.unstyle(line) for line in lines_of(found, datetime.now(UTC)))

    def _asked(self, question: Callable[[], Value], what: str) -> Value:
        """Return an answer, asked again while the service is killed or busy."""
        while True:
            self._deadline.check(what)
            try:
                return question()
            except CommandError as failure:
                if not is_passing(failure):
                    raise
            time.sleep(_POLL_SECONDS)


def refusal_lines(refusal: RefusedError) -> list[str]:
    """Return the findings of a refused request, or its message."""
    found: list[Mapping[str, Any]] = list(refusal.diagnostics)
    return [str(each.get("message")) for each in found] or [refusal.message]

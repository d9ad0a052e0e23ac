"""Follows an operation until it ends: with a live tree on a terminal, otherwise with lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner

from stoker.cli.arguments.naming import paths_of, the_stack
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import Event, Resource, Stack, events_of, refresh, resources_of
from stoker.cli.console.console import say
from stoker.cli.console.failures import CommandError
from stoker.cli.deploy.event_stream import EventStreamClient
from stoker.cli.deploy.tree import PLAIN_REASONS, Clocks, as_tree, by_stack, elapsed, status_of, why
from stoker.kernel.values import replace

INTERRUPTED = 130  # exit code after Ctrl-C
CANCELLABLE = ("CREATE", "UPDATE")  # actions of stacks that can be cancelled
_SHORTEST_PAUSE = 0.15
_LONGEST_PAUSE = 3.0
_SILENCE_SECONDS = 10.0
_MOST_BUSY = 5
_SETTLING_SECONDS = 2.0  # A failed stack may be visible for a moment before its rollback starts.


class Display(Protocol):
    """Shows the progress of an operation."""

    def needs_resources(self, stack: Stack, events: Sequence[Event]) -> bool:
        """Return whether :meth:`show` needs the resources. Those of a large stack take seconds."""

    def show(
        self, stack: Stack, resources: Sequence[Resource] | None, events: Sequence[Event]
    ) -> None:
        """Show the present state, and the events since the last call."""

    def close(self) -> None:
        """Stop, and leave the screen as it is."""


class LiveDisplay:
    """A tree that is redrawn."""

    def __init__(
        self,
        console: Console,
        planned: Sequence[Resource] = (),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show the ``planned`` resources until they start."""
        self._console = console
        self._planned = planned
        self._now = now
        self._clocks = Clocks(now)
        self._began = now()
        self._spinner = Spinner("dots")
        self._live = Live(console=console, refresh_per_second=8, transient=False)
        self._live.start()

    def needs_resources(self, stack: Stack, events: Sequence[Event]) -> bool:
        """Return True: the tree has all of them."""
        return True

    def show(
        self, stack: Stack, resources: Sequence[Resource] | None, events: Sequence[Event]
    ) -> None:
        """Draw the current tree."""
        resources = resources or ()
        if stack.status == "IN_PROGRESS":
            resources = with_planned(resources, self._planned)
        self._clocks.observe(resources)
        most = max(self._console.size.height - 6, 5)
        tree = as_tree(stack, resources, self._clocks, most)
        done = sum(status_of(resource) == "COMPLETE" for resource in resources)
        took = self._now() - self._began
        words = f"{done} of {len(resources)} done, {elapsed(took)}"
        if not _busy(resources) and took > _SILENCE_SECONDS:
            words += f"; {_ASK.format(stack.name)}"
        self._spinner.update(text=words)
        busy = stack.status == "IN_PROGRESS"
        self._live.update(Group(tree, self._spinner) if busy else Group(tree))

    def close(self) -> None:
        """Stop drawing; the last tree stays on the screen."""
        self._live.stop()


def with_planned(resources: Sequence[Resource], planned: Sequence[Resource]) -> Sequence[Resource]:
    """Return existing and planned resources, with dependencies from the plan."""
    plans = {resource.key: resource for resource in planned}
    present = [
        replace(resource, required_by=plans.pop(resource.key).required_by)
        if resource.key in plans
        else resource
        for resource in resources
    ]
    return [*present, *plans.values()]


class PlainDisplay:
    """One line for each event, and a line from time to time if there are none."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._now = now
        self._began = self._spoke = now()
        self._clocks = Clocks(now)
        self._paths: dict[str, tuple[str, ...]] = {}

    def needs_resources(self, stack: Stack, events: Sequence[Event]) -> bool:
        """Return whether a nested stack is new, or nothing was printed for a while."""
        known = (stack.id, *self._paths)
        return any(each.stack_id not in known for each in events) or self._is_silent(stack)

    def _is_silent(self, stack: Stack) -> bool:
        return self._now() - self._spoke > _SILENCE_SECONDS and stack.status == "IN_PROGRESS"

    def show(
        self, stack: Stack, resources: Sequence[Resource] | None, events: Sequence[Event]
    ) -> None:
        """Print the events, or after a silence the awaited resources."""
        self._clocks.observe(resources or ())
        self._clocks.observe_events(events)
        # Deleted nested stacks still have events.
        self._paths |= paths_of(stack, resources or ())
        if events:
            self._print("\n".join(event_line(each, stack, self._paths) for each in events))
        if resources is not None and self._is_silent(stack):
            levels = by_stack(resources)
            busy = _busy(resources)
            for resource in busy[:_MOST_BUSY]:
                reason = why(resource, levels[resource.stack_id], stack.action)
                took = elapsed(self._clocks.seconds(resource) or 0)
                name = "/".join((*self._paths.get(resource.stack_id, ()), resource.name))
                words = f"{name}  for {took}  {reason}"
                self._print(f"         still {resource.state}  {words}".rstrip())
            if len(busy) > _MOST_BUSY:
                self._print(f"         and {len(busy) - _MOST_BUSY} more")
            if not busy:
                took = elapsed(self._now() - self._began)
                words = f"{stack.name}  for {took}  {_ASK.format(stack.name)}"
                self._print(f"         still {stack.state}  {words}")

    def close(self) -> None:
        """Return immediately: everything is printed already."""

    def _print(self, line: str) -> None:
        self._spoke = self._now()
        say(self._console, line)


# For waits that no resource shows, such as for the deletion of a replaced object.
_ASK = '"stoker why {}" says what it waits for'


def _busy(resources: Sequence[Resource]) -> list[Resource]:
    """Return the resources with a current action, without the nested stacks that contain them."""
    return [
        resource
        for resource in resources
        if status_of(resource) in ("IN_PROGRESS", "PAUSED")
        and (resource.nested_id is None or resource.hook is not None)
    ]


def event_line(event: Event, stack: Stack, paths: Mapping[str, tuple[str, ...]]) -> str:
    """Return an event as one line, with the time of day."""
    clock = event.time.partition("T")[2].removesuffix("Z")
    name = "/".join(event_path(event, stack, paths)) or stack.name
    return f"{clock} {described_event(event, name)}"


def described_event(event: Event, name: str) -> str:
    """Return state, name of the resource, and reason of an event."""
    reason = "" if event.reason in PLAIN_REASONS else f"  {' '.join(event.reason.split())}"
    return f"{event.state:<20} {name}{reason}"


def event_path(event: Event, stack: Stack, paths: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the path of an event's resource; empty for the stack itself.

    A nested stack without a path is one that is deleted: it has the name of the stack.
    """
    deleted = () if event.stack_id == stack.id else (event.stack_name,)
    above = paths.get(event.stack_id, deleted)
    return above if event.is_of_stack else (*above, event.resource)


def started_on(client: Client, name: str, patience: RetryPolicy) -> Stack:
    """Return the stack of that name or id, on which an operation has started."""
    return patience.ask(partial(the_stack, client, name))


def follow(
    client: Client,
    stack: Stack,
    display: Display,
    after: str | None = None,
    *,
    rollback: bool = False,
    patience: RetryPolicy | None = None,
) -> Stack:
    """Show an operation until it ends; return the final stack with its outputs.

    ``after`` is the last event before the operation. With ``rollback``, a failure is not the end
    yet. ``patience`` are the retries of the command. Raise
    :class:`stoker.cli.console.failures.CommandError`.
    """
    failed_at: float | None = None
    patience, stream = patience or RetryPolicy(), EventStreamClient(client, stack, after)
    try:
        while True:
            began = time.monotonic()
            stack, resources, events = patience.ask(
                partial(_fetch, client, stack, after, display.needs_resources)
            )
            answered = time.monotonic()
            after = events[-1].id if events else after
            display.show(stack, resources, events)
            if stack.status != "IN_PROGRESS":
                failed_at = failed_at or answered
                settled = answered - failed_at > _SETTLING_SECONDS
                failed = stack.status == "FAILED" and stack.action in ("CREATE", "UPDATE")
                if not (rollback and failed) or settled:
                    break
            pause = 4 * (answered - began)  # Large stacks are polled less often.
            stream.wait(min(max(pause, _SHORTEST_PAUSE), _LONGEST_PAUSE))
        return patience.ask(partial(refresh, client, stack, outputs=True))
    finally:
        stream.close()
        display.close()


def follow_or_leave(
    console: Console,
    client: Client,
    stack: Stack,
    after: str | None = None,
    *,
    rollback: bool = False,
    planned: Sequence[Resource] = (),
    patience: RetryPolicy | None = None,
) -> Stack:
    """Act as :func:`follow`; on Ctrl-C the process ends, and says that the operation does not."""
    display: Display = PlainDisplay(console)
    if console.is_terminal:
        display = LiveDisplay(console, planned)
    try:
        return follow(client, stack, display, after, rollback=rollback, patience=patience)
    except KeyboardInterrupt:
        say(console, f"\n{stack.name} continues in the background. To watch it:")
        say(console, f"  stoker status {stack.name} --follow")
        if _is_cancellable(client, stack):
            say(console, f"To stop it:\n  stoker cancel {stack.name}")
        sys.exit(INTERRUPTED)


def _is_cancellable(client: Client, stack: Stack) -> bool:
    try:
        now = refresh(client, stack)
    except CommandError:
        return False
    return now.action in CANCELLABLE and now.status == "IN_PROGRESS"


def _fetch(
    client: Client,
    stack: Stack,
    after: str | None,
    needs_resources: Callable[[Stack, Sequence[Event]], bool],
) -> tuple[Stack, Sequence[Resource] | None, Sequence[Event]]:
    """Return the current stack, its resources if needed, and its events after an event."""
    now = refresh(client, stack)
    events = events_of(client, now, after)
    return now, _resources(client, now) if needs_resources(now, events) else None, events


def _resources(client: Client, stack: Stack) -> list[Resource]:
    try:
        return resources_of(client, stack)
    except RefusedError as refusal:
        if refusal.status == 404:  # A deleted stack has no resources.
            return []
        raise

"""``stoker timeline``: an operation of a stack as bars over time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import click
from msgspec import Struct
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import paths_of, the_stack
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.stacks import Event, Resource, Stack, events_by_page, resources_of
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json, say
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.causes import explanation_of
from stoker.cli.deploy.causes import lines_of as lines_of_causes
from stoker.cli.local.service import connect
from stoker.cli.timelines.chart import Chart, by_holder, chosen, difference, lines_of, short
from stoker.cli.timelines.critical_path import critical_path, requirements_of
from stoker.cli.timelines.operation import (
    Bar,
    Operation,
    first_failure,
    is_start,
    operations_of,
    with_waits,
)
from stoker.kernel.clock import precise_isoformat

_MOST_ROWS = 40
_WIDTH = 120  # without a terminal
_NARROWEST = 60


@click.command("timeline")
@click.argument("stack", shell_complete=completing.stacks)
@click.option(
    "--operation",
    "number",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="Which operation, counted from the last one.",
)
@click.option("--critical", "only_critical", is_flag=True, help="Show only the critical path.")
@click.option(
    "--compare", is_flag=True, help="Compare with the previous operation of the same action."
)
@click.option("--all", "every", is_flag=True, help="Show all bars of a large operation.")
@click.option(
    "--width",
    type=click.IntRange(_NARROWEST),
    metavar="COLUMNS",
    help=f"Width of the lines. Default: that of the terminal, or {_WIDTH}.",
)
@shared.as_json
@shared.service
def command(
    stack: str,
    number: int,
    only_critical: bool,
    compare: bool,
    every: bool,
    width: int | None,
    as_json: bool,
    target: Target,
) -> None:
    """Show the last operation of STACK as bars over time, one for each action on a resource.

    Bars of █ are the critical path: the chain of resources that decided how long the operation
    took. Signals, hooks and failures are noted with their times, and the current waits of actions
    in progress, as for a repeated call. A failed operation
    ends with its likely root cause, as "stoker why" explains it. A replaced resource has a bar for
    its new object, and one for the delete of the old one.

    \b
    Examples
      stoker timeline web-app
      stoker timeline web-app --operation 2 --critical
      stoker timeline web-app --compare
      stoker timeline web-app --json | jq '.bars | max_by(.seconds) | .resource'
    """
    with closing(connect(target)) as client:
        found = the_stack(client, stack, outputs=False)
        view = _View.of(client, found, number, compare=compare)
        causes = _Causes(client, found) if number == 1 and found.status == "FAILED" else None
        if as_json:
            print_json(view.as_data(causes))
            return
        console = Console(highlight=False)
        columns = width or (console.width if console.is_terminal else _WIDTH)
        view.print(console, columns, None if every else _MOST_ROWS, only_critical=only_critical)
        _print_cause(console, view.operation, causes)
    if view.operation.action == "ROLLBACK":
        say(console, f"\nWhat was rolled back: stoker timeline {stack} --operation {number + 1}")


class _Causes:
    """The explanation of a stack that failed last, read on demand."""

    def __init__(self, client: Client, stack: Stack) -> None:
        self.explanation, self.data = explanation_of(client, stack, None)


def _print_cause(console: Console, operation: Operation, causes: _Causes | None) -> None:
    if causes is not None:
        say(console, "\nLikely root cause", "bold")
        for line in lines_of_causes(causes.explanation, datetime.now(UTC)):
            click.echo(line)
    elif (bar := first_failure(operation)) is not None:
        say(console, "\nLikely root cause", "bold")
        say(console, f"  {bar.name}: {bar.reason}")


class _View(Struct, frozen=True):
    """An operation, its critical path, and the operation to compare it with."""

    stack: Stack
    operation: Operation
    critical: tuple[Bar, ...]
    now: float
    previous: Operation | None
    is_compared: bool

    @classmethod
    def of(cls, client: Client, stack: Stack, number: int, *, compare: bool) -> _View:
        """Read an operation. Raise :class:`InputError` if there is none with that number."""
        resources = _resources(client, stack)
        events = _events(client, stack, number, compare=compare)
        paths = paths_of(stack, resources)
        operations = list(operations_of(events, stack, paths))
        if len(operations) < number:
            raise InputError(_only(stack, operations))
        now = time.time()
        operation = with_waits(operations[-number], resources, paths, now)
        critical = critical_path(operation, requirements_of(stack, resources), now)
        earlier = [each for each in operations[:-number] if each.action == operation.action]
        previous = earlier[-1] if compare and earlier else None
        return cls(stack, operation, critical, now, previous, compare)

    def print(self, console: Console, width: int, most: int | None, *, only_critical: bool) -> None:
        """Print the head, the bars, and the number of other bars."""
        operation = self.operation
        chart = Chart(operation, self.critical, self.now, width, self._durations())
        bars = by_holder(self.critical) if only_critical else chosen(chart, most)
        say(console, self._head(), "bold")
        if not bars:
            say(console, "No resource was touched.")
            return
        for line in lines_of(chart, bars):
            console.print(line, soft_wrap=True)
        left = len(operation.bars) - len(bars)
        more = f"; {left} shorter bars are left out: --all" if left and not only_critical else ""
        say(console, f"█ critical path, ▒ others{more}", "dim")

    def _head(self) -> str:
        operation = self.operation
        seconds = operation.ends_at(self.now) - operation.start
        started = datetime.fromtimestamp(operation.start, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        head = f"{self.stack.name}  {operation.state}  {short(seconds)}  from {started}"
        if self.previous is not None:
            before = self.previous.ends_at(self.now) - self.previous.start
            head += f"  ({short(before)} the previous time: {difference(seconds - before)})"
        elif self.is_compared:
            head += f"  (there is no {operation.action} before it)"
        return head

    def _durations(self) -> dict[tuple[tuple[str, ...], str], float] | None:
        if self.previous is None:
            return None
        bars = self.previous.bars
        return {(bar.path, bar.action): bar.seconds(self.now) for bar in bars}

    def as_data(self, causes: _Causes | None) -> dict[str, Any]:
        """Return the data for ``--json``."""
        operation, durations = self.operation, self._durations() or {}
        critical = {id(bar) for bar in self.critical}
        failure = first_failure(operation)
        return {
            "stack": self.stack.name,
            "stack_id": self.stack.id,
            "action": operation.action,
            "status": operation.status,
            "reason": operation.reason,
            "start": precise_isoformat(operation.start),
            "end": None if operation.end is None else precise_isoformat(operation.end),
            "seconds": round(operation.ends_at(self.now) - operation.start, 6),
            "previous_seconds": None
            if self.previous is None
            else round(self.previous.ends_at(self.now) - self.previous.start, 6),
            "critical_path": [bar.name for bar in self.critical],
            "root_cause": failure.name if failure else None,
            "causes": None if causes is None else causes.data["why"]["causes"],
            "bars": [
                {
                    "resource": bar.name,
                    "action": bar.action,
                    "status": bar.status,
                    "reason": bar.reason,
                    "start": precise_isoformat(bar.start),
                    "end": None if bar.end is None else precise_isoformat(bar.end),
                    "seconds": round(bar.seconds(self.now), 6),
                    "previous_seconds": durations.get((bar.path, bar.action)),
                    "critical": id(bar) in critical,
                    "notes": [
                        {"time": precise_isoformat(note.at), "text": note.text}
                        for note in bar.notes
                    ],
                }
                for bar in operation.bars
            ],
        }


def _resources(client: Client, stack: Stack) -> list[Resource]:
    try:
        return resources_of(client, stack)
    except RefusedError as refusal:
        if refusal.status == HTTPStatus.NOT_FOUND:  # The stack is deleted.
            return []
        raise


def _events(client: Client, stack: Stack, number: int, *, compare: bool) -> list[Event]:
    """Return the events from the start of an operation, or the one to compare it with."""
    found: list[Event] = []
    starts: list[str] = []  # states, newest first
    for event in events_by_page(client, stack, newest_first=True, precise=True):
        found.append(event)
        if is_start(event, stack):
            starts.append(event.state)
            is_compared = len(starts) > number and starts[-1] == starts[number - 1]
            if is_compared if compare else len(starts) == number:
                break
    return found[::-1]


def _only(stack: Stack, operations: Sequence[Operation]) -> str:
    """Return the error about too large a number, with a list of the operations."""
    if not operations:
        return f"there are no events of an operation of {stack.name}"
    rows = [
        f"  {number}  {each.state}  {short(each.ends_at(time.time()) - each.start)}"
        for number, each in enumerate(reversed(operations), 1)
    ]
    return "\n".join([f"{stack.name} has only {len(operations)} operations:", *rows])

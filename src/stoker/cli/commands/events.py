"""``stoker events``: the events of a stack, also as they happen."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from itertools import islice, takewhile
from typing import Any

import click
from msgspec import Struct

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import by_path, candidates, paths_of, the_stack
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import (
    Event,
    Stack,
    events_by_page,
    events_of,
    resources_of,
)
from stoker.cli.client.target import Target
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.event_stream import EventStreamClient
from stoker.cli.deploy.progress import described_event, event_path
from stoker.cli.local.service import connect

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d{1,6})([smhd])")
_PAUSE_SECONDS = 1.0  # between requests to a service without streams


class Moment(click.ParamType[str]):
    """A time in ISO 8601, or how long ago it was, as ``10m``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the time in UTC, in the form of the API. Raise click's error."""
        if ago := _DURATION.fullmatch(value):
            moment = datetime.now(UTC) - timedelta(seconds=int(ago[1]) * _UNITS[ago[2]])
        else:
            try:
                moment = datetime.fromisoformat(value)
                moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            except (ValueError, OverflowError):
                self.fail(
                    f'"{value}" is neither a time, as 2026-01-31T12:00:00Z, nor as 10m', param
                )
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@click.command("events")
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("resource", required=False, shell_complete=completing.resources)
@click.option("-f", "--follow", is_flag=True, help="Keep printing new events until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(1), help="Only the last N events.")
@click.option(
    "--since",
    type=Moment(),
    metavar="TIME",
    help="Only events since a time in UTC, as 2026-01-31T12:00:00, or so long ago, as 30s, 10m, 2h,"
    " 1d.",
)
@click.option("--json", "as_json", is_flag=True, help="Print an object in JSON for each event.")
@shared.service
def command(
    stack: str,
    resource: str | None,
    follow: bool,
    lines: int | None,
    since: str | None,
    as_json: bool,
    target: Target,
) -> None:
    """Print the events of STACK and of the stacks nested in it, oldest first.

    RESOURCE is a name, or a path into nested stacks, as db/server. Only its events are printed, and
    those inside it. With --follow, the command ends when the stack is deleted. With --json, each
    line is an object.

    \b
    Examples
      stoker events web-app
      stoker events web-app server --since 10m
      stoker events web-app -f -n 20
      stoker events web-app --json | jq -r 'select(.state | endswith("FAILED")) | .reason'
    """
    with closing(connect(target)) as client, suppress(KeyboardInterrupt):
        reader = _Reader(client, the_stack(client, stack, outputs=False), resource)
        printed = 0
        for event in reader.past(lines, since):
            _print(event, as_json=as_json)
            printed += 1
        if not printed:
            reader.require_resource()
        if follow:
            for event in reader.future():
                _print(event, as_json=as_json)


class _Named(Struct, frozen=True):
    """An event with the name of its resource."""

    event: Event
    name: str


class _Reader:
    """Reads the events of a stack, or of a resource of it."""

    def __init__(self, client: Client, stack: Stack, resource: str | None) -> None:
        self._client = client
        self._stack = stack
        self._resource = resource
        self._last: str | None = None  # id of the newest event that was read
        self._has_ended = False  # The stack is deleted.
        self._known: set[str] = set()  # paths of resources
        # Names that lead to nested stacks. A stack that is deleted meanwhile keeps its path.
        self._paths: dict[str, tuple[str, ...]] = {}

    def past(self, count: int | None, since: str | None) -> Iterable[_Named]:
        """Return the events until now, oldest first."""
        self._read_resources()
        if count is None and since is None:
            return self._chosen(self._oldest_first())
        newest = self._newest_first()
        if since is not None:
            newest = takewhile(lambda event: event.time >= since, newest)
        return reversed(deque(islice(self._chosen(newest), count)))

    def future(self) -> Iterator[_Named]:
        """Yield the events after those of :meth:`past` as they happen, until the stack's delete."""
        patience = RetryPolicy()
        stream = EventStreamClient(self._client, self._stack, self._last, until_end=False)
        try:
            while not self._has_ended:
                get = partial(events_of, self._client, self._stack, self._last)
                events = patience.ask(get)
                if any(event.stack_id not in self._paths for event in events):
                    patience.ask(self._read_resources)
                for event in events:
                    self._note(event)
                yield from self._chosen(events)
                if not self._has_ended:
                    stream.wait(_PAUSE_SECONDS)
        finally:
            stream.close()

    def require_resource(self) -> None:
        """Raise :class:`InputError` if the stack does not have the resource."""
        if self._resource is not None and self._resource not in self._known:
            known = candidates(self._resource, self._known)
            raise InputError(
                f'there are no events of a resource "{self._resource}" in {self._stack.name}{known}'
            )

    def _oldest_first(self) -> Iterator[Event]:
        for event in events_by_page(self._client, self._stack, newest_first=False):
            self._note(event)
            yield event

    def _newest_first(self) -> Iterator[Event]:
        for event in events_by_page(self._client, self._stack, newest_first=True):
            if self._last is None:
                self._note(event)
            yield event

    def _note(self, newest: Event) -> None:
        is_of_stack = newest.is_of_stack and newest.stack_id == self._stack.id
        self._last = newest.id
        self._has_ended = is_of_stack and newest.state == "DELETE_COMPLETE"

    def _read_resources(self) -> None:
        try:
            resources = resources_of(self._client, self._stack)
        except RefusedError as refusal:
            if refusal.status == HTTPStatus.NOT_FOUND:  # The stack is deleted.
                return
            raise
        self._paths |= paths_of(self._stack, resources)
        self._known |= set(by_path(self._stack, resources))

    def _chosen(self, events: Iterable[Event]) -> Iterator[_Named]:
        prefix = () if self._resource is None else tuple(self._resource.split("/"))
        for event in events:
            path = event_path(event, self._stack, self._paths)
            if path[: len(prefix)] == prefix:
                yield _Named(event, "/".join(path))


def _print(named: _Named, *, as_json: bool) -> None:
    event = named.event
    if as_json:
        click.echo(json.dumps(_as_data(event, named.name)))
    else:
        click.echo(f"{event.time}  {described_event(event, named.name or event.stack_name)}")


def _as_data(event: Event, name: str) -> Mapping[str, Any]:
    return {
        "id": event.id,
        "time": event.time,
        "stack": event.stack_name,
        "stack_id": event.stack_id,
        "resource": name,
        "state": event.state,
        "reason": event.reason,
        "physical_id": event.physical_id,
    }

"""``stoker deploy``: a stack from a template, created or brought up to date."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click
from rich.console import Console

from stoker.cli import options as shared
from stoker.cli.changes import summary
from stoker.cli.client import Client
from stoker.cli.confirmation import confirm
from stoker.cli.data_dir import running_in
from stoker.cli.failures import FAILED
from stoker.cli.outcome import print_failure, print_outputs
from stoker.cli.progress import follow_or_leave
from stoker.cli.retry import handles_to_renew, renew
from stoker.cli.service import connect, start_detached
from stoker.cli.stacks import (
    Resource,
    Stack,
    events_of,
    find_stack,
    last_events,
    planned_resources,
    resources_of,
    the_stack,
)
from stoker.cli.target import Target
from stoker.cli.wanted import Wanted, stack_arguments


@click.command("deploy")
@stack_arguments
@click.option("--timeout", type=click.IntRange(1), metavar="MINUTES", help="Fail after this long.")
@click.option(
    "--rollback/--no-rollback",
    default=False,
    show_default=True,
    help="After a failure, restore the previous state; otherwise leave everything for inspection.",
)
@click.option("--tags", metavar="TAG,TAG", help="Tags of the stack.")
@click.option(
    "-y", "--yes", is_flag=True, help="Do not ask before something is replaced or deleted."
)
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait for the end and show progress."
)
@shared.service
def command(
    wanted: Wanted,
    timeout: int | None,
    rollback: bool,
    tags: str | None,
    yes: bool,
    wait: bool,
    target: Target,
) -> None:
    """Create a stack from TEMPLATE, or update it if it exists.

    Shows progress, then the outputs. On failure: the cause, the server consoles, and what to do
    next. Asks before an update replaces or deletes working resources, unless given --yes. Ctrl-C
    stops the output; the deployment continues.

    If no service is named or running, starts one in the background with a local cloud. It keeps
    running, as do the servers, until "stoker stop".

    Exit code 0: done; 1: the stack failed; 2: the template or other input is wrong.

    \b
    Examples
      stoker deploy examples/web-app.yaml
      stoker deploy examples/web-app.yaml -P title='Good morning'
      stoker deploy app.yaml -e production.yaml --name shop --timeout 30 --rollback
      OS_CLOUD=mycloud stoker deploy app.yaml --no-wait
    """
    console = Console()
    body = {**wanted.body(), "disable_rollback": not rollback}
    if timeout is not None:
        body["timeout_mins"] = timeout
    if tags is not None:
        body["tags"] = tags
    client = _connected(target, console)
    try:
        begun = _begun(console, client, wanted, body, yes=yes)
        stack = begun.stack
        if wait:
            _see_it_through(console, client, begun, rollback=rollback)
        else:
            _say(console, f"{stack.name}: {stack.state}; stoker status {stack.name} --follow")
    finally:
        client.close()


def _connected(target: Target, console: Console) -> Client:
    if target.serves_itself and running_in(target.data_dir) is None:
        running = start_detached(target)
        _say(
            console,
            f"Started a service at {running.url} in {target.data_dir}; it stays in the background"
            ' until "stoker stop".',
        )
    return connect(target)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A stack whose operation has begun."""

    stack: Stack
    last: str | None
    """The last event before that."""
    planned: Sequence[Resource] = ()
    """What a new stack will consist of."""


def _begun(
    console: Console, client: Client, wanted: Wanted, body: dict[str, Any], *, yes: bool
) -> _Begun:
    existing = find_stack(client, wanted.name)
    if existing is None:
        new = {**body, "stack_name": wanted.name}
        preview = None
        if console.is_terminal:  # the tree shows from the beginning what will be
            preview = wanted.send(client, "POST", "/stacks/preview", new)
        wanted.send(client, "POST", "/stacks", new)
        stack = the_stack(client, wanted.name)
        return _Begun(stack, None, planned_resources(preview, stack) if preview else ())
    if not yes and existing.state != "CREATE_FAILED":  # which has nothing to lose
        _confirm_losses(client, wanted, existing)
    handles = handles_to_renew(client, existing)
    renew(client, handles)
    for handle in handles:
        _say(
            console,
            f"{handle.name} still holds the failure of an earlier attempt; replacing it, and the"
            " servers that report to it.",
        )
    newest = last_events(client, existing, 1)
    wanted.send(client, "PUT", existing.path, body)
    return _Begun(the_stack(client, wanted.name), newest[0].id if newest else None)


def _confirm_losses(client: Client, wanted: Wanted, existing: Stack) -> None:
    """Ask, if something goes that works."""
    changes = wanted.changes(client, existing)
    losses = [change for change in changes if change.is_loss]
    if losses:
        resources = resources_of(client, existing)
        failed = {(r.stack_name, r.name) for r in resources if r.status == "FAILED"}
        losses = [loss for loss in losses if (loss.stack_name, loss.name) not in failed]
    if not losses:
        return
    for change in losses:
        click.echo(change.lines(wanted.name))
    confirm(f"{wanted.name}: {summary(changes)}. Go ahead?")


def _see_it_through(console: Console, client: Client, begun: _Begun, *, rollback: bool) -> None:
    last = begun.last
    ended = follow_or_leave(
        console, client, begun.stack, last, rollback=rollback, planned=begun.planned
    )
    if ended.status == "COMPLETE" and ended.action != "ROLLBACK":
        print_outputs(console, ended.outputs)
        return
    resources = resources_of(client, ended)
    print_failure(console, client, ended, resources, events_of(client, ended, last))
    sys.exit(FAILED)


def _say(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)

"""``stoker destroy``: the end of a stack and of all that belongs to it."""

from __future__ import annotations

import sys

import click
from rich.console import Console

from stoker.cli import options as shared
from stoker.cli.client import Client
from stoker.cli.confirmation import confirm
from stoker.cli.failures import FAILED
from stoker.cli.outcome import print_failure
from stoker.cli.progress import follow_or_leave
from stoker.cli.service import connect
from stoker.cli.stacks import (
    ORCHESTRATION,
    Stack,
    events_of,
    last_events,
    refresh,
    resources_of,
    the_stack,
)
from stoker.cli.target import Target


@click.command("destroy")
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Wait for the end and show progress."
)
@shared.service
def command(name: str, yes: bool, wait: bool, target: Target) -> None:
    """Delete the stack NAME (or id) with its servers, networks and everything else in it.

    Asks first, unless told --yes. Ctrl-C stops the output; the deletion continues.

    \b
    Examples
      stoker destroy web-app
      stoker destroy web-app --yes --no-wait
    """
    console = Console()
    client = connect(target)
    try:
        stack = the_stack(client, name)
        count = len(resources_of(client, stack))
        if not yes:
            confirm(f"Delete {stack.name} with its {count} resources?")
        _destroy(console, client, stack, wait=wait)
    finally:
        client.close()


def _destroy(console: Console, client: Client, stack: Stack, *, wait: bool) -> None:
    newest = last_events(client, stack, 1)
    last = newest[0].id if newest else None
    client.call(ORCHESTRATION, "DELETE", stack.path)
    if not wait:
        state = refresh(client, stack).state
        watch = f"stoker status {stack.id} --follow"
        console.print(f"{stack.name}: {state}; {watch}", highlight=False, soft_wrap=True)
        return
    ended = follow_or_leave(console, client, stack, last)
    if ended.status == "COMPLETE":
        return
    resources = resources_of(client, ended)
    print_failure(console, client, ended, resources, events_of(client, ended, last))
    sys.exit(FAILED)

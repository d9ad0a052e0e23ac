"""``stoker status``: the address of the service, the list of stacks, and the state of one."""

from __future__ import annotations

import time
from contextlib import closing
from shutil import disk_usage

import click
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import running_in
from stoker.cli.arguments.naming import paths_of, the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import (
    Stack,
    as_data,
    last_event_id,
    last_events,
    list_stacks,
    refresh,
    resources_of,
)
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json, say
from stoker.cli.deploy.outcome import end_with_failure, print_failure, print_outputs
from stoker.cli.deploy.progress import event_line, follow_or_leave
from stoker.cli.deploy.tree import Clocks, as_tree, print_tree
from stoker.cli.local.service import connect
from stoker.cli.stack_table import print_stacks

_FULL = 4 * 1024 * 1024  # free bytes below which the database may be unable to write


@click.command("status")
@click.argument("name", required=False, shell_complete=completing.stacks)
@click.option(
    "-f", "--follow", "following", is_flag=True, help="Keep watching until the operation ends."
)
@click.option("--events", "count", default=10, show_default=True, help="Number of events to show.")
@shared.as_json
@shared.service
def command(name: str | None, following: bool, count: int, as_json: bool, target: Target) -> None:
    """Show the service and all stacks, or the stack NAME (or id).

    A stack is shown with its resource tree, outputs and recent events; with --follow, updated
    until its operation ends. Exit code 1 if that failed.

    \b
    Examples
      stoker status
      stoker status web-app
      stoker status web-app --follow
    """
    console = Console()
    with closing(connect(target)) as client:
        if as_json:
            if name is None:
                # The list has no outputs.
                stacks = [refresh(client, each, outputs=True) for each in list_stacks(client)]
            else:
                stacks = [the_stack(client, name)]
            shown = [as_data(client, stack) for stack in stacks]
            print_json(shown[0] if name is not None else shown)
        elif name is None:
            _overview(console, client, target)
        elif following:
            _follow(console, client, the_stack(client, name, outputs=False))
        else:
            _show(console, client, the_stack(client, name), count)


def _overview(console: Console, client: Client, target: Target) -> None:
    running = running_in(target.data_dir) if target.serves_itself else None
    if running is not None:
        for line in (
            f"Service   {running.url}, process {running.pid}",
            f"Data      {target.data_dir}",
            f"Clients   . {target.data_dir}/openrc   # then: openstack stack list",
            "",
        ):
            say(console, line)
        if (free := disk_usage(target.data_dir).free) < _FULL:
            words = f"Disk      full: {free // 1024} KiB free; the service can change nothing"
            say(console, f"{words} until there is room for {target.data_dir}", "red")
    stacks = list_stacks(client)
    if stacks:
        print_stacks(console, stacks)
    else:
        say(console, "There are no stacks. Create one with: stoker deploy TEMPLATE")


def _show(console: Console, client: Client, stack: Stack, count: int) -> None:
    resources = resources_of(client, stack)
    tree = as_tree(stack, resources, Clocks(time.monotonic))
    print_tree(console, tree)
    if stack.outputs:
        console.print("\nOutputs", style="bold")
        print_outputs(console, stack.outputs)
    console.print("\nLast events", style="bold")
    paths = paths_of(stack, resources)
    for event in last_events(client, stack, count):
        say(console, f"  {event_line(event, stack, paths)}")
    if stack.status == "FAILED":
        print_failure(console, client, stack)


def _follow(console: Console, client: Client, stack: Stack) -> None:
    last = None if stack.status == "IN_PROGRESS" else last_event_id(client, stack)
    ended = follow_or_leave(console, client, stack, last)
    if ended.status != "COMPLETE":
        end_with_failure(console, client, ended)
    print_outputs(console, ended.outputs)

"""``stoker snapshot``: takes, lists, shows, restores and deletes snapshots of stacks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

import click
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client, RefusedError, parsed
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import (
    ORCHESTRATION,
    Stack,
    as_data,
    last_event_id,
    refresh,
    snapshots_of,
)
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say, table
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.deploy.confirmation import confirm
from stoker.cli.deploy.outcome import end_with_failure
from stoker.cli.deploy.progress import follow_or_leave
from stoker.cli.local.service import connect

_TITLES = ("Snapshot", "State", "Created", "Id")
_PAUSE_SECONDS = 0.3
_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@click.group("snapshot")
def command() -> None:
    """Take snapshots of stacks, and restore them.

    A snapshot holds the template, the parameters, and images of the servers. SNAPSHOT is a name or
    an id.

    \b
    Examples
      stoker snapshot create web-app --name before-upgrade
      stoker snapshot list web-app
      stoker snapshot restore web-app before-upgrade
    """


@command.command("create")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@click.option("--name", help="Name of the snapshot.")
@shared.as_json
@shared.wait
@shared.service
def create(stack_name: str, name: str | None, as_json: bool, wait: bool, target: Target) -> None:
    """Take a snapshot of STACK.

    With --json, progress goes to the error output, and the snapshot is printed as JSON at the end.

    \b
    Examples
      stoker snapshot create web-app
      stoker snapshot create web-app --name before-upgrade
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        stack = the_stack(client, stack_name, outputs=False)
        last = last_event_id(client, stack)
        answer = client.call(ORCHESTRATION, "POST", f"{stack.path}/snapshots", {"name": name})
        snapshot_id = parsed(lambda found: str(found["id"]), answer)
        ended = _follow(console, client, stack, last, wait=wait)
        _require_complete(console, client, ended, wait=wait)
        if as_json:
            print_json(_the_snapshot(client, stack, snapshot_id))
        else:
            say(console, f"snapshot {snapshot_id}")


@command.command("list")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@shared.as_json
@shared.service
def index(stack_name: str, as_json: bool, target: Target) -> None:
    """List the snapshots of STACK.

    \b
    Examples
      stoker snapshot list web-app
    """
    console = Console()
    with closing(connect(target)) as client:
        stack = the_stack(client, stack_name, outputs=False)
        found = snapshots_of(client, stack)
    if as_json:
        print_json(found)
    elif not found:
        say(console, f"{stack.name} has no snapshots; stoker snapshot create {stack.name}")
    else:
        rows = [(s["name"] or "-", s["status"], s["creation_time"], s["id"]) for s in found]
        table(console, _TITLES, rows)


@command.command("show")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@click.argument("snapshot", shell_complete=completing.snapshots)
@shared.as_json
@shared.service
def show(stack_name: str, snapshot: str, as_json: bool, target: Target) -> None:
    """Show SNAPSHOT of STACK, with the objects that it brings back.

    \b
    Examples
      stoker snapshot show web-app before-upgrade
      stoker snapshot show web-app before-upgrade --json
    """
    console = Console()
    with closing(connect(target)) as client:
        found = _the_snapshot(client, the_stack(client, stack_name), snapshot)
    if as_json:
        print_json(found)
        return
    for title, key in (("Name", "name"), ("Id", "id"), ("State", "status"),
                       ("Reason", "status_reason"), ("Created", "creation_time")):  # fmt: skip
        say(console, f"{title:<9} {found[key] or '-'}")
    resources = parsed(lambda data: dict(data.get("resources", {})), found["data"])
    if resources:
        say(console, "")
        rows = [(name, body.get("type", "")) for name, body in sorted(resources.items())]
        table(console, ("Resource", "Type"), rows)


@command.command("restore")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@click.argument("snapshot", shell_complete=completing.snapshots)
@_yes
@shared.as_json
@shared.wait
@shared.service
def restore(
    stack_name: str, snapshot: str, yes: bool, as_json: bool, wait: bool, target: Target
) -> None:
    """Restore STACK from SNAPSHOT. Later changes are lost; asks first, except with --yes.

    With --json, progress goes to the error output, and the stack with its outputs and resources is
    printed as JSON at the end.

    \b
    Examples
      stoker snapshot restore web-app before-upgrade
    """
    console = console_beside(as_json=as_json)
    with closing(connect(target)) as client:
        stack = the_stack(client, stack_name, outputs=False)
        found = _the_snapshot(client, stack, snapshot)
        if not yes:
            confirm(f"Bring {stack.name} back to what it was at {found['creation_time']}?", client)
        last = last_event_id(client, stack)
        client.call(ORCHESTRATION, "POST", f"{stack.path}/snapshots/{found['id']}/restore")
        ended = _follow(console, client, stack, last, wait=wait)
        if as_json:
            print_json(as_data(client, ended))
        _require_complete(console, client, ended, wait=wait)


@command.command("delete")
@click.argument("stack_name", metavar="STACK", shell_complete=completing.stacks)
@click.argument("snapshot", shell_complete=completing.snapshots)
@_yes
@shared.wait
@shared.service
def delete(stack_name: str, snapshot: str, yes: bool, wait: bool, target: Target) -> None:
    """Delete SNAPSHOT of STACK with the images that belong to it.

    \b
    Examples
      stoker snapshot delete web-app before-upgrade
    """
    console = Console()
    with closing(connect(target)) as client:
        stack = the_stack(client, stack_name, outputs=False)
        found = _the_snapshot(client, stack, snapshot)
        if not yes:
            confirm(f"Delete the snapshot {found['name'] or found['id']} of {stack.name}?", client)
        client.call(ORCHESTRATION, "DELETE", f"{stack.path}/snapshots/{found['id']}")
        if wait:
            _await_end(client, stack, found["id"])
        say(console, f"snapshot {found['id']} {'is deleted' if wait else 'is being deleted'}")


def _follow(
    console: Console, client: Client, stack: Stack, last: str | None, *, wait: bool
) -> Stack:
    if wait:
        return follow_or_leave(console, client, stack, last)
    say(console, f"stoker status {stack.name} --follow")
    return refresh(client, stack)


def _require_complete(console: Console, client: Client, ended: Stack, *, wait: bool) -> None:
    if wait and ended.status != "COMPLETE":
        end_with_failure(console, client, ended)


def _await_end(client: Client, stack: Stack, snapshot_id: str) -> None:
    """Return when a snapshot is gone. Raises :class:`CommandError` if it stays."""
    get_snapshot = partial(client.get, ORCHESTRATION, f"{stack.path}/snapshots/{snapshot_id}")
    patience = RetryPolicy()
    while True:
        try:
            found = patience.ask(get_snapshot)
        except RefusedError as refusal:
            if refusal.status == 404:
                return
            raise
        left = parsed(lambda body: body["snapshot"], found)
        if left["status"] == "FAILED":
            raise CommandError(f"the snapshot is not deleted: {left['status_reason']}")
        time.sleep(_PAUSE_SECONDS)


def _the_snapshot(client: Client, stack: Stack, name_or_id: str) -> Mapping[str, Any]:
    """Return the snapshot of that id or name.

    Raises :class:`InputError` if there is none, or several.
    """
    known = snapshots_of(client, stack)
    found = [each for each in known if each["id"] == name_or_id]
    found = found or [each for each in known if each["name"] == name_or_id]
    if len(found) == 1:
        return found[0]
    advice = f'"stoker snapshot list {stack.name}" lists them'
    if not found:
        raise InputError(f'{stack.name} has no snapshot "{name_or_id}"; {advice}')
    raise InputError(f'{stack.name} has {len(found)} snapshots "{name_or_id}"; use an id: {advice}')

"""``stoker cancel``: stop the create or update of a stack."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import click
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import (
    ORCHESTRATION,
    Stack,
    as_data,
    has_started,
    last_event_id,
    refresh,
)
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.console.failures import CommandError
from stoker.cli.deploy.outcome import end_with_failure
from stoker.cli.deploy.progress import CANCELLABLE, follow_or_leave
from stoker.cli.local.service import connect


@click.command("cancel")
@click.argument("name", shell_complete=completing.stacks)
@click.option(
    "--rollback/--no-rollback",
    default=None,
    help="Restore the state before the update, or leave everything as it is. Default: restore it;"
    " a create has no earlier state.",
)
@shared.as_json
@shared.wait
@shared.service
def command(name: str, rollback: bool | None, as_json: bool, wait: bool, target: Target) -> None:
    """Stop the create or update of the stack NAME (or id) that is in progress.

    Calls of the cloud in progress are completed. A rollback deletes objects of the update. Ctrl-C
    stops the output; the rollback continues.

    Exit code 0: it was cancelled; 1: nothing is in progress, it had ended, or the rollback failed.

    \b
    Examples
      stoker cancel web-app
      stoker cancel web-app --no-rollback
    """
    console, patience = console_beside(as_json=as_json), RetryPolicy()
    with closing(connect(target)) as client:
        get_stack = partial(the_stack, client, name, outputs=False)
        stack = patience.ask(get_stack, first=True)
        restores = _restores(stack, rollback)
        last = patience.ask(partial(last_event_id, client, stack))
        action = "cancel_update" if restores else "cancel_without_rollback"
        patience.begin(
            partial(client.call, ORCHESTRATION, "POST", f"{stack.path}/actions", {action: None}),
            partial(_has_effect, client, stack, last, restores=restores),
        )
        if wait:
            ended = follow_or_leave(
                console, client, stack, last, rollback=restores, patience=patience
            )
        else:
            ended = patience.ask(partial(refresh, client, stack))
            say(console, f"{ended.name}: {ended.state}; stoker status {ended.name} --follow")
        if as_json:
            print_json(as_data(client, ended))
        if wait:
            _report(console, client, ended)


def _restores(stack: Stack, rollback: bool | None) -> bool:
    """Return whether the state before the operation is restored.

    Raise :class:`CommandError` if there is nothing to cancel, or nothing to restore.
    """
    if stack.status != "IN_PROGRESS" or stack.action not in CANCELLABLE:
        raise CommandError(f"{stack.name} is {stack.state}: no create or update is in progress")
    if stack.action == "CREATE" and rollback:
        raise CommandError(
            f"{stack.name} is being created, so there is no earlier state to restore; to delete it:"
            f" stoker destroy {stack.name}"
        )
    return stack.action == "UPDATE" and rollback is not False


def _has_effect(client: Client, stack: Stack, last: str | None, *, restores: bool) -> bool:
    """Return whether the cancel was accepted."""
    if restores:
        return has_started(client, stack, "ROLLBACK", last)
    return refresh(client, stack).status != "IN_PROGRESS"


def _report(console: Console, client: Client, ended: Stack) -> None:
    """Print how the cancelled operation ended.

    Raise :class:`CommandError` if it was complete before.
    """
    if ended.state == "ROLLBACK_FAILED":
        end_with_failure(console, client, ended)
    if ended.state == "ROLLBACK_COMPLETE":
        return
    if ended.status == "COMPLETE":
        raise CommandError(f"{ended.name} was {ended.state} before it could be cancelled")
    say(console, f"{ended.name}: {ended.reason}. What was made is left as it is.")
    say(console, f"  stoker deploy TEMPLATE --name {ended.name} ...   # continues from here")
    say(console, f"  stoker destroy {ended.name}   # or deletes everything")

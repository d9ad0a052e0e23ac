"""``stoker destroy``: the end of a stack and of all that belongs to it."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import (
    ORCHESTRATION,
    Stack,
    has_started,
    last_event_id,
    refresh,
    resources_of,
    state_of,
)
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, print_json, say
from stoker.cli.deploy.confirmation import confirm_changes, print_warnings
from stoker.cli.deploy.outcome import end_with_failure
from stoker.cli.deploy.plan import Plan, plan_of_delete
from stoker.cli.deploy.progress import follow_or_leave
from stoker.cli.local.service import connect


@click.command("destroy")
@click.argument("name", shell_complete=completing.stacks)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--express",
    is_flag=True,
    help="Delete resources as soon as the deletes before them are certain, before they are done.",
)
@shared.as_json
@shared.wait
@shared.service
def command(name: str, yes: bool, express: bool, as_json: bool, wait: bool, target: Target) -> None:
    """Delete the stack NAME (or id) with its servers, networks and everything else in it.

    Asks first, and separately before data is deleted, as that of a volume; with --yes, asks
    nothing. Ctrl-C stops the output; the deletion continues. With --json, progress goes to the
    error output, and the stack is printed as JSON at the end.

    \b
    Examples
      stoker destroy web-app
      stoker destroy web-app --yes --no-wait
    """
    console, patience = console_beside(as_json=as_json), RetryPolicy()
    with closing(connect(target)) as client:
        stack = patience.ask(partial(the_stack, client, name), first=True)
        if not yes:
            count = len(patience.ask(partial(resources_of, client, stack)))
            plan = patience.ask(partial(_planned_deletes, client, stack))
            print_warnings(plan.warnings, console)
            question = f"Delete {stack.name} with its {count} resources?"
            confirm_changes(question, plan.changes, client)
        last = patience.ask(partial(last_event_id, client, stack))
        path = f"{stack.path}?express=true" if express else stack.path
        patience.begin(
            partial(client.call, ORCHESTRATION, "DELETE", path),
            partial(has_started, client, stack, "DELETE", last),
        )
        if wait:
            ended = follow_or_leave(console, client, stack, last, patience=patience)
        else:
            ended = patience.ask(partial(refresh, client, stack))
            say(console, f"{stack.name}: {ended.state}; stoker status {stack.id} --follow")
        if as_json:
            print_json(state_of(ended))
        if wait and ended.status != "COMPLETE":
            end_with_failure(console, client, ended)


def _planned_deletes(client: Client, stack: Stack) -> Plan:
    """Return the plan of the delete; an empty one from Heat, which cannot preview it."""
    try:
        return plan_of_delete(client, stack)
    except RefusedError as refusal:
        if refusal.status in (404, 405):
            return Plan(())
        raise

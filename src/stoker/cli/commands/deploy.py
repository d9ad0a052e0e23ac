"""``stoker deploy``: a stack from a template, created or brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import click
from rich.console import Console

from stoker.cli import options as shared
from stoker.cli.changes import summary, tree
from stoker.cli.client import Client
from stoker.cli.confirmation import confirm
from stoker.cli.console import say
from stoker.cli.data_dir import running_in
from stoker.cli.failures import BadInput
from stoker.cli.outcome import end_with_failure, print_outputs
from stoker.cli.patience import Patience
from stoker.cli.progress import begun_on, follow_or_leave
from stoker.cli.retry import handles_to_renew, renew
from stoker.cli.saved_plans import CREATE, DELETE, SavedPlan, read_plan
from stoker.cli.service import connect, start_detached
from stoker.cli.stacks import (
    ORCHESTRATION,
    Resource,
    Stack,
    find_stack,
    has_begun,
    last_event_id,
    planned_resources,
    resources_of,
    the_stack,
)
from stoker.cli.target import Target
from stoker.cli.wanted import Given, Wanted, stack_arguments


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
@shared.wait
@shared.service
def command(
    given: Given,
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

    TEMPLATE may be a plan that "stoker plan --out" has saved: exactly that is done, without
    asking, or nothing if the stack has changed since.

    If no service is named or running, starts one in the background with a local cloud. It keeps
    running, as do the servers, until "stoker stop".

    Exit code 0: done; 1: the stack failed; 2: the template or other input is wrong.

    \b
    Examples
      stoker deploy examples/web-app.yaml
      stoker deploy examples/web-app.yaml -P title='Good morning'
      stoker deploy app.yaml -e production.yaml --name shop --timeout 30 --rollback
      stoker plan app.yaml --out next.plan; stoker deploy next.plan
      OS_CLOUD=mycloud stoker deploy app.yaml --no-wait
    """
    console = Console()
    settings: dict[str, Any] = {"disable_rollback": not rollback}
    if timeout is not None:
        settings["timeout_mins"] = timeout
    if tags is not None:
        settings["tags"] = tags
    patience = Patience()
    begin: Callable[[Client, Patience], _Begun]
    if (saved := read_plan(given.template)) is not None:
        if not given.is_template_alone:
            raise BadInput(f"{given.template} is a plan: it has its own parameters and name")
        begin = partial(_carry_out, saved=saved, settings=settings)
    else:
        wanted = given.wanted()
        begin = partial(_begin, console=console, wanted=wanted, settings=settings, yes=yes)
    with closing(_connected(target, console)) as client:
        begun = begin(client, patience)
        stack, last = begun.stack, begun.last
        if not wait:
            say(console, f"{stack.name}: {stack.state}; stoker status {stack.name} --follow")
            return
        ended = follow_or_leave(
            console,
            client,
            stack,
            last,
            rollback=rollback,
            planned=begun.planned,
            patience=patience,
        )
        if ended.status != "COMPLETE" or ended.action == "ROLLBACK":
            end_with_failure(console, client, ended)
        print_outputs(console, ended.outputs)


@dataclass(frozen=True, slots=True)
class _Begun:
    """An operation that has been asked for."""

    stack: Stack
    last: str | None = None
    """The last event before it."""
    planned: Sequence[Resource] = ()


def _begin(
    client: Client,
    patience: Patience,
    console: Console,
    wanted: Wanted,
    settings: Mapping[str, Any],
    *,
    yes: bool,
) -> _Begun:
    """Begin to create the stack, or to update it."""
    existing = patience.ask(partial(find_stack, client, wanted.name), first=True)
    body = {**(wanted.body() if existing is None else wanted.update_body()), **settings}
    if existing is not None:
        if not yes and existing.state != "CREATE_FAILED":  # which has nothing to lose
            _confirm_losses(client, patience, wanted, existing)
        _renew_handles(console, client, patience, existing)
        last = patience.ask(partial(last_event_id, client, existing))
        patience.begin(
            partial(wanted.send, client, "PUT", existing.path, body),
            partial(has_begun, client, existing, "UPDATE", last),
        )
        return _Begun(begun_on(client, wanted.name, patience), last)
    new, preview = {**body, "stack_name": wanted.name}, None
    if console.is_terminal:  # where a tree shows it
        preview = patience.ask(partial(wanted.send, client, "POST", "/stacks/preview", new))
    patience.begin(
        partial(wanted.send, client, "POST", "/stacks", new),
        lambda: find_stack(client, wanted.name) is not None,
    )
    stack = begun_on(client, wanted.name, patience)
    return _Begun(stack, None, planned_resources(preview, stack) if preview else ())


def _carry_out(
    client: Client, patience: Patience, saved: SavedPlan, settings: Mapping[str, Any]
) -> _Begun:
    """Begin to do what a plan says, and that alone.

    Raises :class:`CommandFailed` where the plan does not hold any more.
    """
    body = {**saved.body, **settings, "plan_fingerprint": saved.fingerprint}
    if saved.action == CREATE:
        before = patience.ask(partial(find_stack, client, saved.stack_name), first=True)
        patience.begin(
            partial(client.call, ORCHESTRATION, "POST", "/stacks", body),
            lambda: before is None and find_stack(client, saved.stack_name) is not None,
        )
        return _Begun(begun_on(client, saved.stack_name, patience))
    stack = patience.ask(partial(the_stack, client, str(saved.stack_id)), first=True)
    last = patience.ask(partial(last_event_id, client, stack))
    if saved.action == DELETE:
        query = {"plan_fingerprint": saved.fingerprint}
        request = partial(client.call, ORCHESTRATION, "DELETE", stack.path, query=query)
        begun = partial(has_begun, client, stack, "DELETE", last)
    else:
        request = partial(client.call, ORCHESTRATION, "PUT", stack.path, body)
        begun = partial(has_begun, client, stack, "UPDATE", last)
    patience.begin(request, begun)
    return _Begun(begun_on(client, stack.id, patience), last)


def _connected(target: Target, console: Console) -> Client:
    if target.serves_itself and running_in(target.data_dir) is None:
        running = start_detached(target)
        say(
            console,
            f"Started a service at {running.url} in {target.data_dir}; it stays in the background"
            ' until "stoker stop".',
        )
    return connect(target)


def _renew_handles(console: Console, client: Client, patience: Patience, existing: Stack) -> None:
    """Have handles that keep an old failure replaced by the update."""
    handles = patience.ask(partial(handles_to_renew, client, existing))
    patience.ask(partial(renew, client, handles))
    for handle in handles:
        say(
            console,
            f"{handle.name} still holds the failure of an earlier attempt; replacing it, and the"
            " servers that report to it.",
        )


def _confirm_losses(client: Client, patience: Patience, wanted: Wanted, existing: Stack) -> None:
    """Ask, if something goes that works."""
    changes = patience.ask(partial(wanted.plan, client, existing)).changes
    losses = [change for change in changes if change.is_loss]
    if losses:
        resources = patience.ask(partial(resources_of, client, existing))
        failed = {(r.stack_name, r.name) for r in resources if r.status == "FAILED"}
        losses = [loss for loss in losses if (loss.stack_name, loss.name) not in failed]
    if not losses:
        return
    click.echo(tree(losses))
    confirm(f"{wanted.name}: {summary(changes)}. Go ahead?")

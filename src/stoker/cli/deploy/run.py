"""Runs a deployment for a command: starts it, shows its progress and its result."""

from __future__ import annotations

from collections.abc import Callable

from rich.console import Console

from stoker.cli.client.client import Client
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import as_data
from stoker.cli.console.console import print_json, say
from stoker.cli.deploy.deployment import Deployment, StartedDeployment
from stoker.cli.deploy.outcome import end_with_failure, print_failed_user_data, print_outputs
from stoker.cli.deploy.progress import follow_or_leave


def run(
    client: Client,
    console: Console,
    start: Callable[[Deployment], StartedDeployment],
    *,
    rollback: bool = False,
    wait: bool,
    as_json: bool,
) -> None:
    """Start a deployment, and show it until it ends unless the user does not ``wait``."""
    deployment = Deployment(client, console, RetryPolicy())
    started = start(deployment)
    if wait:
        _follow(deployment, started, rollback=rollback, as_json=as_json)
        return
    stack = started.stack
    say(console, f"{stack.name}: {stack.state}; stoker status {stack.name} --follow")
    if as_json:
        print_json(as_data(client, stack))


def _follow(
    deployment: Deployment, started: StartedDeployment, *, rollback: bool, as_json: bool
) -> None:
    """Show the operation until it ends, and its result."""
    client, console = deployment.client, deployment.console
    ended = follow_or_leave(
        console,
        client,
        started.stack,
        started.last,
        rollback=rollback,
        planned=started.planned,
        patience=deployment.patience,
    )
    if as_json:
        print_json(as_data(client, ended))
    if ended.status != "COMPLETE" or ended.action == "ROLLBACK":
        end_with_failure(console, client, ended, started.shown_as)
    if not as_json:
        print_outputs(console, ended.outputs)
    print_failed_user_data(console, client, ended)

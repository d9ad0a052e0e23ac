"""``stoker deploy``: a stack from a template, created or brought up to date."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import click
from rich.console import Console

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import running_in
from stoker.cli.client.client import Client
from stoker.cli.client.target import Target
from stoker.cli.console.console import console_beside, say
from stoker.cli.console.failures import InputError
from stoker.cli.deploy.deployment import Deployment, StartedDeployment
from stoker.cli.deploy.request import DeployArguments, stack_arguments
from stoker.cli.deploy.run import run
from stoker.cli.deploy.saved_plans import read_plan
from stoker.cli.local.service import connect, start_detached


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
    "-y",
    "--yes",
    is_flag=True,
    help="Do not ask before something is replaced, interrupted or deleted.",
)
@shared.as_json
@shared.wait
@shared.service
def command(
    arguments: DeployArguments,
    timeout: int | None,
    rollback: bool,
    tags: str | None,
    yes: bool,
    as_json: bool,
    wait: bool,
    target: Target,
) -> None:
    """Create a stack from TEMPLATE, or update it if it exists.

    Shows progress, then the outputs. On failure: the cause, the server consoles, and what to do
    next. Before an update replaces, interrupts or deletes working resources, shows the plan and
    asks; asks separately before data is deleted, as that of a volume. With --yes, asks nothing.
    Ctrl-C stops the output; the deployment continues. With --json, progress goes to the error
    output, and the stack with its outputs and resources is printed as JSON at the end.

    TEMPLATE may be a plan that "stoker plan --out" has saved: exactly that is done, without
    asking, or nothing if the stack has changed since. It may also be a URL, or - for standard
    input. Files that a template from the web refers to are fetched relative to it. An environment
    app.env.yaml beside the template app.yaml is used, before those of -e and -P.

    If no service is named or running, starts one in the background with a local cloud, which runs
    until "stoker stop".

    Exit code 0: done; 1: the stack failed; 2: the template or other input is wrong.

    \b
    Examples
      stoker deploy examples/web-app.yaml
      stoker deploy examples/web-app.yaml -P title='Good morning'
      stoker deploy app.yaml -e production.yaml --name shop --rollback
      stoker plan app.yaml --out next.plan; stoker deploy next.plan
      stoker deploy app.yaml --json | jq -r .outputs.url
      stoker deploy https://example.com/app.yaml -e - < production.yaml
      OS_CLOUD=mycloud stoker deploy app.yaml --no-wait
    """
    console = console_beside(as_json=as_json)
    settings = _settings(timeout, tags, rollback=rollback)
    begin: Callable[[Deployment], StartedDeployment]
    if (saved := read_plan(arguments.template)) is not None:
        if not arguments.is_template_alone:
            raise InputError(f"{arguments.template} is a plan: it has its own parameters and name")
        begin = partial(Deployment.of_plan, saved=saved, settings=settings)
    else:
        request = arguments.request()
        begin = partial(Deployment.of_template, request=request, settings=settings, yes=yes)
    with closing(_connected(target, console)) as client:
        run(client, console, begin, rollback=rollback, wait=wait, as_json=as_json)


def _settings(timeout: int | None, tags: str | None, *, rollback: bool) -> dict[str, Any]:
    """Return the fields of the request that are the same for a create and an update."""
    settings = {"timeout_mins": timeout, "tags": tags}
    settings = {name: value for name, value in settings.items() if value is not None}
    return {"disable_rollback": not rollback, **settings}


def _connected(target: Target, console: Console) -> Client:
    if target.serves_itself and running_in(target.data_dir) is None:
        running = start_detached(target)
        say(
            console,
            f"Started a service at {running.url} in {target.data_dir}; it stays in the background"
            ' until "stoker stop".',
        )
    return connect(target)

"""``stoker why``: why a stack waits, failed or looks as it does."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json
from stoker.cli.deploy.causes import explanation_of, lines_of, print_steps
from stoker.cli.local.service import connect


@click.command("why")
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("resource", required=False, shell_complete=completing.resources)
@shared.as_json
@shared.service
def command(stack: str, resource: str | None, as_json: bool, target: Target) -> None:
    """Explain why STACK, or its RESOURCE, waits, failed or was replaced, with remedies.

    RESOURCE is a name, or a path into nested stacks, as db/server.

    Searches nested stacks for the resource that the others wait for, or that failed first. The
    cause may be a dependency, a signal, a hook, the cloud, a repeated call, or a pause between
    batches. Shows the cloud's own message with its request id, and the line in the template.

    \b
    Examples
      stoker why web-app
      stoker why web-app server
    """
    with closing(connect(target)) as client:
        found, answer = explanation_of(client, the_stack(client, stack), resource)
    if as_json:
        print_json(answer["why"])
        return
    for line in lines_of(found, datetime.now(UTC)):
        click.echo(line)
    print_steps(found)

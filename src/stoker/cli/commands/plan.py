"""``stoker plan``: what a deployment would do, resource by resource."""

from __future__ import annotations

from contextlib import closing

import click

from stoker.cli import options as shared
from stoker.cli.changes import changes_of_new, summary
from stoker.cli.service import connect
from stoker.cli.stacks import find_stack
from stoker.cli.target import Target
from stoker.cli.wanted import Wanted, stack_arguments


@click.command("plan")
@stack_arguments
@shared.service
def command(wanted: Wanted, target: Target) -> None:
    """Show what "stoker deploy" with the same arguments would change. Changes nothing.

    \b
    Examples
      stoker plan examples/web-app.yaml
      stoker plan examples/web-app.yaml -P title='Good morning'
    """
    with closing(connect(target)) as client:
        existing = find_stack(client, wanted.name)
        body = {**wanted.body(), "stack_name": wanted.name}
        if existing is None:
            changes = changes_of_new(wanted.send(client, "POST", "/stacks/preview", body))
        else:
            changes = wanted.changes(client, existing)
    for change in changes:
        click.echo(change.lines(wanted.name))
    click.echo(f"{wanted.name}: {summary(changes)}")

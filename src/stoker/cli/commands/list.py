"""``stoker list``: the stacks of the project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatchcase
from itertools import islice
from typing import Any

import click
from rich.console import Console

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import Stack, stacks_by_page, state_of
from stoker.cli.client.target import Target
from stoker.cli.console.console import print_json, say
from stoker.cli.local.service import connect
from stoker.cli.stack_table import print_stacks


@click.command("list")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="PATTERN",
    shell_complete=completing.stacks,
    help="Stacks with this name; * matches any characters; repeatable.",
)
@click.option(
    "--status",
    "states",
    multiple=True,
    help="Stacks in this state, as FAILED or CREATE_COMPLETE; repeatable.",
)
@click.option("--tag", "tags", multiple=True, help="Stacks with this tag; repeated, with all.")
@click.option("-n", "--limit", type=click.IntRange(1), help="Maximum number of stacks.")
@click.option("--after", metavar="ID", help="Only stacks that follow this one in the list.")
@shared.as_json
@shared.service
def command(
    names: tuple[str, ...],
    states: tuple[str, ...],
    tags: tuple[str, ...],
    limit: int | None,
    after: str | None,
    as_json: bool,
    target: Target,
) -> None:
    """List the stacks of the project, newest first, without those nested in others.

    \b
    Examples
      stoker list
      stoker list --name 'web-*' --status FAILED
      stoker list --tag production --json | jq -r '.[].name'
    """
    query: dict[str, Any] = {}
    if states:
        query["status"] = [state.upper() for state in states]
    if tags:
        query["tags"] = ",".join(tags)
    if after is not None:
        query["marker"] = after
    with closing(connect(target)) as client:
        found = list(islice(_matching(client, query, names), limit))
    if as_json:
        print_json([{**state_of(stack), "tags": stack.tags} for stack in found])
    elif found:
        print_stacks(Console(), found)
    else:
        say(Console(), f"There are no {'such ' if names or query else ''}stacks.")


def _matching(client: Client, query: dict[str, Any], names: tuple[str, ...]) -> Iterator[Stack]:
    for stack in stacks_by_page(client, query):
        if not names or any(fnmatchcase(stack.name, name) for name in names):
            yield stack

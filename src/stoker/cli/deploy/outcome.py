"""The report at the end of an operation: outputs, or causes and remedies of a failure."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NoReturn

import click
from rich.console import Console

from stoker.cli.arguments.naming import by_path
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import SERVERS, Output, Resource, Stack, console_log, resources_of
from stoker.cli.console.console import say
from stoker.cli.console.failures import FAILED, CommandError
from stoker.cli.deploy.causes import ShownAs, explanation_of, lines_of, print_steps

_CONSOLE_LINES = 30
_MOST_CONSOLES = 3
_MOST_READ_CONSOLES = 20
_READ_LINES = 200
_USER_DATA_END = re.compile(r"^user data: .* ended with exit code (\d+)$", re.MULTILINE)


def print_outputs(console: Console, outputs: Sequence[Output]) -> None:
    """Print the outputs, one per line; long values below their names."""
    width = max((len(output.name) for output in outputs), default=0)
    for output in outputs:
        if output.error is not None:
            text = f"(cannot be computed: {output.error})"
        elif isinstance(output.value, str):
            text = output.value.rstrip("\n")
        else:
            text = json.dumps(output.value, indent=2)
        if "\n" in text:
            text = "".join(f"\n    {line}" for line in text.splitlines())
        say(console, f"  {output.name:<{width}}  {text}")


def print_failed_user_data(console: Console, client: Client, stack: Stack) -> None:
    """Print the servers of a local cloud whose user data failed although the stack did not.

    As in any cloud, a server is complete when it runs. Only its console shows the result of the
    user data, so nothing is printed while they are still running.
    """
    if client.foreign_cloud:
        return
    for path, server in list(_servers(client, stack).items())[:_MOST_READ_CONSOLES]:
        try:
            text = console_log(client, server.physical_id, _READ_LINES)
        except CommandError:
            return
        ends = _USER_DATA_END.findall(text)
        if ends and any(code != "0" for code in ends):
            say(
                console,
                f"The user data of {path} ended with exit code {ends[-1]}:"
                f" stoker logs {stack.name} {path}",
                "yellow",
            )


def end_with_failure(
    console: Console, client: Client, stack: Stack, shown_as: ShownAs | None = None
) -> NoReturn:
    """Print why an operation failed, and end the process."""
    print_failure(console, client, stack, shown_as)
    sys.exit(FAILED)


def print_failure(
    console: Console, client: Client, stack: Stack, shown_as: ShownAs | None = None
) -> None:
    """Print the causes of a failed operation, the servers' consoles, and the next steps.

    ``shown_as`` maps files of the template to the user's names.
    """
    found, _ = explanation_of(client, stack, None, shown_as)
    click.echo(file=console.file)
    for line in lines_of(found, datetime.now(UTC)):
        click.echo(line, file=console.file)
    failed = any(cause.was_waited_for for cause in found.causes)
    servers = _servers(client, stack) if failed else {}
    for path, server in list(servers.items())[:_MOST_CONSOLES]:
        _print_console(console, client, path, server)
    print_steps(found, next(iter(servers), None), shown_as, console.file)


def _servers(client: Client, stack: Stack) -> dict[str, Resource]:
    """Return the servers of a stack, and of those nested in it, by their paths."""
    # Most stacks have few servers, and the other resources only serve for paths of nested ones.
    servers = resources_of(client, stack, types=SERVERS)
    is_flat = all(each.stack_id == stack.id for each in servers)
    known = by_path(stack, servers if is_flat else resources_of(client, stack))
    return {path: r for path, r in known.items() if r.type_name in SERVERS and r.physical_id}


def _print_console(console: Console, client: Client, path: str, server: Resource) -> None:
    try:
        text = console_log(client, server.physical_id, _CONSOLE_LINES).rstrip()
    except CommandError as error:
        text = f"(not available: {error.message})"
    say(console, f"\nConsole of {path}, the last {_CONSOLE_LINES} lines", "bold")
    for line in text.splitlines()[-_CONSOLE_LINES:]:
        say(console, f"  | {line}")

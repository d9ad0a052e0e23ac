"""``stoker logs``: the console log of a server."""

from __future__ import annotations

import time
from contextlib import closing, suppress

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.client.client import Client
from stoker.cli.client.retry_policy import RetryPolicy
from stoker.cli.client.stacks import console_log
from stoker.cli.client.target import Target
from stoker.cli.local.service import connect
from stoker.cli.servers import find_server, server_path

_PAUSE_SECONDS = 0.5


@click.command("logs")
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("server", required=False, shell_complete=completing.servers)
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(1), help="Only the last N lines.")
@shared.service
def command(
    stack: str, server: str | None, follow: bool, lines: int | None, target: Target
) -> None:
    """Print the console log of a server, including the output of its user data.

    STACK is a stack with one server, a server's name or id, or a stack, with SERVER as one of its
    resources; SERVER may be a path into nested stacks, as db/server.

    \b
    Examples
      stoker logs web-app
      stoker logs web-app server -f
      stoker logs -n 20 web-app-server-pnjqgg3ubzj7
    """
    with closing(connect(target)) as client, suppress(KeyboardInterrupt):
        found = find_server(client, server_path(stack, server)).id
        text = console_log(client, found)
        shown = text if lines is None else "".join(text.splitlines(keepends=True)[-lines:])
        click.echo(shown, nl=not follow and bool(shown) and not shown.endswith("\n"))
        if follow:
            _follow(client, found, text)


def _follow(client: Client, server_id: str, printed: str) -> None:
    """Print added lines. The log is only appended to, or truncated at its start."""
    patience = RetryPolicy()
    while True:
        time.sleep(_PAUSE_SECONDS)
        now = patience.ask(lambda: console_log(client, server_id))
        added = now[len(printed) :] if now.startswith(printed) else _added(printed, now)
        click.echo(added, nl=False)
        printed = now


def _added(before: str, now: str) -> str:
    """Return the added part of a log whose start was truncated."""
    tail = before[-1000:]
    at = now.rfind(tail) if tail else -1
    return now[at + len(tail) :] if at >= 0 else now

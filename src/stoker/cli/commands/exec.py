"""``stoker exec``: run a command in a server of the local cloud, without ssh."""

from __future__ import annotations

from contextlib import closing

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.client.stacks import Server
from stoker.cli.client.target import Target
from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.local.execution import run_in_server
from stoker.cli.local.service import connect
from stoker.cli.servers import PassingOn, find_server, server_path


@click.command("exec", cls=PassingOn)
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("server", required=False, shell_complete=completing.servers)
@click.option("-u", "--user", default="root", show_default=True, help="User in the server.")
@shared.service
@click.pass_context
def command(
    context: click.Context, stack: str, server: str | None, user: str, target: Target
) -> None:
    """Run the command after -- in a server of the local cloud. Needs no SSH server.

    STACK is a stack with one server, a server's name or id, or a stack, with SERVER as one of its
    resources; SERVER may be a path into nested stacks, as db/server. Standard input and output are
    connected, without a terminal; Ctrl-C ends the command. The exit code is that of the command.

    \b
    Examples
      stoker exec web-app -- cloud-init status
      stoker exec web-app server -- sh -c 'ps aux | head'
      stoker exec web-app --user stoker -- tar c . > home.tar
    """
    words = PassingOn.words()
    if not words:
        raise InputError('give the command after --, as in "stoker exec web-app -- uptime"')
    with closing(connect(target)) as client:
        found = find_server(client, server_path(stack, server))
    check_is_within_reach(found)
    context.exit(run_in_server(target.data_dir, found.id, words, user))


def check_is_within_reach(server: Server) -> None:
    """Raise :class:`CommandError` for a server of another cloud, or one that does not run."""
    if server.forwarded is None:
        raise CommandError(
            '"stoker exec" works only for servers of the local cloud;'
            f' "stoker ssh {server.name}" logs in to this one'
        )
    if server.status != "ACTIVE":
        raise CommandError(f"the server {server.name} is not running (it is {server.status})")

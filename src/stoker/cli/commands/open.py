"""``stoker open``: the console in a browser, signed in."""

from __future__ import annotations

import os
import sys
import webbrowser
from contextlib import closing
from urllib.parse import quote

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import Client
from stoker.cli.client.target import Target
from stoker.cli.local.service import connect

# A browser is found in these variables; on other systems than Linux, there is always one.
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@click.command("open")
@click.argument("stack", required=False, shell_complete=completing.stacks)
@click.option("--print", "prints", is_flag=True, help="Print the address; open no browser.")
@shared.service
def command(stack: str | None, prints: bool, target: Target) -> None:
    """Open the console in a browser, or the page of STACK, with the credentials of this command.

    The address is valid for one minute and one use. On a machine without a display, it is printed.

    \b
    Examples
      stoker open
      stoker open web-app
      stoker open --print
    """
    with closing(connect(target)) as client:
        view = "" if stack is None else _view_of(client, stack)
        url = client.console_url() + view
    if prints or not _has_display() or not webbrowser.open(url):
        click.echo(url)
    else:
        click.echo(f"Opened {url.partition('#')[0]}")


def _view_of(client: Client, stack: str) -> str:
    """Return the part of the address that leads to the page of a stack."""
    found = the_stack(client, stack, outputs=False)
    return f"&next={quote(f'/stacks/{found.name}/{found.id}', '/~')}"


def _has_display() -> bool:
    return not sys.platform.startswith("linux") or any(map(os.environ.get, _DISPLAYS))

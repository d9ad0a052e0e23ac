"""``stoker service``: the processes of the service, as Heat's engines."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.cli import options
from stoker.cli.engines import engines_of, print_engines


@click.group("service")
def command() -> None:
    """Show the processes of the service.

    \b
    Examples
      stoker service list
    """


@command.command("list")
@options.data_dir
def list_engines(data_dir: Path) -> None:
    """List the service that runs in the data directory, and whether it answers.

    \b
    Examples
      stoker service list
    """
    print_engines(engines_of(data_dir))


@command.command("clean")
@options.data_dir
def clean(data_dir: Path) -> None:
    """Remove what services that died have left. There is nothing: only what runs is listed.

    \b
    Examples
      stoker service clean
    """
    click.echo(f"Dead engines are removed: {data_dir} keeps no record of them.")

"""``stoker stop``: the end of the service in the background."""

from __future__ import annotations

from pathlib import Path

import click

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import running_in
from stoker.cli.local.service import stop


@click.command("stop")
@shared.data_dir
def command(data_dir: Path) -> None:
    """Stop the service of the data directory, its local cloud and their servers.

    Nothing is lost: the next "stoker serve" or "stoker deploy" continues from here, and boots the
    servers again from their disks.

    \b
    Examples
      stoker stop
      stoker stop --data-dir var
    """
    running = running_in(data_dir)
    if running is None:
        click.echo(f"No service runs in {data_dir}.")
        return
    stop(running, data_dir)
    click.echo(f"Stopped the service of {data_dir}.")

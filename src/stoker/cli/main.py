"""The command ``stoker``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stoker.cli.local_cloud import LocalCloudFailed
from stoker.cli.serving import CannotServe, ServeOptions, serve


@click.group()
def main() -> None:
    """Orchestration for OpenStack."""


@main.command("serve")
@click.option("--data-dir", type=click.Path(path_type=Path), default=Path("var"))
@click.option("--host", default="127.0.0.1")
@click.option("--port", default=8004)
@click.option("--cloud-port", default=35357)
@click.option("--local-cloud/--no-local-cloud", default=True)
def serve_command(data_dir: Path, host: str, port: int, cloud_port: int, local_cloud: bool) -> None:
    """Run the service."""
    options = ServeOptions(data_dir.resolve(), host, port, cloud_port, local_cloud)
    try:
        serve(options, lambda url: click.echo(f"ready {url}"))
    except (CannotServe, LocalCloudFailed) as error:
        click.echo(f"stoker: {error}", err=True)
        sys.exit(1)

"""``stoker doctor``: requirements that this machine lacks, with remedies."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from msgspec.structs import asdict

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import running_in
from stoker.cli.client.credentials import in_data_dir
from stoker.cli.console.console import print_json
from stoker.cli.console.failures import FAILED
from stoker.cli.local.local_cloud import DEFAULT_PORT
from stoker.cli.local.serve_options import (
    DEFAULT_API_PORT,
    DEFAULT_CFN_PORT,
    DEFAULT_CLOUDWATCH_PORT,
)
from stoker.cli.machine import Check, examine

_PORT = click.IntRange(0, 65535)


@click.command("doctor")
@shared.as_json
@click.option("--port", type=_PORT, default=DEFAULT_API_PORT, envvar="STOKER_PORT")
@click.option("--cfn-port", type=_PORT, default=DEFAULT_CFN_PORT, envvar="STOKER_CFN_PORT")
@click.option(
    "--cloudwatch-port",
    type=_PORT,
    default=DEFAULT_CLOUDWATCH_PORT,
    envvar="STOKER_CLOUDWATCH_PORT",
)
@click.option("--cloud-port", type=_PORT, default=DEFAULT_PORT, envvar="STOKER_CLOUD_PORT")
@shared.data_dir
def command(as_json: bool, data_dir: Path, **ports: int) -> None:
    """Check namespaces, networks, packet filter, disks, ports, tools and memory of this machine.

    Says how to fix what is missing. Exit code 1 if something required is missing.

    \b
    Examples
      stoker doctor
      stoker doctor --json
    """
    running = running_in(data_dir)
    credentials = in_data_dir(data_dir) if running else None
    urls = (running.url, credentials.auth_url) if running and credentials else ()
    own = {urlsplit(url).port for url in urls}
    if running is not None:
        own |= {running.cfn_port, running.cloudwatch_port}
    named = {f"--{name.replace('_', '-')}": number for name, number in ports.items() if number}
    checks = examine(data_dir, named, frozenset(filter(None, own)), _chosen())
    if as_json:
        print_json([asdict(check) for check in checks])
    else:
        for check in checks:
            click.echo(_line(check))
    if any(check.needed and not check.good for check in checks):
        sys.exit(FAILED)


def _chosen() -> frozenset[str]:
    """Return the port options that the command line or the environment sets."""
    context = click.get_current_context()
    return frozenset(
        f"--{name.replace('_', '-')}"
        for name in context.params
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT
    )


def _line(check: Check) -> str:
    if check.good:
        word = click.style("good ", fg="green")
    elif check.needed:
        word = click.style("lacks", fg="red")
    else:
        word = click.style("note ", fg="yellow")
    line = f"{word}  {check.name}"
    if check.detail:
        line += f": {check.detail}"
    return f"{line}\n         -> {check.remedy}" if check.remedy and not check.good else line

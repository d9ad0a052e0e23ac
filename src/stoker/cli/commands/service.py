"""``stoker service``: the processes of the service, as Heat's engines."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import asdict

from stoker.cli.administered import administered
from stoker.cli.arguments import options
from stoker.cli.console.console import print_json
from stoker.cli.engines import engines_of, forget_dead_engines, print_engines
from stoker.config.database import DatabaseSettings


@click.group("service")
def command() -> None:
    """Show the engines of the service: the processes that drive stacks.

    \b
    Examples
      stoker service list
    """


@command.command("list")
@options.as_json
@administered
def list_engines(database: DatabaseSettings, as_json: bool, **_: Any) -> None:
    """List the engines of the database, and which of them have reported lately.

    Without a database, it is that of the service that runs in the data directory; where that
    service drives its stacks itself, it is listed, and whether it answers.

    \b
    Examples
      stoker service list
      stoker service list --config-file /etc/stoker/stoker.conf
      stoker service list --database postgresql+psycopg://stoker@db/stoker
    """
    engines = engines_of(database)
    if as_json:
        print_json([asdict(engine) for engine in engines])
    else:
        print_engines(engines)


@command.command("clean")
@options.as_json
@administered
def clean(database: DatabaseSettings, as_json: bool, **_: Any) -> None:
    """Drop engines that are down from the list. After a day this happens automatically.

    An engine that was dropped but is alive returns to the list with its next report.

    \b
    Examples
      stoker service clean --config-file /etc/stoker/stoker.conf
    """
    removed = forget_dead_engines(database)
    if as_json:
        print_json({"removed": removed})
    else:
        click.echo(f"Dead engines are removed: {removed}.")

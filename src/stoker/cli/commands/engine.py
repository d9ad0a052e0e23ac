"""``stoker engine``: one of many processes that drive the stacks of a database."""

from __future__ import annotations

import ctypes
import os
import signal
from contextlib import ExitStack
from pathlib import Path

import click

from stoker.cli.arguments import options as shared
from stoker.cli.commands.serve import listen_once_free, load_service
from stoker.cli.local.serve_options import ServeOptions
from stoker.cli.local.supervision import tell_ready
from stoker.config.files import ConfigFiles, usual_files
from stoker.server.roles import ProcessRole

_PR_SET_PDEATHSIG = 1


@click.command("engine")
@shared.data_dir
@click.option(
    "--local-cloud/--no-local-cloud",
    default=False,
    show_default=True,
    help="Use the local cloud of the service that runs in the data directory.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    envvar="STOKER_ENGINE_PORT",
    show_envvar=True,
    help="Answer /healthcheck and /metrics at this port. Without it, nothing is answered.",
)
@shared.config_files
@shared.database
@shared.verify
@click.option("--parent", type=int, hidden=True)
def command(
    data_dir: Path,
    local_cloud: bool,
    host: str,
    port: int | None,
    config: ConfigFiles,
    database: str | None,
    verify: bool,
    parent: int | None,
) -> None:
    """Drive stacks, together with all other engines of the same database (PostgreSQL).

    Prints "ready ID" once it takes part. Any number may run on any number of machines, with the
    same configuration and key of encryption. SIGTERM hands its stacks over to the others; if it
    dies, they take them over within seconds.

    \b
    Examples
      stoker engine --config-file /etc/stoker/stoker.conf
      stoker engine --config-file /etc/stoker/stoker.conf --port 8005
      stoker engine --database postgresql+psycopg://stoker@db.example.org/stoker
    """
    if parent is not None:
        _end_with(parent)
    if not (local_cloud or config):
        config = usual_files()
    options = ServeOptions(
        data_dir,
        local_cloud=local_cloud,
        database=database,
        config=config,
        part=ProcessRole.ENGINE,
        verify=verify,
    )
    with ExitStack() as closing:
        listener = None
        if port is not None:
            settings = "--port or STOKER_ENGINE_PORT"
            listener = closing.enter_context(listen_once_free(host, port, settings))
        load_service().serve_engine(options, listener, tell_ready)


def _end_with(parent: int) -> None:
    """End this process together with its parent."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(0)

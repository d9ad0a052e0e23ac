"""``stoker api``: one of many processes that answer requests, and drive no stacks."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from stoker.cli.arguments import options as shared
from stoker.cli.commands.serve import configured, listen_for_apis, load_service, port_option
from stoker.cli.local.serve_options import (
    DEFAULT_API_PORT,
    DEFAULT_CFN_PORT,
    DEFAULT_CLOUDWATCH_PORT,
    ServeOptions,
    port_of,
    url_of,
)
from stoker.cli.local.supervision import tell_ready
from stoker.config.files import ConfigFiles, usual_files
from stoker.server.roles import ProcessRole


@click.command("api")
@shared.data_dir
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option("--port", "STOKER_PORT", DEFAULT_API_PORT, "the API")
@port_option("--cfn-port", "STOKER_CFN_PORT", DEFAULT_CFN_PORT, "the CloudFormation API")
@port_option(
    "--cloudwatch-port", "STOKER_CLOUDWATCH_PORT", DEFAULT_CLOUDWATCH_PORT, "the CloudWatch API"
)
@click.option(
    "--local-cloud/--no-local-cloud",
    default=False,
    show_default=True,
    help="Use the local cloud of the service that runs in the data directory.",
)
@shared.config_files
@shared.database
def command(
    data_dir: Path,
    host: str,
    local_cloud: bool,
    config: ConfigFiles,
    database: str | None,
    port: int | None,
    cfn_port: int | None,
    cloudwatch_port: int | None,
) -> None:
    """Answer requests, and leave the stacks to the engines of the same database (PostgreSQL).

    Prints "ready URL" once everything answers. Any number may run, behind a balancer.

    \b
    Examples
      stoker api --config-file /etc/stoker/stoker.conf --host 0.0.0.0
      stoker api --database postgresql+psycopg://stoker@db.example.org/stoker
    """
    options = ServeOptions(
        data_dir,
        host,
        cfn_host=host,
        cloudwatch_host=host,
        local_cloud=local_cloud,
        database=database,
        config=config or (ConfigFiles() if local_cloud else usual_files()),
        part=ProcessRole.API,
        port=port,
        cfn_port=cfn_port,
        cloudwatch_port=cloudwatch_port,
    )
    options = configured(options)
    with ExitStack() as closing:
        listeners = listen_for_apis(options, None, closing)
        url = url_of(options.host, port_of(listeners.api))
        load_service().serve(options, listeners, None, lambda: tell_ready(url))

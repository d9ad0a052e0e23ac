"""``stoker serve``: claims the directory and the ports, starts the cloud, loads the service."""

from __future__ import annotations

import importlib
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from errno import EADDRINUSE
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from stoker.cli.arguments import options as shared
from stoker.cli.arguments.data_dir import DataDirLock, Running, make_data_dir
from stoker.cli.console.failures import CommandError
from stoker.cli.local.local_cloud import DEFAULT_PORT, LocalCloud, await_end, floating_range
from stoker.cli.local.serve_options import (
    DEFAULT_API_PORT,
    DEFAULT_CFN_PORT,
    DEFAULT_CLOUDWATCH_PORT,
    Listeners,
    ServeOptions,
    port_of,
    url_of,
)
from stoker.cli.local.supervision import expect_reloads, tell_ready
from stoker.config.files import ConfigFiles, usual_files
from stoker.kernel.freeing import loading
from stoker.kernel.lazy import LazyModule
from stoker.kernel.values import replace
from stoker.server.roles import ProcessRole

if TYPE_CHECKING:
    from stoker.cli import configuration
else:
    configuration = LazyModule("stoker.cli.configuration")

_FREED_WITHIN = 2.0  # seconds for which a requested port may still be in use
# Options that a configuration file may have as well.
_CONFIGURABLE = (
    "host",
    "port",
    "cfn_host",
    "cfn_port",
    "cloudwatch_host",
    "cloudwatch_port",
    "data_dir",
    "database",
)


def port_option(option: str, variable: str, usual: int, words: str) -> Callable[..., Any]:
    """Return an option for the port of something."""
    return click.option(
        option,
        type=click.IntRange(0, 65535),
        envvar=variable,
        show_default=f"{usual}, or a free one",
        show_envvar=True,
        help=f"Port of {words}; 0 for a free one.",
    )


@click.command("serve")
@shared.data_dir
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option("--port", "STOKER_PORT", DEFAULT_API_PORT, "the API")
@port_option("--cfn-port", "STOKER_CFN_PORT", DEFAULT_CFN_PORT, "the CloudFormation API")
@port_option(
    "--cloudwatch-port", "STOKER_CLOUDWATCH_PORT", DEFAULT_CLOUDWATCH_PORT, "the CloudWatch API"
)
@port_option("--cloud-port", "STOKER_CLOUD_PORT", DEFAULT_PORT, "the local cloud")
@click.option(
    "--local-cloud/--no-local-cloud",
    default=True,
    show_default=True,
    help="Start a local cloud, or use the OpenStack cloud named in the configuration file.",
)
@click.option(
    "--without-isolation",
    is_flag=True,
    envvar="STOKER_WITHOUT_ISOLATION",
    show_envvar=True,
    help="Where servers of the local cloud cannot be isolated, run their user data on this machine"
    " itself, with all your rights; refused to root.",
)
@click.option(
    "--cfn-host",
    default=None,
    show_default="that of the API",
    help="Address of the CloudFormation API to listen on.",
)
@click.option(
    "--cloudwatch-host",
    default=None,
    show_default="that of the API",
    help="Address of the CloudWatch API to listen on.",
)
@click.option(
    "--engines",
    type=click.IntRange(0, 64),
    default=0,
    metavar="N",
    help="Start so many processes that drive stacks, beside this one for the APIs, to try how they"
    " share the work. It takes a PostgreSQL.",
)
@shared.config_files
@shared.database
@shared.verify
def command(
    data_dir: Path,
    host: str,
    cfn_host: str | None,
    cloudwatch_host: str | None,
    local_cloud: bool,
    config: ConfigFiles,
    database: str | None,
    **numbers: int | None,
) -> None:
    """Run the service in the foreground until Ctrl-C.

    Prints "ready URL" once everything answers. The data directory then contains clouds.yaml and
    openrc for the OpenStack clients. If a default port is taken and none is given, a free one is
    used. Free ports are used again at the next start: servers know them.

    \b
    Examples
      stoker serve
      stoker serve --data-dir var --port 8104 --cloud-port 35457
      . ~/.local/share/stoker/openrc && openstack stack list
      stoker serve --no-local-cloud --config-file /etc/heat/heat.conf
      stoker serve --database postgresql+psycopg://stoker@db.example.org/stoker
      stoker serve --database postgresql+psycopg://stoker@/stoker --engines 3
    """
    engines = numbers.pop("engines") or 0
    without_isolation = bool(numbers.pop("without_isolation"))
    verify = bool(numbers.pop("verify"))
    options = ServeOptions(
        data_dir,
        host,
        cfn_host=cfn_host or host,
        cloudwatch_host=cloudwatch_host or host,
        local_cloud=local_cloud,
        without_isolation=without_isolation,
        engines=engines,
        part=ProcessRole.API if engines else ProcessRole.WHOLE,
        database=database,
        verify=verify,
        config=config,
        **numbers,
    )
    if not (local_cloud or config):
        options = replace(options, config=usual_files())
    _serve(configured(options))


def configured(options: ServeOptions) -> ServeOptions:
    """Return the options, completed from files where the command line has none."""
    if not options.config:
        return options
    return configuration.with_configured(options, _explicit_options())


def _explicit_options() -> set[str]:
    """Return the options that the command line or the environment names."""
    context = click.get_current_context()
    names = {
        name
        for name in _CONFIGURABLE
        # None: the command has no such option
        if context.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
    }
    if "host" in names:
        names |= {"cfn_host", "cloudwatch_host"}
    return names


def _serve(options: ServeOptions) -> None:
    make_data_dir(options.data_dir)
    lock = DataDirLock(options.data_dir)
    before = lock.acquire()
    with ExitStack() as closing:
        closing.callback(lock.release)
        listeners = listen_for_apis(options, before, closing)
        url = url_of(options.host, port_of(listeners.api))
        cfn_port, cloudwatch_port = port_of(listeners.cfn), port_of(listeners.cloudwatch)
        running = Running(
            os.getpid(),
            url,
            cfn_port=cfn_port,
            cloudwatch_port=cloudwatch_port,
            shares=options.database if options.engines else None,
        )
        cloud = None
        if options.local_cloud:
            await_end(before.cloud_pid if before else None, options.data_dir)
            with _open_for_cloud(options, before) as for_cloud:
                services = {
                    "orchestration": f"{url}/v1/%(project_id)s",
                    "cloudformation": f"{url_of(options.cfn_host, cfn_port)}/v1",
                    "cloudwatch": f"{url_of(options.cloudwatch_host, cloudwatch_port)}/v1",
                }
                cloud = LocalCloud(
                    options.data_dir,
                    for_cloud,
                    services,
                    without_isolation=options.without_isolation,
                )
                running = replace(running, cloud_pid=cloud.pid, cloud_port=port_of(for_cloud))
            closing.callback(cloud.close)
        lock.write(running)

        def ready() -> None:
            lock.write(replace(running, ready=True))
            tell_ready(url)
            addresses = floating_range(options.data_dir) if options.local_cloud else None
            if addresses is not None:
                click.echo(f"floating IPs are in {addresses}")

        serving = load_service()
        serving.serve(options, listeners, cloud, ready)


def listen_for_apis(options: ServeOptions, before: Running | None, closing: ExitStack) -> Listeners:
    """Return listeners, at the ports of the previous service if there was one.

    Servers know the service by these addresses. Without a local cloud, clients find the API by the
    catalog of the cloud, so no other port is used if its usual one is taken.
    """
    before = before or Running(0, "")
    api_port = options.port
    if api_port is None and not options.local_cloud:
        api_port = DEFAULT_API_PORT
    places = (
        (options.host, api_port, urlsplit(before.url).port, DEFAULT_API_PORT, "--port"),
        (options.cfn_host, options.cfn_port, before.cfn_port, DEFAULT_CFN_PORT, "--cfn-port"),
        (
            options.cloudwatch_host,
            options.cloudwatch_port,
            before.cloudwatch_port,
            DEFAULT_CLOUDWATCH_PORT,
            "--cloudwatch-port",
        ),
    )
    return Listeners(*(closing.enter_context(_open(*place)) for place in places))


def _open_for_cloud(options: ServeOptions, before: Running | None) -> socket.socket:
    """Return a listener for the local cloud, so that no other program can take its port."""
    known = before.cloud_port if before else None
    return _open(options.host, options.cloud_port, known, DEFAULT_PORT, "--cloud-port")


def load_service() -> ModuleType:
    """Return the service; loading it takes as long as the cloud needs to start, at its side."""
    expect_reloads()
    with loading():
        return importlib.import_module("stoker.cli.local.serving")


def _open(
    host: str, named: int | None, known: int | None, default: int, option: str
) -> socket.socket:
    """Return a listener at the port that was named.

    Else at the one that is known from before, at the default one unless 0 was named, or if that is
    taken at any other. Raises :class:`CommandError`.
    """
    settings = f"{option} or STOKER_{option[2:].replace('-', '_').upper()}"
    if named:
        return listen_once_free(host, named, settings)
    usual = known or (default if named is None else 0)
    try:
        return (listen_once_free if known else _listen)(host, usual, settings)
    except CommandError as error:
        if not _is_taken(error):
            raise
    listener = _listen(host, 0, settings)
    click.echo(f"port {usual} is taken; using port {port_of(listener)} instead", err=True)
    return listener


def listen_once_free(host: str, port: int, settings: str) -> socket.socket:
    """Return a listener; wait while processes of a service that was just killed still end."""
    until = time.monotonic() + _FREED_WITHIN
    while True:
        try:
            return _listen(host, port, settings)
        except CommandError as error:
            if not _is_taken(error) or time.monotonic() > until:
                raise
        time.sleep(0.05)


def _is_taken(error: CommandError) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno == EADDRINUSE


def _listen(host: str, port: int, settings: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise CommandError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; stop the program"
            f" using it, or choose another port with {settings}"
        ) from error
    return listener

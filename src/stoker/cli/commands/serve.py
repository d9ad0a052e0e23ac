"""``stoker serve``: claims the directory and the ports, starts the cloud, loads the service."""

from __future__ import annotations

import gc
import importlib
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from errno import EADDRINUSE
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import click

from stoker.cli import options as shared
from stoker.cli.data_dir import DataDirLock, Running, make_data_dir
from stoker.cli.failures import CommandFailed
from stoker.cli.local_cloud import DEFAULT_PORT, LocalCloud, await_end, floating_range
from stoker.cli.serve_options import (
    DEFAULT_API_PORT,
    DEFAULT_CFN_PORT,
    Listeners,
    ServeOptions,
    port_of,
)

_FREED_WITHIN = 2.0
"""Seconds for which a port that was asked for may be taken still."""


def _port(option: str, variable: str, usual: int, words: str) -> Callable[..., Any]:
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
@_port("--port", "STOKER_PORT", DEFAULT_API_PORT, "the API")
@_port("--cfn-port", "STOKER_CFN_PORT", DEFAULT_CFN_PORT, "the CloudFormation API")
@_port("--cloud-port", "STOKER_CLOUD_PORT", DEFAULT_PORT, "the local cloud")
@click.option(
    "--local-cloud/--no-local-cloud",
    default=True,
    show_default=True,
    help="Start a local cloud, or use the OpenStack cloud named in the configuration file.",
)
@click.option(
    "--config-file",
    "config_files",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    multiple=True,
    help="Configuration file in the format of heat.conf; repeatable.",
)
def command(
    data_dir: Path,
    host: str,
    port: int | None,
    cfn_port: int | None,
    cloud_port: int | None,
    local_cloud: bool,
    config_files: tuple[Path, ...],
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
    """
    _serve(ServeOptions(data_dir, host, port, cfn_port, cloud_port, local_cloud, config_files))


def _serve(options: ServeOptions) -> None:
    make_data_dir(options.data_dir)
    lock = DataDirLock(options.data_dir)
    before = lock.acquire()
    with ExitStack() as closing:
        closing.callback(lock.release)
        api = _open(
            options.host, options.port, _port_of(before), DEFAULT_API_PORT, "--port or STOKER_PORT"
        )
        closing.enter_context(api)
        cfn = _open_for_cfn(options, before)
        closing.enter_context(cfn)
        url, cfn_url = map(options.url_of, (port_of(api), port_of(cfn)))
        running, cloud = Running(os.getpid(), url, cfn_port=port_of(cfn)), None
        if options.local_cloud:
            await_end(before.cloud_pid if before else None, options.data_dir)
            with _open_for_cloud(options, before) as for_cloud:
                cloud = LocalCloud(options.data_dir, for_cloud, url, cfn_url)
                running = replace(running, cloud_pid=cloud.pid, cloud_port=port_of(for_cloud))
            closing.callback(cloud.close)
        lock.write(running)

        def ready() -> None:
            lock.write(replace(running, ready=True))
            click.echo(f"ready {url}")
            addresses = floating_range(options.data_dir) if options.local_cloud else None
            if addresses is not None:
                click.echo(f"floating IPs are in {addresses}")

        serving = _load()
        serving.serve(options, Listeners(api, cfn), cloud, ready)


def _port_of(before: Running | None) -> int | None:
    """The port of the service before this one: servers know it by its addresses for signals."""
    return urlsplit(before.url).port if before else None


def _open_for_cfn(options: ServeOptions, before: Running | None) -> socket.socket:
    known = before.cfn_port if before else None
    settings = "--cfn-port or STOKER_CFN_PORT"
    return _open(options.host, options.cfn_port, known, DEFAULT_CFN_PORT, settings)


def _open_for_cloud(options: ServeOptions, before: Running | None) -> socket.socket:
    """A listener that the local cloud takes over, so that nobody else can have its port."""
    known = before.cloud_port if before else None
    settings = "--cloud-port or STOKER_CLOUD_PORT"
    return _open(options.host, options.cloud_port, known, DEFAULT_PORT, settings)


def _load() -> ModuleType:
    """The service; loading it takes as long as the cloud needs to start, at its side."""
    # What is loaded stays: there is no garbage to look for.
    gc.disable()
    serving = importlib.import_module("stoker.cli.serving")
    gc.freeze()
    gc.enable()
    # A collection lets no thread run. One of the two young generations looks at 15,000 new objects
    # at most, a few milliseconds, and all objects are looked at as seldom as can be: what large
    # stacks are made of lives long, and is freed without.
    gc.set_threshold(5_000, 2, 4000)
    return serving


def _open(
    host: str, named: int | None, known: int | None, default: int, settings: str
) -> socket.socket:
    """A listener at the port that was named.

    Else at the one that is known from before, at the default one unless 0 was named, or if that is
    taken at any other. Raises :class:`CommandFailed`.
    """
    if named:
        return listen_once_free(host, named, settings)
    usual = known or (default if named is None else 0)
    try:
        return (listen_once_free if known else _listen)(host, usual, settings)
    except CommandFailed as error:
        if not _is_taken(error):
            raise
    listener = _listen(host, 0, settings)
    click.echo(f"port {usual} is taken; using port {port_of(listener)} instead", err=True)
    return listener


def listen_once_free(host: str, port: int, settings: str) -> socket.socket:
    """A listener; what a service that was killed a moment ago had started may still be ending."""
    until = time.monotonic() + _FREED_WITHIN
    while True:
        try:
            return _listen(host, port, settings)
        except CommandFailed as error:
            if not _is_taken(error) or time.monotonic() > until:
                raise
        time.sleep(0.05)


def _is_taken(error: CommandFailed) -> bool:
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
        raise CommandFailed(
            f"cannot listen on {host} port {port}: {error.strerror or error}; stop the program"
            f" using it, or choose another port with {settings}"
        ) from error
    return listener

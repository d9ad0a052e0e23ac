"""The service in this process, from the first import to the end.

This is imported only once the local cloud is on its way: loading the service takes as long as
the cloud needs to start.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
import uvloop
from oslo_config import cfg
from sqlalchemy.exc import SQLAlchemyError

from stoker import config
from stoker.app import App, Served
from stoker.cli.client_files import write_client_files
from stoker.cli.failures import CommandFailed
from stoker.cli.local_cloud import LocalCloud
from stoker.cli.serve_options import Listeners, ServeOptions
from stoker.cli.service_log import configure_log
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.log import Log

log = Log(__name__)

MEBIBYTE = 1024 * 1024
_FILES = 65536
"""Files and connections that the process may have open, where the system allows so many."""
IDLE_SECONDS = 75
"""Kept-alive connections are closed after so long: later than clients give them up by themselves,
so that no request meets a connection that is just being closed."""


def serve(
    options: ServeOptions,
    listeners: Listeners,
    cloud: LocalCloud | None,
    on_ready: Callable[[], None],
) -> None:
    """Serve until SIGINT or SIGTERM; ``on_ready`` is called when all APIs answer.

    Raises :class:`CommandFailed`.
    """
    os.umask(0o077)  # the files of the service are its own; the cloud runs already
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(options, listeners, cloud, on_ready))


async def _serve(
    options: ServeOptions,
    listeners: Listeners,
    cloud: LocalCloud | None,
    on_ready: Callable[[], None],
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with _running(options, listeners, cloud):
        on_ready()
        stopping = asyncio.ensure_future(stop.wait())
        waits: list[asyncio.Future[Any]] = [stopping]
        if cloud is not None:
            waits.append(asyncio.ensure_future(cloud.ended()))
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            raise CommandFailed(
                "the local cloud stopped unexpectedly; see its output above."
                ' Start again with "stoker serve"'
            )
    if cloud is not None:
        cloud.close()


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers of its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to this module."""
        yield


@asynccontextmanager
async def _running(
    options: ServeOptions, listeners: Listeners, cloud: LocalCloud | None
) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as closing:
        if cloud is not None:
            await cloud.ready()
        conf = _configuration(options, cloud)
        configure_log(debug=conf.debug, file=conf.log_file)
        for option in config.without_effect(conf):
            log.warning("this option has no effect", option=option)
        _allow_connections()
        try:
            app = App(conf, cloud.started_at if cloud is not None else 0.0)
        except (ValueError, OSError, SQLAlchemyError, DiagnosticError) as error:
            raise _unusable(error) from None
        closing.push_async_callback(app.close)
        await closing.enter_async_context(_answering(app.cfn, listeners.cfn))
        await closing.enter_async_context(_answering(app.api, listeners.api))
        await app.start()
        yield


@asynccontextmanager
async def _answering(served: Served, listener: socket.socket) -> AsyncIterator[None]:
    """Answer requests inside the block."""
    server = _Server(
        uvicorn.Config(
            served.asgi,
            http=served.protocol,
            ws="none",
            interface="asgi3",
            proxy_headers=False,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=5,
            timeout_keep_alive=IDLE_SECONDS,
        )
    )
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if serving.done():
                await serving
            await asyncio.sleep(0.002)
        yield
    finally:
        server.should_exit = True
        await serving


def _allow_connections() -> None:
    """Let the process have as many files and connections open as the system allows it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))


def _unusable(error: Exception) -> CommandFailed:
    """What is wrong with the configuration, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return CommandFailed(f"the configuration cannot be used: {first}")


def _read_all(conf: Any) -> None:
    """Options are parsed when they are read: read them now, not in the midst of a request."""
    for value in conf.values():
        if isinstance(value, Mapping):
            dict(value)


def _configuration(options: ServeOptions, cloud: LocalCloud | None) -> Any:
    try:
        conf = config.load(options.config_files)
        if options.config_files:
            _read_all(conf)
    except (cfg.Error, OSError, ValueError) as error:
        raise _unusable(error) from None
    conf.set_override("data_dir", str(options.data_dir))
    if cloud is None:
        return conf
    credentials = cloud.credentials()
    write_client_files(options.data_dir, credentials)
    service, admin = credentials["users"]["stoker"], credentials["users"]["stoker_domain_admin"]
    for name, value in {
        "auth_url": credentials["auth_url"],
        "www_authenticate_uri": credentials["auth_url"],
        "username": "stoker",
        "password": service["password"],
        "project_name": service["project"],
        "user_domain_name": "Default",
        "project_domain_name": "Default",
        "region_name": credentials.get("region"),
    }.items():
        conf.set_override(name, value, "keystone_authtoken")
    for name, value in {
        "stack_user_domain_name": "stoker",
        "stack_domain_admin": "stoker_domain_admin",
        "stack_domain_admin_password": admin["password"],
        # one machine has no tenants to protect from each other
        "max_resources_per_stack": -1,
        "max_stacks_per_tenant": -1,
        "enable_stack_abandon": True,
        "enable_stack_adopt": True,
        # the largest template with all its characters escaped
        "max_json_body_size": 32 * MEBIBYTE,
        "max_template_size": 16 * MEBIBYTE,
    }.items():
        conf.set_override(name, value)
    return conf

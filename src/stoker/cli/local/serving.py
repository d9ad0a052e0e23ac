"""Runs the service in this process, from the first import to the end.

Imported only after the local cloud was started: loading the service takes as long as the cloud
needs to start.
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
from typing import TYPE_CHECKING, Any

import uvicorn
import uvloop
from sqlalchemy.exc import SQLAlchemyError

from stoker.cli.console.failures import CommandError
from stoker.cli.local.client_files import write_client_files
from stoker.cli.local.engine_processes import EngineProcesses
from stoker.cli.local.local_cloud import LocalCloud, cloud_credentials
from stoker.cli.local.serve_options import Listeners, ServeOptions
from stoker.cli.local.service_log import configure_log
from stoker.cli.local.supervision import is_supervised
from stoker.config.files import ConfigFiles
from stoker.config.loading import load
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.log import Log
from stoker.server.app import App, Served, open_app
from stoker.server.roles import ProcessRole

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

configuration = LazyModule("stoker.cli.configuration")
tracing = LazyModule("stoker.observability.tracing")
log = Log(__name__)

MEBIBYTE = 1024 * 1024
_SAYINGS = {
    "no effect": "this option has no effect",
    "unknown": "there is no such option",
    "old name": "this option has another name",
}
_FILES = 65536  # limit on open files and connections, if the system allows it
# Seconds until an idle connection is closed. That is later than clients close it themselves, so
# that no request meets a connection that is just being closed.
IDLE_SECONDS = 75


def serve(
    options: ServeOptions,
    listeners: Listeners,
    cloud: LocalCloud | None,
    on_ready: Callable[[], None],
) -> None:
    """Serve until SIGINT or SIGTERM.

    ``on_ready`` is called when all APIs respond and all engine processes are ready. Raise
    :class:`CommandError` if the service cannot start.
    """
    os.umask(0o077)  # Files of the service are private; the cloud is running already.
    # The end of the runner waits for the thread that waits for the end of the cloud.
    ending = contextlib.nullcontext() if cloud is None else contextlib.closing(cloud)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, ending:
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
    async with (
        _running(options, listeners, cloud) as app,
        _engines(options) as (processes, engines),
    ):
        if is_supervised():
            loop.add_signal_handler(signal.SIGHUP, _reload, app, options, processes)
        stopping = asyncio.ensure_future(stop.wait())
        starting: list[asyncio.Future[Any]] = [stopping, engines]
        starting.append(asyncio.ensure_future(processes.ready.wait()))
        await asyncio.wait(starting, return_when=asyncio.FIRST_COMPLETED)
        if processes.ready.is_set():
            on_ready()
        overtaken = asyncio.ensure_future(app.overtaken())
        waits: list[asyncio.Future[Any]] = [stopping, engines]
        if cloud is not None:
            waits.append(asyncio.ensure_future(asyncio.to_thread(cloud.await_end)))
        await asyncio.wait([overtaken, *waits], return_when=asyncio.FIRST_COMPLETED)
        if overtaken.done():
            raise CommandError(f"this service stops: {overtaken.result()}")
        if engines.done():
            engines.result()
        if not stopping.done():
            raise CommandError(
                "the local cloud stopped unexpectedly; see its output above."
                ' Start again with "stoker serve"'
            )


def _reload(app: App, options: ServeOptions, engines: EngineProcesses | None = None) -> None:
    """Read the encryption keys again, here and in the engines beside this process.

    Everything else stays as it is until the next start.
    """
    if engines is not None:
        engines.reload()
    try:
        app.renew_keys(_configuration(options))
    except (CommandError, ValueError, OSError) as error:
        log.error("the keys are not renewed", reason=str(error))
    else:
        log.info("the keys are renewed")


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers of its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to this module."""
        yield


@asynccontextmanager
async def _running(
    options: ServeOptions, listeners: Listeners, cloud: LocalCloud | None
) -> AsyncIterator[App]:
    async with contextlib.AsyncExitStack() as closing:
        if cloud is not None:
            await asyncio.to_thread(cloud.await_ready)
        app = await closing.enter_async_context(_started(options, cloud))
        served = {
            listeners.api: app.api,
            listeners.cfn: app.cfn,
            listeners.cloudwatch: app.cloudwatch,
        }
        await closing.enter_async_context(_answering(served, app.service.event_streams.close))
        await app.start()
        yield app


@asynccontextmanager
async def _started(options: ServeOptions, cloud: LocalCloud | None) -> AsyncIterator[App]:
    """Return the configured service, which does not answer yet."""
    async with contextlib.AsyncExitStack() as closing:
        conf = _configuration(options)
        configure_log(conf)
        if options.config:
            _tell_remarks(options.config)
        _allow_connections()
        try:
            if conf.opentelemetry.endpoint:
                closing.enter_context(tracing.traced(conf.opentelemetry))
            cloud_since = cloud.started_at if cloud is not None else options.cloud_since or 0.0
            app = await closing.enter_async_context(open_app(conf, cloud_since, options.part))
        except (ValueError, OSError, SQLAlchemyError, DiagnosticError) as error:
            raise _unusable(error) from None
        yield app


@asynccontextmanager
async def _answering(
    served: Mapping[socket.socket, Served], ending: Callable[[], None] = lambda: None
) -> AsyncIterator[None]:
    """Answer requests inside the block; ``ending`` ends endless answers.

    The servers stop together, as each waits for its requests in flight.
    """
    servers = {listener: _server(each) for listener, each in served.items()}
    serving = asyncio.gather(*(each.serve([listener]) for listener, each in servers.items()))
    try:
        while not all(each.started for each in servers.values()):
            if serving.done():
                await serving
            await asyncio.sleep(0.002)
        yield
    finally:
        ending()
        for server in servers.values():
            server.should_exit = True
        await serving


def _server(served: Served) -> _Server:
    return _Server(
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


@asynccontextmanager
async def _engines(
    options: ServeOptions,
) -> AsyncIterator[tuple[EngineProcesses, asyncio.Future[None]]]:
    """Run the engine processes inside the block; the future completes if one cannot run."""
    processes = EngineProcesses(options)
    running = asyncio.ensure_future(processes.run())
    try:
        yield processes, running
    finally:
        await processes.close()
        running.cancel()


def serve_engine(
    options: ServeOptions, listener: socket.socket | None, on_ready: Callable[[str], None]
) -> None:
    """Drive stacks until SIGINT or SIGTERM; ``on_ready`` gets the engine's id.

    Operators are answered at a ``listener``. Raises :class:`CommandError`.
    """
    os.umask(0o077)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve_engine(options, listener, on_ready))


async def _serve_engine(
    options: ServeOptions, listener: socket.socket | None, on_ready: Callable[[str], None]
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with contextlib.AsyncExitStack() as closing:
        app = await closing.enter_async_context(_started(options, None))
        if listener is not None:
            await closing.enter_async_context(_answering({listener: app.operators}))
        await app.start()
        if is_supervised():
            loop.add_signal_handler(signal.SIGHUP, _reload, app, options)
        on_ready(app.name)
        stopping = asyncio.ensure_future(stop.wait())
        overtaken = asyncio.ensure_future(app.overtaken())
        await asyncio.wait([overtaken, stopping], return_when=asyncio.FIRST_COMPLETED)
        if overtaken.done():
            raise CommandError(f"this engine stops: {overtaken.result()}")


def _tell_remarks(files: ConfigFiles) -> None:
    for remark in configuration.remarks_on(files):
        place = f"{remark.file}:{remark.line}"
        log.warning(_SAYINGS[remark.kind], option=remark.option, at=place, why=remark.message)


def _allow_connections() -> None:
    """Raise the limit of open files and connections to the maximum that the system permits."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))


def _unusable(error: Exception) -> CommandError:
    """Return the fault of the configuration, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = lines[0] if lines else type(error).__name__
    return CommandError(f"the configuration cannot be used: {first}")


def _configuration(options: ServeOptions) -> ConfigOpts:
    conf = configuration.read(options.config) if options.config else load()
    conf.set_override("data_dir", str(options.data_dir))
    if options.database:
        conf.set_override("connection", options.database, "database")
    if options.verify:
        conf.set_override("verify_incremental", True)
    if not options.local_cloud:
        return conf
    credentials = cloud_credentials(options.data_dir)
    if options.part is not ProcessRole.ENGINE:
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
        # A single machine has no tenants that need protection from each other.
        "max_resources_per_stack": -1,
        # More than a laptop needs, but it ends templates that create stacks endlessly.
        "max_stacks_per_tenant": 10_000,
        "enable_stack_abandon": True,
        "enable_stack_adopt": True,
        # Other local clouds may be on this machine.
        "other_clouds_allowed_hosts": ["127.0.0.0/8", "::1"],
        # The largest template with all its characters escaped must fit.
        "max_json_body_size": 32 * MEBIBYTE,
        "max_template_size": 16 * MEBIBYTE,
    }.items():
        conf.set_override(name, value)
    return conf

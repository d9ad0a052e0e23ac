"""``stoker serve``: the service, and by default a local cloud, in one tree of processes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from stoker import config
from stoker.app import App
from stoker.cli.client_files import write_client_files
from stoker.cli.local_cloud import DEFAULT_PORT, LocalCloud

DEFAULT_API_PORT = 8004
MEBIBYTE = 1024 * 1024


class CannotServe(Exception):
    """The service cannot start. The text says why and what to do about it."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line says."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_API_PORT
    cloud_port: int = DEFAULT_PORT
    local_cloud: bool = True
    config_files: tuple[Path, ...] = ()

    @property
    def url(self) -> str:
        """Where the API is served."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


def serve(options: ServeOptions, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. ``on_ready`` gets the URL of the API.

    Raises :class:`CannotServe`.
    """
    asyncio.run(_serve(options, on_ready))


async def _serve(options: ServeOptions, on_ready: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with running(options) as cloud:
        on_ready(options.url)
        waits = [asyncio.ensure_future(stop.wait())]
        if cloud is not None:
            waits.append(asyncio.ensure_future(cloud.ended()))
        done, left = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in left:
            wait.cancel()
        if not stop.is_set() and done:
            raise CannotServe(
                "the local cloud has ended by itself; what it printed says why."
                ' Start again with "stoker serve"'
            )


@asynccontextmanager
async def running(options: ServeOptions) -> AsyncIterator[LocalCloud | None]:
    """The service, running and ready, inside the block."""
    listener = _listen(options)
    options.data_dir.mkdir(parents=True, exist_ok=True)
    async with contextlib.AsyncExitStack() as closing:
        cloud = None
        if options.local_cloud:
            cloud = LocalCloud(options.data_dir, options.host, options.cloud_port, options.url)
            await cloud.start()
            closing.push_async_callback(cloud.close)
            await cloud.ready()
        conf = _configuration(options, cloud)
        app = App(conf)
        closing.push_async_callback(app.close)
        server = uvicorn.Server(
            uvicorn.Config(app.asgi, log_config=None, lifespan="off", access_log=False)
        )
        server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign]
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))

        async def end() -> None:
            server.should_exit = True
            await serving

        closing.push_async_callback(end)
        while not server.started:
            if serving.done():
                await serving
            await asyncio.sleep(0.005)
        await app.start()
        yield cloud


def _listen(options: ServeOptions) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        raise CannotServe(
            f"cannot listen on {options.host} port {options.port}: {error.strerror}; stop what"
            " listens there, or choose another address with --host and --port"
        ) from error
    return listener


def _configuration(options: ServeOptions, cloud: LocalCloud | None) -> Any:
    conf = config.load(options.config_files)
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
        "max_json_body_size": 64 * MEBIBYTE,
        "max_template_size": 16 * MEBIBYTE,
    }.items():
        conf.set_override(name, value)
    return conf

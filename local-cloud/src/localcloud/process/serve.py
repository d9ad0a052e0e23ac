"""The server process: listens, brings the cloud up, says ``ready``, and ends when it should."""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
import uvloop

from localcloud.core.connections import Connection
from localcloud.core.settings import Settings
from localcloud.fabric.choose import fabric_on
from localcloud.fabric.interface import Fabric, FabricError
from localcloud.fabric.no_fabric import NoFabric
from localcloud.fabric.process.start import OwnerStart
from localcloud.process.app import CloudApp, open_cloud
from localcloud.process.services import services

_LOG = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1
_BACKLOG = 1024
_DRAIN_SECONDS = 3
_IDLE_SECONDS = 75  # longer than clients keep an idle connection in their pools


def run(
    settings: Settings, owner: OwnerStart | None, parent: int | None, listener: socket.socket
) -> int:
    """Serve the cloud, on the fabric process that is on its way; returns an exit code."""
    try:
        fabric = (
            NoFabric()
            if owner is None
            else fabric_on(owner, without_isolation=settings.without_isolation)
        )
        serve(settings, fabric, parent, listener)
    except (FabricError, OSError, sqlite3.Error) as error:
        print(f"localcloud: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


def serve(settings: Settings, fabric: Fabric, parent: int | None, listener: socket.socket) -> None:
    """Serve the cloud until SIGTERM or SIGINT, or until process ``parent``, if any, ends.

    Prints ``ready <url>`` once all services answer.
    """
    if parent is not None:
        end_with(parent)
    listener.listen(_BACKLOG)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(settings, fabric, listener))


def end_with(parent: int) -> None:
    """Kill this process when the parent process ends, or now if it has ended already.

    The kernel kills it without a shutdown, because the next start of the cloud waits for the end of
    this one. Nothing is lost: all answered requests are in the store.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


class _Server(uvicorn.Server):
    """Uvicorn without signal handlers of its own, and with a word when it accepts requests."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals to this module."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept requests, then report it."""
        await super().startup(sockets)
        self._on_ready()


async def _run(settings: Settings, fabric: Fabric, listener: socket.socket) -> None:
    cloud = open_cloud(settings, fabric)
    app = CloudApp(cloud, services(cloud))
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        timeout_keep_alive=_IDLE_SECONDS,
    )
    server = _Server(config, lambda: print(f"ready {settings.url}", flush=True))  # noqa: T201

    def stop() -> None:
        server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    async with app.running():
        for sentence in fabric.capabilities.lacks:
            _LOG.warning("%s", sentence)
        if app.disturbances:
            _LOG.warning("calls are disturbed, as %s says", app.disturbances.file)
        if not server.should_exit:
            await server.serve(sockets=[listener])

"""The wiring of the cloud: how services become one application."""

import fcntl
import os
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from localcloud.core.clock import Clock, SystemClock
from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.disturbances import PATH as DISTURBANCES_PATH
from localcloud.core.disturbances import Disturbances
from localcloud.core.executions import ExecutionSocket
from localcloud.core.mount import ServiceApp, strip_prefix
from localcloud.core.settings import Settings
from localcloud.core.store import Store
from localcloud.fabric.interface import Fabric
from localcloud.identity.identity import identity_of

# FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_TOPDIR_FL of ioctl_iflags(2), on 64-bit machines.
_GET_FLAGS, _SET_FLAGS = 0x80086601, 0x40086602
_TOP_OF_TREES = 0x20000


def open_cloud(settings: Settings, fabric: Fabric, clock: Clock | None = None) -> Cloud:
    """Return the cloud over its data directory, without its services.

    Raises OSError or :class:`sqlite3.Error` when the data directory cannot be used.
    """
    settings.cloud_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in ("servers", "volumes"):
        _spread_out(settings.cloud_dir / name)
    store = Store(settings.cloud_dir / "cloud.sqlite")
    clock = clock or SystemClock()
    return Cloud(store, identity_of(store, clock, settings).control, fabric, clock, settings)


def _spread_out(directory: Path) -> None:
    """Have ext4 spread the subdirectories of a directory over the disk, as it does with /home.

    Each server and volume has a subdirectory. In one place, the search for a free inode passes the
    inodes of recently deleted servers, which took a fifth of the processor time of a boot.
    """
    directory.mkdir(exist_ok=True)
    with suppress(OSError):  # other file systems have no such flag
        opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            (flags,) = struct.unpack("=i", fcntl.ioctl(opened, _GET_FLAGS, bytes(4)))
            fcntl.ioctl(opened, _SET_FLAGS, struct.pack("=i", flags | _TOP_OF_TREES))
        finally:
            os.close(opened)


class CloudApp:
    """The ASGI application: each service under its prefix, a list of them at the root."""

    def __init__(self, cloud: Cloud, services: Sequence[LazyService]) -> None:
        cloud.services = services
        self._cloud = cloud
        self.services = services
        self._mounts = {s.prefix: (s, ServiceApp(cloud, s)) for s in services}
        self._roots = {path: self._mounts[s.prefix] for s in services for path in s.root_paths}
        self.disturbances = Disturbances(cloud)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path in self._roots:
            service, mount = self._roots[path]
            await self.disturbances.call(mount, service, scope, receive, send)
            return
        for prefix, (service, mount) in self._mounts.items():
            below = strip_prefix(path, prefix)
            if below is not None:
                scope = {**scope, "path": below}
                await self.disturbances.call(mount, service, scope, receive, send)
                return
        if path == DISTURBANCES_PATH:
            await self.disturbances.control(scope, receive, send)
            return
        await self._root(Request(scope))(scope, receive, send)

    def _root(self, request: Request) -> Response:
        if request.url.path == "/healthcheck":
            return Response("OK", media_type="text/plain")
        if request.url.path == "/":
            return JSONResponse({"versions": self._versions()}, 300)
        message = f"No service of this cloud is mounted at {request.url.path}."
        return JSONResponse({"error": {"code": 404, "title": "Not Found", "message": message}}, 404)

    def _versions(self) -> list[dict[str, object]]:
        return [
            {**service.version, "service_type": service.type, "service_name": service.name}
            for service in self.services
            if service.version is not None
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start the fabric and the services on entry. At the end, stop the started ones in reverse
        order.
        """
        started: list[LazyService] = []
        await self._cloud.fabric.start(self._cloud.server_ended)
        executions = ExecutionSocket(self._cloud.settings.cloud_dir, self._cloud.fabric.execute)
        try:
            executions.open()
            for service in self.services:
                await service.start()
                started.append(service)
            yield
        finally:
            executions.close()
            for service in reversed(started):
                await service.stop()
            await self._cloud.fabric.close()
            self._cloud.store.close()

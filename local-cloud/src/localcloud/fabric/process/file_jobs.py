"""The files of servers: long work is done in processes beside the fabric process.

They have the rights to read and write the files of servers' users.
"""

import os
import selectors
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from localcloud.fabric.interface import FabricError, Face
from localcloud.fabric.isolation import kernel
from localcloud.fabric.isolation.mount_table import Namespaces
from localcloud.fabric.process import specs
from localcloud.fabric.process.machines import RunningServer
from localcloud.fabric.storage import archives, disks, shares, volumes

Request = dict[str, Any]
LATER = object()  # the result of an operation that answers on its own
_SAID = 4096
_ON_DISKS: Mapping[str, Callable[..., None]] = {
    "remove_disk": disks.remove_disk,
    "copy_disk": archives.copy,
    "pack_disk": archives.pack,
    "unpack_disk": archives.unpack,
}


class Storage:
    """The operations on disks and volumes."""

    def __init__(
        self,
        mounted: volumes.Volumes,
        shared: shares.Shares,
        servers: Mapping[str, RunningServer],
        selector: selectors.BaseSelector,
        answer: Callable[..., None],
    ) -> None:
        self._volumes = mounted
        self._shares = shared
        self._servers = servers
        self._selector = selector
        self._answer = answer
        self.operations: Mapping[str, Callable[[Request], object]] = {
            "attach_volume": self._attach,
            "detach_volume": self._detach,
            "mount_share": self._mount,
            "show_share": self._show,
            "release_share": lambda request: shared.release(request["share_id"]),
            **dict.fromkeys(_ON_DISKS, self._on_disk),
        }

    def _attach(self, request: Request) -> object:
        server_id, namespaces = self._running(request)
        volume = specs.volume_from_json(request["volume"])
        if self._volumes.held(server_id, volume.id) is not None:
            return None
        shown = self._volumes.open(server_id, volume)

        def done(well: bool) -> None:
            if not well:
                self._volumes.close(server_id, volume.id)

        return self._aside(request, lambda: volumes.attach(namespaces.mounts, shown), done)

    def _detach(self, request: Request) -> object:
        server, volume_id = self._servers.get(request["server_id"]), request["volume_id"]
        shown = None if server is None else self._volumes.held(server.id, volume_id)
        if server is None or server.namespaces is None or shown is None:
            return None
        server_id, mounts = server.id, server.namespaces.mounts

        def done(well: bool) -> None:
            if well:
                self._volumes.close(server_id, volume_id)

        return self._aside(request, lambda: volumes.detach(mounts, shown), done)

    def _mount(self, request: Request) -> object:
        server_id, namespaces = self._running(request)
        share = specs.share_from_json(request["share"])
        shown = self._shares.show(server_id, share, Face(request["face"]))
        return self._aside(request, lambda: shares.mount(namespaces, shown, request["target"]))

    def _show(self, request: Request) -> object:
        share = specs.share_from_json(request["share"])
        if not self._shares.has(request["server_id"], share.id):
            return None
        server_id, namespaces = self._running(request)
        shown = self._shares.show(server_id, share, Face(request["face"]))
        return self._aside(request, lambda: shares.change(namespaces, shown))

    def _running(self, request: Request) -> tuple[str, Namespaces]:
        server = self._servers.get(request["server_id"])
        if server is None or server.namespaces is None:
            raise FabricError("the server does not run")
        return server.id, server.namespaces

    def _on_disk(self, request: Request) -> object:
        paths = [Path(path) for path in request["paths"]]
        return self._aside(request, lambda: _ON_DISKS[request["do"]](*paths))

    def _aside(
        self,
        request: Request,
        work: Callable[[], None],
        done: Callable[[bool], None] = lambda well: None,
    ) -> object:
        """Do work in a process of its own; call ``done`` with its success, and answer."""
        report, write = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            _work(work, str(request["do"]), write)
        os.close(write)
        pidfd = os.pidfd_open(pid)

        def ended() -> None:
            self._selector.unregister(pidfd)
            os.close(pidfd)
            _, status = os.waitpid(pid, 0)
            said = os.read(report, _SAID).decode(errors="replace")
            os.close(report)
            done(status == 0)
            if status == 0:
                self._answer(request)
            else:
                self._answer(request, error=said or f"{request['do']} was killed")

        self._selector.register(pidfd, selectors.EVENT_READ, ended)
        return LATER


def _work(work: Callable[[], None], name: str, report: int) -> None:
    code = 1
    try:
        kernel.die_with_parent()
        work()
        code = 0
    except BaseException as error:  # noqa: BLE001 - the last frame of this process
        os.write(report, f"{name}: {error}".encode()[:_SAID])
    finally:
        os._exit(code)

"""Commands in servers for the user who runs this cloud, over a unix socket in its directory.

A request is one message: JSON with the ID of the ``server``, the words of the ``command`` and the
``user``, together with the descriptors of :mod:`localcloud.guest.programs.executions`. The response
is one message, ``{}`` or an ``error``; input and output use the descriptors. Standard descriptors
must be pipes: a server that gets a file, directory or terminal of the host could leave its root.
"""

import asyncio
import json
import os
import socket
import stat
import struct
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from localcloud.core.settings import EXECUTION_SOCKET
from localcloud.fabric.interface import Execute, FabricError
from localcloud.guest.programs.executions import DESCRIPTORS, MOST_BYTES

_MOST_WAITING = 64
_PATIENCE_SECONDS = 5.0
_PEER = struct.Struct("=iii")


class ExecutionSocket:
    """Listens while the cloud runs, for its own user and root."""

    def __init__(self, directory: Path, execute: Execute) -> None:
        self._directory = directory
        self._execute = execute
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Start to listen, on the running event loop."""
        directory = os.open(self._directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        before = os.umask(0o177)
        try:
            with suppress(FileNotFoundError):
                os.unlink(EXECUTION_SOCKET, dir_fd=directory)
            # A path of its own may be longer than addresses of sockets can be.
            self._listener.bind(f"/proc/self/fd/{directory}/{EXECUTION_SOCKET}")
        finally:
            os.umask(before)
            os.close(directory)
        self._listener.listen(_MOST_WAITING)
        self._listener.setblocking(False)
        asyncio.get_running_loop().add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        """Take no more requests."""
        asyncio.get_running_loop().remove_reader(self._listener.fileno())
        self._listener.close()
        for caller in list(self._waiting):
            self._drop(caller)
            caller.close()
        for task in self._tasks:
            task.cancel()

    def _accept(self) -> None:
        try:
            caller, _ = self._listener.accept()
        except OSError:
            return
        _, uid, _ = _PEER.unpack(
            caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
        )
        if uid not in (0, os.geteuid()) or len(self._waiting) >= _MOST_WAITING:
            caller.close()
            return
        caller.setblocking(False)
        loop = asyncio.get_running_loop()
        self._waiting[caller] = loop.call_later(_PATIENCE_SECONDS, self._give_up, caller)
        loop.add_reader(caller.fileno(), self._take, caller)

    def _drop(self, caller: socket.socket) -> None:
        self._waiting.pop(caller).cancel()
        asyncio.get_running_loop().remove_reader(caller.fileno())

    def _give_up(self, caller: socket.socket) -> None:
        self._drop(caller)
        caller.close()

    def _take(self, caller: socket.socket) -> None:
        self._drop(caller)
        try:
            data, descriptors, _, _ = socket.recv_fds(
                caller, MOST_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            caller.close()
            return
        task = asyncio.get_running_loop().create_task(self._answer(caller, data, descriptors))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, caller: socket.socket, data: bytes, descriptors: list[int]) -> None:
        answer: dict[str, str] = {}
        try:
            _check(descriptors)
            request = json.loads(data)
            command = [str(word) for word in request["command"]]
            await self._execute(request["server"], command, request["user"], descriptors)
        except FabricError as error:
            answer = {"error": str(error)}
        except (ValueError, KeyError, TypeError) as error:
            answer = {"error": f"the request cannot be understood: {error}"}
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
            with caller, suppress(OSError):
                caller.send(json.dumps(answer).encode())


def _check(descriptors: Sequence[int]) -> None:
    kinds = [os.fstat(descriptor).st_mode for descriptor in descriptors]
    pipes = all(map(stat.S_ISFIFO, kinds[:3]))
    if len(kinds) != DESCRIPTORS or not pipes or not stat.S_ISSOCK(kinds[3]):
        raise ValueError("three pipes and a socket must come with it")

"""Requests of programs in servers to mount shares, which a service of the cloud answers."""

import asyncio
import json
import os
import stat
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from localcloud.guest.programs.mount_requests import WORDS

_MOST_AT_ONCE = 16  # questions of one server
_LONGEST_ANSWER = 1000


class MountRequest(Struct, frozen=True):
    """A share to mount, and its place in the server."""

    server_id: str
    kind: str  # as `mount -t` names it: `nfs`, `cifs`, `ceph`, ..
    source: str
    target: str
    options: str


class MountRefusedError(Exception):
    """A server cannot mount the requested share. The text is for the requesting program."""


class Exports:
    """Answers servers that ask for shares."""

    def __init__(self) -> None:
        # Mounts a share for a server; set by the service that has shares. Raises MountRefusedError.
        self.mount: Callable[[MountRequest], Awaitable[None]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: Counter[str] = Counter()

    def ask(self, message: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        """Take a question of a server; the answer goes to the pipe that came with it."""
        task = asyncio.get_running_loop().create_task(self._respond(message, descriptors))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _respond(self, message: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        server_id, question = str(message["asks"]), str(message["question"])
        self._asking[server_id] += 1
        try:
            said = await self._said(server_id, question)
            for pipe in descriptors:
                if stat.S_ISFIFO(os.fstat(pipe).st_mode):
                    os.set_blocking(pipe, False)
                    with suppress(OSError):  # the requester is gone
                        os.write(pipe, said.encode(errors="replace"))
        finally:
            self._asking[server_id] -= 1
            for pipe in descriptors:
                os.close(pipe)

    async def _said(self, server_id: str, question: str) -> str:
        try:
            if self.mount is None or self._asking[server_id] > _MOST_AT_ONCE:
                raise MountRefusedError("the cloud has no answer now")
            words = json.loads(question)
            await self.mount(MountRequest(server_id, *(str(words[word]) for word in WORDS)))
        except Exception as error:  # noqa: BLE001 - whoever waits is told
            text = " ".join(str(error).split())[:_LONGEST_ANSWER]
            return f"32 {text or type(error).__name__}\n"
        return "0\n"

"""The cloud's side of the channel to the fabric process: requests, answers and news."""

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from localcloud.fabric.interface import FabricError
from localcloud.fabric.process import channel
from localcloud.fabric.process.start import OwnerProcess

_ANSWER_SECONDS = 60.0


class OwnerClient:
    """Speaks with the fabric process.

    ``on_ended`` is called with the message about a server that has ended, ``on_asks`` with the
    question of one and descriptors that it closes, ``on_lost`` when the fabric process itself has
    ended; all on the event loop.
    """

    def __init__(
        self,
        process: OwnerProcess,
        on_ended: Callable[[dict[str, Any]], None],
        on_asks: Callable[[dict[str, Any], list[int]], None],
        on_lost: Callable[[], None],
    ) -> None:
        self._process = process
        self._on_ended = on_ended
        self._on_asks = on_asks
        self._on_lost = on_lost
        self._numbers = itertools.count(1)
        self._awaited: dict[int, asyncio.Future[list[int]]] = {}
        self._sending = asyncio.Lock()
        self._ended = False
        self._channel: socket.socket | None = None

    def start(self) -> None:
        """Start to listen to the process, on the running event loop."""
        receiver = channel.Receiver(self._process.channel)
        self._channel = self._process.channel
        loop = asyncio.get_running_loop()
        loop.add_reader(self._channel.fileno(), self._take_messages, receiver)

    async def close(self) -> None:
        """End the process, and all that it owns with it."""
        if self._channel is not None:
            asyncio.get_running_loop().remove_reader(self._channel.fileno())
            self._channel.close()
            self._channel = None
        if not self._ended:
            self._ended = True
            self._process.channel.close()
            await asyncio.to_thread(self._process.wait)

    async def ask_for_disks(self, do: str, *paths: Path) -> None:
        """Have something done with the files of servers, however long it takes.

        Raises FabricError as :meth:`ask`.
        """
        await self._asked(do, (), None, {"paths": [str(path.resolve()) for path in paths]})

    async def ask(self, do: str, descriptors: Sequence[int] = (), **content: Any) -> list[int]:
        """Have something done; returns the descriptors that came with the answer.

        Copies of ``descriptors`` travel with the request; the caller keeps and closes its own.

        Raises FabricError when it was refused or the process has ended.
        """
        return await self._asked(do, descriptors, _ANSWER_SECONDS, content)

    async def _asked(
        self, do: str, descriptors: Sequence[int], seconds: float | None, content: dict[str, Any]
    ) -> list[int]:
        if self._channel is None:
            raise FabricError("the fabric does not run; restart the cloud")
        number = next(self._numbers)
        loop = asyncio.get_running_loop()
        awaited: asyncio.Future[list[int]] = loop.create_future()
        self._awaited[number] = awaited
        frame = channel.frame({"id": number, "do": do, **content}, len(descriptors))
        try:
            async with self._sending:
                await self._send(self._channel, memoryview(frame), descriptors)
            async with asyncio.timeout(seconds):
                return await awaited
        except TimeoutError as error:
            raise FabricError(f"{do}: no answer within {_ANSWER_SECONDS:.0f} seconds") from error
        except OSError as error:
            raise FabricError(f"{do}: the fabric process has ended") from error
        finally:
            # An answer that comes after all is not awaited; its descriptors are closed then.
            self._awaited.pop(number, None)

    async def _send(
        self, sock: socket.socket, frame: memoryview, descriptors: Sequence[int]
    ) -> None:
        loop = asyncio.get_running_loop()
        while descriptors:
            try:
                frame = frame[socket.send_fds(sock, [frame], descriptors) :]
                descriptors = ()
            except BlockingIOError:
                writable: asyncio.Future[None] = loop.create_future()
                loop.add_writer(sock.fileno(), writable.set_result, None)
                try:
                    await writable
                finally:
                    loop.remove_writer(sock.fileno())
        if frame:
            await loop.sock_sendall(sock, frame)

    def _take_messages(self, receiver: channel.Receiver) -> None:
        try:
            messages = receiver.receive()
        except BlockingIOError:
            return
        except ConnectionError:
            messages = None
        if messages is None:
            self._lose()
            return
        for message, descriptors in messages:
            if "ended" in message:
                self._on_ended(message)
            elif "asks" in message:
                self._on_asks(message, descriptors)
            else:
                self._answered(message, descriptors)

    def _answered(self, message: dict[str, Any], descriptors: list[int]) -> None:
        awaited = self._awaited.pop(message["to"], None)
        if awaited is None or awaited.done():
            for descriptor in descriptors:
                os.close(descriptor)
        elif "error" in message:
            awaited.set_exception(FabricError(message["error"]))
        else:
            awaited.set_result(descriptors)

    def _lose(self) -> None:
        assert self._channel is not None
        asyncio.get_running_loop().remove_reader(self._channel.fileno())
        self._channel.close()
        self._channel = None
        lost = FabricError("the fabric process has ended; restart the cloud")
        for awaited in self._awaited.values():
            if not awaited.done():
                awaited.set_exception(lost)
        self._on_lost()

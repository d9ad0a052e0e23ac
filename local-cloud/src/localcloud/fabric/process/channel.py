"""Messages with file descriptors between the cloud and its fabric process.

A frame is a length, then JSON. Descriptors (listening sockets, connections) travel with it.
"""

import array
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

MAX_FRAME = 16 << 20
MAX_DESCRIPTORS = 64
_LENGTH = struct.Struct(">IB")
_CHUNK = 1 << 16


def frame(message: dict[str, Any], descriptors: int = 0) -> bytes:
    """One message as bytes; this many descriptors will travel with it."""
    body = json.dumps(message).encode()
    return _LENGTH.pack(len(body), descriptors) + body


def send(channel: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message; the caller keeps and closes its own copies of the descriptors."""
    data = frame(message, len(descriptors))
    ancillary = []
    if descriptors:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
    sent = channel.sendmsg([data], ancillary)
    if sent < len(data):
        channel.sendall(memoryview(data)[sent:])


class Receiver:
    """Splits the bytes of a channel into messages."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._buffer = bytearray()
        self._descriptors: list[int] = []

    def receive(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """Read once and return the messages that are complete; None when the other side ended.

        Raises BlockingIOError on a non-blocking channel without data.
        """
        data, descriptors, _, _ = socket.recv_fds(
            self._channel, _CHUNK, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not data:
            return None
        self._buffer += data
        self._descriptors += descriptors
        return list(self._complete())

    def _complete(self) -> Sequence[tuple[dict[str, Any], list[int]]]:
        found = []
        while len(self._buffer) >= _LENGTH.size:
            length, count = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME:
                raise ValueError(f"a message of {length} bytes exceeds {MAX_FRAME}")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            body = json.loads(self._buffer[_LENGTH.size : end])
            found.append((body, self._descriptors[:count]))
            del self._buffer[:end]
            del self._descriptors[:count]
        return found

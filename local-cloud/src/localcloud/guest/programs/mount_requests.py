"""Requests of programs in this server to mount shares, which the cloud answers.

A request is one line in a pipe that only root can write. Its words are separated by tabs: the name
of the pipe for the answer, the type of file system, the source, the directory and the options. The
answer comes from the cloud: ``0``, or the exit code and an error message.
"""

import json
import os
import selectors
import socket
import stat
from contextlib import suppress
from pathlib import Path

DIRECTORY = Path("/run/localcloud")
PIPE = DIRECTORY / "mounts"
WORDS = ("kind", "source", "target", "options")
_LONGEST = 4096  # of a line. The kernel keeps such lines apart where several programs write.


class MountRequests:
    """Passes questions on over the socket ``requests``, each with the pipe for its answer."""

    def __init__(self, requests: socket.socket, selector: selectors.BaseSelector) -> None:
        self._requests = requests
        self._rest = b""
        DIRECTORY.mkdir(mode=0o700, exist_ok=True)
        os.mkfifo(PIPE, 0o600)
        self._pipe = os.open(PIPE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        selector.register(self._pipe, selectors.EVENT_READ, self._take)

    def _take(self) -> None:
        *lines, rest = (self._rest + os.read(self._pipe, _LONGEST)).split(b"\n")
        self._rest = rest[-_LONGEST:]
        for line in lines:
            name, *words = line.decode(errors="replace").split("\t")
            if name.isascii() and name.isdigit() and len(words) == len(WORDS):
                with suppress(OSError):
                    self._pass_on(name, dict(zip(WORDS, words, strict=True)))

    def _pass_on(self, name: str, question: dict[str, str]) -> None:
        how = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        answer = os.open(DIRECTORY / name, how)
        try:
            if stat.S_ISFIFO(os.fstat(answer).st_mode):
                try:
                    socket.send_fds(self._requests, [json.dumps(question).encode()], [answer])
                except OSError:
                    os.write(answer, b"32 the cloud cannot be asked now\n")
        finally:
            os.close(answer)

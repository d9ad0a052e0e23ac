"""Runs a command in a server of the local cloud, with pipes, signals and exit code."""

from __future__ import annotations

import errno
import json
import os
import selectors
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from stoker.cli.console.failures import CommandError, InputError
from stoker.cli.local.signal_handlers import signal_handler

_SOCKET = "exec.sock"
_MOST_BYTES = 1 << 16
_CHUNK = 1 << 16
_SECONDS = 30.0
_LOST = "the server has ended"


def run_in_server(data_dir: Path, server_id: str, words: Sequence[str], user: str) -> int:
    """Run a command in a server; return its exit code.

    The server gets pipes instead of this process's descriptors: an open terminal or file of this
    machine would be a way out of the server. Raise :class:`CommandError` if the command cannot be
    run.
    """
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    read_error, write_error = os.pipe()
    ours, theirs = socket.socketpair()
    try:
        descriptors = [read_in, write_out, write_error, theirs.fileno()]
        _ask(data_dir, {"server": server_id, "command": list(words), "user": user}, descriptors)
    finally:
        theirs.close()
        for descriptor in (read_in, write_out, write_error):
            os.close(descriptor)
    threading.Thread(target=_feed, args=(write_in,), daemon=True).start()
    with ours, _signals_passed_on(ours):
        return _relay({read_out: 1, read_error: 2}, ours)


def _ask(data_dir: Path, request: dict[str, Any], descriptors: Sequence[int]) -> None:
    message = json.dumps(request).encode()
    if len(message) > _MOST_BYTES:
        raise InputError(f"the command is longer than {_MOST_BYTES} bytes; put it into a file")
    place = data_dir / "cloud"
    try:
        directory = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as cloud:
                cloud.settimeout(_SECONDS)
                cloud.connect(f"/proc/self/fd/{directory}/{_SOCKET}")
                socket.send_fds(cloud, [message], descriptors)
                answer = json.loads(cloud.recv(_MOST_BYTES) or b'{"error": "it is busy"}')
        finally:
            os.close(directory)
    except OSError as error:
        raise CommandError(
            f"the local cloud in {place} takes no commands ({error.strerror or error}); name the"
            " directory of the service with --data-dir"
        ) from None
    if "error" in answer:
        raise CommandError(f"the local cloud cannot run the command: {answer['error']}")


def _feed(descriptor: int) -> None:
    """Forward standard input until it ends or the reader closes it."""
    with suppress(OSError):
        while data := os.read(0, _CHUNK):
            _write(descriptor, data)
    os.close(descriptor)


@contextmanager
def _signals_passed_on(status: socket.socket) -> Iterator[None]:
    """Forward signals to the command. The second Ctrl-C ends it in any case."""
    interrupted = False

    def pass_on(number: int, _: object) -> None:
        nonlocal interrupted
        again = interrupted and number == signal.SIGINT
        interrupted = interrupted or number == signal.SIGINT
        with suppress(OSError):
            status.send(bytes([signal.SIGKILL if again else number]))

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    with signal_handler(pass_on, numbers):
        yield


def _relay(outputs: dict[int, int], status: socket.socket) -> int:
    """Print the output of the command until it ends; return its exit code.

    Background processes may continue. Their output is not printed.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(status, selectors.EVENT_READ)
        for descriptor in outputs:
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        ended = b""
        while not ended:
            for key, _ in selector.select():
                if key.fileobj is status:
                    ended = _received(status)
                elif not _print(key.fd, outputs[key.fd]):
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    del outputs[key.fd]
        for descriptor, target in outputs.items():
            while _print(descriptor, target, rest=True):
                pass
            os.close(descriptor)
    answer = json.loads(ended)
    if "error" in answer:
        raise CommandError(answer["error"])
    return int(answer["code"])


def _received(status: socket.socket) -> bytes:
    try:
        ended = status.recv(_CHUNK)
    except OSError:
        ended = b""
    return ended or json.dumps({"error": _LOST}).encode()


def _print(descriptor: int, target: int, rest: bool = False) -> bool:
    """Print a part of the output; return False at its end or if the reader closed it.

    With ``rest``, an empty pipe is the end.
    """
    try:
        data = os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return not rest
    try:
        _write(target, data)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.EBADF):
            raise
        return False
    return bool(data)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]

"""A helper: a process that evaluates texts of users, one job after another.

``python -I -m stoker.sandbox PARENT ITERATIONS MEMORY``, with a socket as standard input. It gives
up everything that it does not need before it takes the first job: no files, no sockets, no
processes, little memory. A job that takes too long is interrupted, and if that does not help, the
kernel ends the process.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from stoker.sandbox import patterns
from stoker.sandbox.expressions import Expressions
from stoker.sandbox.jobs import HEADER, Answer, JobError, answer_frame, check_size, read_job

MEBIBYTE = 1024 * 1024
MEMORY = 256 * MEBIBYTE  # bytes that a helper may reserve beyond those at its start
_GROWN = 64 * MEBIBYTE  # a helper that has grown by this much ends after its job
_GRACE = 0.3  # seconds of computing after which the kernel ends a helper that cannot be interrupted
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38


class _TimeLimitError(BaseException):
    """No exception that an expression could catch."""


def _interrupt(signal_number: int, frame: FrameType | None) -> NoReturn:
    raise _TimeLimitError


def _die_with(parent: int) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)  # it died before the kernel had the request


def _confine() -> None:
    """Give up all rights; everything needed is open and imported by now."""
    for limit, value in (
        (resource.RLIMIT_AS, _memory(0) + MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 3),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(limit, (value, value))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    os.nice(5)


def _memory(field: int) -> int:
    """Bytes that this process has reserved (0) or uses (1)."""
    with open(_STATM, "rb", buffering=0) as statm:  # noqa: PTH123 - no pathlib in a helper
        return int(statm.read().split()[field]) * resource.getpagesize()


_STATM = "/proc/self/statm"
# Expressions whose parts load modules, codecs and time zones.
_LOADING = (
    'regex("a").matches($.data.a) and [1].len() > 0',
    r'"\n\N{DIGIT ONE}"',
    'datetime("1", "%d").format("%c") != datetime("1 May 2000").replace(offset => localtz()).year',
)


def _start_clocks(seconds: float) -> None:
    """Those of the kernel, which interrupt a job and then end it."""
    used = time.process_time()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(used + seconds + _GRACE) + 2
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds + _GRACE)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)


def _stop_clocks() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)


class Helper:
    """Takes jobs until the other end of the socket is closed."""

    def __init__(self, channel: socket.socket, iterations: int, memory: int) -> None:
        self._channel = channel
        expressions = Expressions(iterations, memory)
        self._work: dict[str, Callable[..., Any]] = {
            "parse": lambda text: expressions.parse(text) and None,
            "evaluate": expressions.evaluate,
            "compile": lambda pattern: patterns.compiled(pattern) and None,
            "fit": patterns.fitting,
        }
        # what is loaded with the first use is loaded now, while files can be opened
        for expression in _LOADING:
            expressions.evaluate(expression, {"a": "a"})
        patterns.fitting("(?i)[[:alpha:]]*", "a")

    def run(self) -> None:
        """Take jobs."""
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + _GROWN
        while (content := self._receive()) is not None:
            answer = self._answer(content)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > most
            frame = self._framed(answer._replace(last=answer.last or grown))
            self._channel.sendall(frame)
            if answer.last or grown:
                return

    def _answer(self, content: bytes) -> Answer:
        begin = time.process_time()
        value = refused = None
        last = False
        try:
            try:
                kind, seconds, arguments = read_job(content)
                del content
                _start_clocks(seconds)
                value = self._work[kind](*arguments)
                check_size(value)
            finally:
                _stop_clocks()
        except JobError as error:
            refused = (error.kind, error.message)
        except _TimeLimitError:
            _stop_clocks()
            refused, last = ("time", ""), True
        except MemoryError:
            refused, last = ("memory", ""), True
        if refused is not None:
            value = None
        return Answer(value, refused, time.process_time() - begin, last)

    @staticmethod
    def _framed(answer: Answer) -> bytes:
        try:
            return answer_frame(answer)
        except MemoryError:
            return answer_frame(Answer(None, ("memory", ""), answer.seconds, last=True))

    def _receive(self) -> bytes | None:
        header = self._read(HEADER.size)
        return None if header is None else self._read(HEADER.unpack(header)[0])

    def _read(self, size: int) -> bytes | None:
        found = bytearray()
        while len(found) < size:
            piece = self._channel.recv(min(size - len(found), MEBIBYTE))
            if not piece:
                return None
            found += piece
        return bytes(found)


def main(arguments: list[str]) -> None:
    """Serve one parent."""
    parent, iterations, memory = map(int, arguments)
    _die_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = socket.socket(fileno=0)
    helper = Helper(channel, iterations, memory)
    _confine()
    channel.sendall(b"\1")  # ready
    helper.run()


if __name__ == "__main__":
    main(sys.argv[1:])

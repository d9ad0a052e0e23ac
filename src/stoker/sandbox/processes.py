"""Helper processes: started when they are needed, kept for the next job, replaced when they end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore, Lock

from stoker.sandbox.jobs import HEADER, MAX_ANSWER

START_SECONDS = 30.0  # seconds for a helper to get ready
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
_PIECE = 1024 * 1024
_WARM = 2  # helpers that are kept when there is no work


class HelperDiedError(Exception):
    """A helper has ended before it has answered."""

    def __init__(self, signal_number: int | None) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number  # None if it was no signal


class Process:
    """One helper process."""

    def __init__(self, iterations: int, memory: int) -> None:
        self._channel, theirs = socket.socketpair()
        command = [sys.executable, "-I", "-m", "stoker.sandbox"]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [*command, str(os.getpid()), str(iterations), str(memory)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_ENVIRONMENT,
                start_new_session=True,
            )
        try:
            self._read(1, time.monotonic() + START_SECONDS)
        except BaseException:
            self.kill()
            raise

    def ask(self, frame: bytes, seconds: float) -> bytes:
        """The answer to a job. Raises :class:`HelperDiedError`, :class:`TimeoutError`: end it
        then.
        """
        deadline = time.monotonic() + seconds
        try:
            self._channel.settimeout(seconds)
            self._channel.sendall(frame)
            (size,) = HEADER.unpack(self._read(HEADER.size, deadline))
            if size > MAX_ANSWER:
                raise HelperDiedError(None)
            return self._read(size, deadline)
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise HelperDiedError(self._signal()) from None

    def _read(self, size: int, deadline: float) -> bytes:
        found = bytearray()
        while len(found) < size:
            self._channel.settimeout(max(deadline - time.monotonic(), 0.001))
            piece = self._channel.recv(min(size - len(found), _PIECE))
            if not piece:
                raise HelperDiedError(self._signal())
            found += piece
        return bytes(found)

    def _signal(self) -> int | None:
        """Return the signal that ended the process, whose end of the channel is closed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(2)
            return -code if code < 0 else None
        return None

    @property
    def lives(self) -> bool:
        """Return whether it can still take a job."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it now."""
        self._channel.close()
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


class Pool:
    """A bounded number of helpers; none before the first job.

    A job that finds its helper killed from outside, as by a kernel that is short of memory, is
    given to another one, once.
    """

    def __init__(self, size: int, iterations: int, memory: int) -> None:
        self._size = size
        self._options = (iterations, memory)
        self._begin()

    def _begin(self) -> None:
        self._owner = os.getpid()
        self._lock = Lock()
        self._idle: list[Process] = []
        self._slots = BoundedSemaphore(self._size)
        # The kernel ends a helper with the thread that has started it: one that lives as long as
        # the pool.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
        self._next: Future[Process] | None = None
        self.ended = 0  # helpers that had to be replaced so far

    def run(self, frame: bytes, seconds: float) -> tuple[bytes, Process]:
        """The answer to a job, and the helper, to be given back or to be dropped.

        Raises :class:`HelperDiedError` and :class:`TimeoutError`.
        """
        if os.getpid() != self._owner:
            self._begin()  # in a process that was forked: the helpers are those of its parent
        if not self._slots.acquire(timeout=seconds):
            raise TimeoutError
        try:
            return self._run(frame, seconds, again=True)
        except BaseException:
            self._slots.release()
            raise

    def _run(self, frame: bytes, seconds: float, *, again: bool) -> tuple[bytes, Process]:
        helper = self._take()
        try:
            return helper.ask(frame, seconds), helper
        except HelperDiedError as died:
            self._end(helper)
            if again and died.signal_number == signal.SIGKILL:
                return self._run(frame, seconds, again=False)
            raise
        except BaseException:
            self._end(helper)
            raise

    def give_back(self, helper: Process) -> None:
        """Keep a helper for the next job, unless enough wait for one."""
        with self._lock:
            keep = len(self._idle) < _WARM
            if keep:
                self._idle.append(helper)
        if not keep:
            helper.kill()
        self._slots.release()

    def drop(self, helper: Process) -> None:
        """A helper that takes no more jobs; another one is started for the next."""
        self._end(helper)
        self._slots.release()

    def _end(self, helper: Process) -> None:
        helper.kill()
        with self._lock:
            self.ended += 1
            if self._next is None and not self._idle:
                self._next = self._starter.submit(Process, *self._options)

    def _take(self) -> Process:
        with self._lock:
            while self._idle:
                helper = self._idle.pop()
                if helper.lives:
                    return helper
                helper.kill()
            starting, self._next = self._next, None
        if starting is None:
            starting = self._starter.submit(Process, *self._options)
        try:
            return starting.result()
        except (OSError, HelperDiedError) as error:
            raise HelperDiedError(None) from error

    def close(self) -> None:
        """End all helpers that are not at work."""
        with self._lock:
            starting, self._next = self._next, None
            idle, self._idle = self._idle, []
        self._starter.shutdown(cancel_futures=True)
        if starting is not None and not starting.cancelled() and starting.exception() is None:
            idle.append(starting.result())
        for helper in idle:
            helper.kill()

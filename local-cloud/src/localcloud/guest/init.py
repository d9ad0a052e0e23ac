"""The first process of a server: keeps the console, reaps orphans, powers off.

It keeps running after user data is processed, until a signal ends it: SIGTERM powers off, SIGINT
reboots, SIGUSR1 and SIGUSR2 freeze and thaw all other processes.
"""

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable

from localcloud.guest.banner import banner
from localcloud.guest.cloud_init import processor
from localcloud.guest.cloud_init.instance import (
    CONFIGURATION,
    EXIT_POWER_OFF,
    EXIT_REBOOT,
    OUTPUT_LOG,
    SCRIPTS,
    Instance,
)
from localcloud.guest.programs.executions import Executions
from localcloud.guest.programs.mount_requests import MountRequests

MOST_CONSOLE_BYTES = 16 << 20
_OBEYED = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2)
_GRACE_SECONDS = 2.0
_CHUNK = 1 << 16


class Console:
    """The server's console log, bounded, so that a chatty server cannot fill the host's disk."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._left = MOST_CONSOLE_BYTES - os.fstat(descriptor).st_size

    def write(self, data: bytes) -> None:
        """Append to the log."""
        if self._left <= 0:
            return
        os.write(self._descriptor, data[: self._left])
        self._left -= len(data)
        if self._left <= 0:
            os.write(self._descriptor, b"\n[console log is full; later output is not kept]\n")


def run(instance: Instance, console: int, requests: int, ready: Callable[[], None]) -> int:
    """Run a server as its first process and return its exit code. ``ready`` is called once.

    Over the socket ``requests`` it is asked to run commands, and asks for shares to mount.
    """
    signal.set_wakeup_fd(-1)
    wakeup_read, wakeup_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    received: list[int] = []
    for number in _OBEYED:
        signal.signal(number, lambda number, _frame: received.append(number))
    signal.set_wakeup_fd(wakeup_write, warn_on_full_buffer=False)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)

    log = Console(console)
    log.write(banner())
    instance.prepare()
    output = os.open(OUTPUT_LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640)
    spoken = os.open("/dev/console", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    told_read, told_write = os.pipe2(os.O_CLOEXEC)
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.close(null)
    ready()
    _spawn_processor(instance, told_write)

    with selectors.DefaultSelector() as selector:
        selector.register(wakeup_read, selectors.EVENT_READ)
        selector.register(spoken, selectors.EVENT_READ)
        selector.register(told_read, selectors.EVENT_READ)
        channel = socket.socket(fileno=requests)
        channel.setblocking(False)
        executions = Executions(channel, instance, selector)
        MountRequests(channel, selector)
        while True:
            for key, _ in selector.select():
                if key.data is not None:
                    key.data()
                elif key.fd == wakeup_read:
                    os.read(wakeup_read, _CHUNK)
                elif key.fd == spoken:
                    log.write(os.read(spoken, _CHUNK))
                else:
                    data = os.read(told_read, _CHUNK)
                    log.write(data)
                    os.write(output, data)
            code = _obey(received, executions)
            if code is not None:
                # User data that restarts its server must not do so at each boot.
                instance.note_done(CONFIGURATION)
                instance.note_done(SCRIPTS)
                _end_all(executions)
                log.write(b"The server is going down.\n")
                return code


def _obey(received: list[int], executions: Executions) -> int | None:
    """Obey the received signals; returns the exit code when the server must end."""
    while received:
        number = received.pop(0)
        if number == signal.SIGCHLD:
            _reap(executions)
        elif number == signal.SIGUSR1:
            _signal_all(signal.SIGSTOP)
        elif number == signal.SIGUSR2:
            _signal_all(signal.SIGCONT)
        else:
            return EXIT_REBOOT if number == signal.SIGINT else EXIT_POWER_OFF
    return None


def _reap(executions: Executions) -> bool:
    """Collect ended children; false when none is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        executions.ended(pid, status)


def _signal_all(number: int) -> None:
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        return


def _end_all(executions: Executions) -> None:
    _signal_all(signal.SIGTERM)
    _signal_all(signal.SIGCONT)
    deadline = time.monotonic() + _GRACE_SECONDS
    while _reap(executions) and time.monotonic() < deadline:
        time.sleep(0.01)


def _spawn_processor(instance: Instance, output: int) -> None:
    if os.fork() != 0:
        return
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for number in _OBEYED:
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 1 << 16)
        os.chdir("/")
        os.umask(0o022)
        code = processor.run(instance)
    except BaseException as error:  # noqa: BLE001 - the last frame of this process
        os.write(2, f"user data: the processor failed: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)

"""Commands that the cloud's user runs in this server: forks of its first process.

So they have the server's namespaces, user IDs, root directory and filter of system calls. Nothing
in the server can reach the socket of the requests, or a fork's memory before it has become the
command (see ``PR_SET_DUMPABLE``). Of the descriptors in the request, the command gets only the
three standard ones. Account files are read here, because libc would load libraries of the server
into a process that knows more than the server may know.
"""

import json
import os
import selectors
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init.accounts import find_user, groups_of
from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import environment

MOST_BYTES = 1 << 16  # of a request
# That come with a request: standard input, output, error, and a socket for signals and the end.
DESCRIPTORS = 4
_PASSED_ON = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGKILL}
_NOT_FOUND, _NOT_RUN = 127, 126


class Executions:
    """Starts commands, passes signals to them, and reports how they end.

    The socket of a request takes signal numbers as bytes, and returns one line of JSON: the exit
    ``code``, or an ``error``. When its other side closes, the command gets SIGHUP.
    """

    def __init__(
        self, requests: socket.socket, instance: Instance, selector: selectors.BaseSelector
    ) -> None:
        self._requests = requests
        self._instance = instance
        self._selector = selector
        self._running: dict[int, socket.socket] = {}
        selector.register(self._requests, selectors.EVENT_READ, self._take)

    def ended(self, pid: int, status: int) -> None:
        """Report the end of this process to the command's caller."""
        channel = self._running.pop(pid, None)
        if channel is not None:
            code = os.waitstatus_to_exitcode(status)
            self._selector.unregister(channel)
            _report(channel, code=code if code >= 0 else 128 - code)

    def _take(self) -> None:
        try:
            data, descriptors, _, _ = socket.recv_fds(
                self._requests, MOST_BYTES, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return
        if len(descriptors) != DESCRIPTORS:
            if not data:
                self._selector.unregister(self._requests)
            _close(descriptors)
            return
        channel = socket.socket(fileno=descriptors.pop())
        channel.setblocking(False)
        try:
            request = json.loads(data)
            pid = os.fork()
        except (ValueError, OSError) as error:
            _report(channel, error=f"the server cannot start a command: {error}")
        else:
            if pid == 0:
                _become(request, descriptors, self._instance)
            self._running[pid] = channel
            self._selector.register(
                channel, selectors.EVENT_READ, partial(self._pass_on, pid, channel)
            )
        _close(descriptors)

    def _pass_on(self, pid: int, channel: socket.socket) -> None:
        try:
            numbers = list(channel.recv(16))
        except BlockingIOError:
            return
        except OSError:
            numbers = []
        if not numbers:
            self._selector.unregister(channel)
            channel.close()
            del self._running[pid]
            numbers = [signal.SIGHUP]
        for number in numbers:
            if number in _PASSED_ON:
                with suppress(OSError):
                    os.killpg(pid, number)


def _report(channel: socket.socket, **content: Any) -> None:
    with suppress(OSError):
        channel.send(json.dumps(content).encode() + b"\n")
    channel.close()


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _become(request: dict[str, Any], descriptors: Sequence[int], instance: Instance) -> None:
    """Be the command from now on. Does not return."""
    code = _NOT_RUN
    try:
        signal.set_wakeup_fd(-1)
        for number in (*_PASSED_ON - {signal.SIGKILL}, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        for number in (signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
        os.closerange(3, 1 << 16)
        os.umask(0o022)
        program = [os.fsencode(str(word)) for word in request["command"]]
        surroundings = _change_user(str(request["user"]), instance)
        code = _NOT_FOUND
        os.execvpe(program[0], program, surroundings)  # noqa: S606 - as asked
    except OSError as error:
        code = _NOT_RUN if isinstance(error, PermissionError) else code
        _complain(f"{request['command'][0]}: {error.strerror}")
    except BaseException as error:  # noqa: BLE001 - the last frame of this process
        _complain(str(error))
    finally:
        os._exit(code)


def _complain(text: str) -> None:
    with suppress(OSError):
        os.write(2, f"{text}\n".encode())


def _change_user(name: str, instance: Instance) -> dict[str, str]:
    """Take a user's ids, where there are several, and directory; returns the environment."""
    found = find_user(name)
    if found is None:
        raise LookupError(f"there is no user {name} in this server")
    uid, gid, home = found
    if instance.many_users:
        os.setgroups([gid, *groups_of(name)])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    os.chdir(home if Path(home).is_dir() else "/")
    return {**environment(instance), "HOME": home, "USER": name, "LOGNAME": name}

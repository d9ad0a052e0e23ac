"""The start of the fabric process: a fork of the cloud, before that has threads or secrets."""

import os
import resource
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import Any

from localcloud.fabric import channel, owner
from localcloud.fabric.findings import Findings

_HELLO_SECONDS = 60.0
_MOST_FILES = 1 << 16


@dataclass(frozen=True)
class OwnerProcess:
    """A fabric process that has said what the machine allows."""

    pid: int
    channel: socket.socket
    findings: Findings

    def wait(self) -> None:
        """Wait until the process has ended; blocks."""
        os.waitpid(self.pid, 0)


def start_owner(settings: dict[str, Any]) -> OwnerProcess:
    """Fork the fabric process and wait for its findings; some 30 ms.

    A fork, as all that it needs is loaded already. To be called from the main thread: the process
    dies with the thread that has started it.
    """
    _allow_many_files()
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_owner(theirs, parent, settings)
    theirs.close()
    ours.settimeout(_HELLO_SECONDS)
    try:
        received = channel.Receiver(ours).receive()
    except OSError:
        received = None
    ours.setblocking(False)
    findings = (
        Findings.from_json(received[0][0]["hello"])
        if received
        else Findings.without_namespaces("the fabric process ended early")
    )
    return OwnerProcess(pid, ours, findings)


def _allow_many_files() -> None:
    # Each server costs some ten descriptors, here and in the fabric process.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _become_owner(control: socket.socket, parent: int, settings: dict[str, Any]) -> None:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.closerange(3, control.fileno())
        os.closerange(control.fileno() + 1, _MOST_FILES)
        owner.run(control, parent, settings)
    except BaseException:  # noqa: BLE001 - the last frame of this process: it must not return
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(1)

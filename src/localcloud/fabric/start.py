"""The start of the fabric process: a fork of the cloud, before that has threads or secrets.

The fork comes first of all, so that the two processes load what each of them needs, and try out
the machine, at the same time.
"""

import importlib
import ipaddress
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcloud.fabric import channel
from localcloud.fabric.findings import Findings

_HELLO_SECONDS = 60.0
_MOST_FILES = 1 << 16


@dataclass(frozen=True)
class OwnerProcess:
    """A fabric process that has said what the machine allows."""

    pid: int
    channel: socket.socket
    findings: Findings
    services: tuple[tuple[str, int], ...]
    """What servers reach under the same address as the host."""

    def wait(self) -> None:
        """Wait until the process has ended; blocks."""
        os.waitpid(self.pid, 0)


@dataclass(frozen=True)
class OwnerStart:
    """A fabric process that is on its way."""

    pid: int
    channel: socket.socket
    services: tuple[tuple[str, int], ...]

    def complete(self) -> OwnerProcess:
        """Wait for what the process finds out about the machine; blocks."""
        self.channel.settimeout(_HELLO_SECONDS)
        try:
            received = channel.Receiver(self.channel).receive()
        except OSError:
            received = None
        self.channel.setblocking(False)
        findings = (
            Findings.from_json(received[0][0]["hello"])
            if received
            else Findings.without_namespaces("the fabric process ended early")
        )
        return OwnerProcess(self.pid, self.channel, findings, self.services)


def fork_owner(
    state: Path,
    services: Sequence[tuple[str, int]] = (),
    floating: Sequence[str] = (),
    *,
    probe_only: bool = False,
) -> OwnerStart:
    """Fork the fabric process.

    ``state`` is a directory for the built-in image; it must lie on the file system of the disks.
    ``services`` are the host's (address, port) pairs that servers reach under the same address.
    ``floating`` are the CIDRs of floating addresses: servers reach those of others too. With
    ``probe_only`` the process ends when it has said what the machine allows.

    To be called from the main thread, before the process has other threads, secrets or an event
    loop: the fabric process dies with the thread that has started it.
    """
    _allow_many_files()
    reached = tuple(dict.fromkeys((_reached_as(host), port) for host, port in services))
    state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    state.mkdir(exist_ok=True)
    settings = {
        "state": str(state.resolve()),
        "probe_only": probe_only,
        "services": reached,
        "floating": floating,
    }
    ours, theirs = socket.socketpair()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become_owner(theirs, parent, settings)
    theirs.close()
    return OwnerStart(pid, ours, reached)


def _reached_as(host: str) -> str:
    """The address under which a service that listens at ``host`` is reached on the host."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)


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
        # By name, as the cloud itself has no use for it.
        owner = importlib.import_module("localcloud.fabric.owner")
        owner.run(control, parent, settings)
    except BaseException:  # noqa: BLE001 - the last frame of this process: it must not return
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(1)

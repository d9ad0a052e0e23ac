"""The start of the fabric process: a program of its own, so that it has nothing of the cloud.

Servers are forks of it and inherit its memory and its environment. It is started first, so that the
two processes load their modules, and try out the machine, at the same time.
"""

import ipaddress
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from localcloud.fabric.findings import Findings
from localcloud.fabric.process import channel

_HELLO_SECONDS = 60.0
_MOST_FILES = 1 << 16
# What is needed to find programs. All else in the environment may be a secret.
_PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME")


class OwnerStart(Struct, frozen=True):
    """A fabric process that is on its way."""

    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    services: tuple[tuple[str, int], ...]  # what servers reach under the same address as the host
    floating: tuple[str, ...]

    def complete(self) -> "OwnerProcess":
        """Wait for the findings of the process about the machine; blocks."""
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
        return OwnerProcess(**asdict(self), findings=findings)


class OwnerProcess(OwnerStart, frozen=True):
    """A fabric process that has reported its findings."""

    findings: Findings

    def wait(self) -> None:
        """Wait until the process has ended; blocks."""
        self.process.wait()


def start_owner(
    state: Path,
    services: Sequence[tuple[str, int]] = (),
    floating: Sequence[str] = (),
    *,
    probe_only: bool = False,
) -> OwnerStart:
    """Start the fabric process.

    ``state`` is a directory for the built-in image; it must lie on the file system of the disks.
    ``services`` are the host's (address, port) pairs that servers reach under the same address.
    ``floating`` are the CIDRs of floating addresses: servers reach those of others too. With
    ``probe_only`` the process ends after its findings.

    To be called from the main thread: the fabric process dies with the thread that has started it.
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
    with theirs:
        process = subprocess.Popen(  # noqa: S603 - our own program
            _command(theirs.fileno()),
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
        )
    channel.send(ours, settings)
    return OwnerStart(process, ours, reached, tuple(floating))


def _command(descriptor: int) -> list[str]:
    # -P: the current directory may be a stranger's, and must not be a source of modules.
    program = "localcloud.fabric.process.owner"
    return [sys.executable, "-P", "-m", program, str(descriptor), str(os.getpid())]


def clean_environment() -> dict[str, str]:
    """Return the environment of our own programs that are forked into servers."""
    variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    places = os.pathsep.join(str(Path.cwd() / place) for place in sys.path)
    return {**variables, "LANG": "C.UTF-8", "PYTHONPATH": places}


def _reached_as(host: str) -> str:
    """The address under which a service that listens at ``host`` is reached on the host."""
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)


def _allow_many_files() -> None:
    # Each server costs some ten descriptors, here and in the fabric process.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

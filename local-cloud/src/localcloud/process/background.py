"""A cloud that runs in the background: started, found by its socket, ended."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from localcloud.core.settings import EXECUTION_SOCKET, auth_url_of

_START_SECONDS = 60
_STOP_SECONDS = 20
_PEER = struct.Struct("=iii")


class StartError(Exception):
    """The cloud did not start. The text says why."""


class RunningCloud(Struct, frozen=True):
    """The process that serves a data directory."""

    pid: int
    url: str


def log_of(data_dir: Path) -> Path:
    """The log file of a cloud in the background."""
    return data_dir / "cloud" / "up.log"


def find(data_dir: Path) -> RunningCloud | None:
    """Return the cloud of a data directory: the process that listens at its command socket."""
    try:
        directory = os.open(data_dir / "cloud", os.O_PATH | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as cloud:
            # A path of its own may be longer than addresses of sockets can be.
            cloud.connect(f"/proc/self/fd/{directory}/{EXECUTION_SOCKET}")
            found = cloud.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    except OSError:
        return None
    finally:
        os.close(directory)
    return RunningCloud(_PEER.unpack(found)[0], auth_url_of(data_dir).removesuffix("/identity/v3"))


def start(data_dir: Path, options: Sequence[str]) -> None:
    """Run ``localcloud serve`` with these options in the background, until it is ready.

    Raises :class:`StartError`.
    """
    log = log_of(data_dir)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with log.open("wb") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "localcloud", "serve", *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    assert process.stdout is not None
    with process.stdout as stdout:
        readable, _, _ = select.select([stdout], [], [], _START_SECONDS)
        if readable and stdout.readline().startswith(b"ready"):
            return
    process.terminate()
    process.wait()
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    raise StartError(said.removeprefix("Error: ") or "it was not ready in time")


def stop(cloud: RunningCloud) -> bool:
    """End a cloud as Ctrl-C does, and say whether it has ended."""
    try:
        process = os.pidfd_open(cloud.pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        ended, _, _ = select.select([process], [], [], _STOP_SECONDS)
    except ProcessLookupError:
        return True
    finally:
        os.close(process)
    return bool(ended)

"""The local cloud as a child process.

Nothing large is imported here, not even asyncio: the cloud starts while the service is loading.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stoker.cli.console.failures import CommandError
from stoker.cli.extras import require

DEFAULT_PORT = 35357
START_SECONDS = 60.0
STOP_SECONDS = 10.0
DYING_SECONDS = 10.0  # seconds for the end of a cloud whose service was killed
_PF_EXITING = 0x4  # flag of the Linux kernel for an exiting process


class LocalCloud:
    """A local cloud that runs as long as this process."""

    def __init__(
        self,
        data_dir: Path,
        listener: socket.socket,
        services: Mapping[str, str],
        *,
        without_isolation: bool = False,
        log: int | None = None,
    ) -> None:
        """Start the process with the listener; it is not ready yet.

        ``services`` are the URLs of additional services in its catalog, by type.
        ``without_isolation`` permits user data to run on this machine if servers cannot be
        isolated. ``log`` is a descriptor for its messages, by default that of this process.
        """
        require("local", "the local cloud")
        self._data_dir = data_dir
        command = [sys.executable, "-m", "localcloud", "serve", "--data-dir", str(data_dir)]
        command += ["--listen-fd", str(listener.fileno()), "--parent", str(os.getpid())]
        if without_isolation:
            command.append("--without-isolation")
        for kind, url in services.items():
            command += ["--service", f"{kind}={url}"]
        self.started_at = time.time()  # No request from before this time is still in progress.
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            pass_fds=(listener.fileno(),),
        )

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def await_ready(self) -> None:
        """Wait until all APIs respond. Blocks. Raise :class:`CommandError` if the process ends."""
        stdout = self._process.stdout
        assert stdout is not None
        readable, _, _ = select.select([stdout], [], [], START_SECONDS)
        if not (readable and stdout.readline().startswith(b"ready")):
            raise CommandError(
                "the local cloud did not start; see its output above, and check this machine with"
                ' "stoker doctor"'
            )

    def await_end(self) -> None:
        """Wait until the process has ended. Blocks."""
        self._process.wait()

    def close(self) -> None:
        """Stop the process and wait for its end."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def cloud_credentials(data_dir: Path) -> dict[str, Any]:
    """Return the ``credentials.json`` of a data directory's cloud."""
    path = data_dir / "cloud" / "credentials.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def floating_range(data_dir: Path) -> str | None:
    """Return the floating IP range of a data directory's cloud, such as 127.24.4.0/24."""
    try:
        number = int((data_dir / "cloud" / "floating-range").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return f"127.24.{number}.0/24"


def await_end(pid: int | None, data_dir: Path) -> None:
    """Wait for the end of the cloud of a killed service.

    The kernel kills it with the service; then its ports are free. Raise :class:`CommandError` if it
    does not end.
    """
    if pid is None:
        return
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if not (_is_exiting(pid) or _is_cloud_of(pid, data_dir)):
            return
        ended, _, _ = select.select([descriptor], [], [], DYING_SECONDS)
    finally:
        os.close(descriptor)
    if not ended:
        raise CommandError(
            f"the local cloud of an earlier service (process {pid}) does not end;"
            f' end it with "kill -9 {pid}" and start again'
        )


def _is_exiting(pid: int) -> bool:
    """Return whether a process is exiting: it has no command line any more, but still its ports."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return bool(int(fields[6]) & _PF_EXITING)


def _is_cloud_of(pid: int, data_dir: Path) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"localcloud" in command and os.fsencode(data_dir) in command

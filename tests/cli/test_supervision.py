"""The service under a service manager: it reports readiness, and no reload ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import os, signal
from stoker.cli.local.supervision import expect_reloads, tell_ready
expect_reloads()
os.kill(os.getpid(), signal.SIGHUP)
tell_ready("here")
"""


@pytest.mark.parametrize("form", ["{}/notify", "@{}/notify"])
def test_systemd_is_notified_when_ready(tmp_path: Path, form: str) -> None:
    address = form.format(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(f"\0{address[1:]}" if address.startswith("@") else address)
        manager.settimeout(10)
        done = _run(address)
        assert (done.returncode, done.stdout) == (0, "ready here\n")
        assert manager.recv(100) == b"READY=1"


def test_absent_service_manager_is_ignored(tmp_path: Path) -> None:
    for address in ("", str(tmp_path / "nobody")):
        done = _run(address)
        assert (done.returncode, done.stdout, done.stderr) == (0, "ready here\n", "")


def _run(address: str) -> subprocess.CompletedProcess[str]:
    """A process that gets a reload signal before it is ready."""
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NOTIFY_SOCKET": address},
    )

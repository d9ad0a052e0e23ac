"""A local cloud as a process of its own, with sessions into it through the real SDK."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.sessions import Sessions
from stoker.kernel.clock import SystemClock


@dataclass
class LocalCloud:
    sessions: Sessions
    credentials: dict[str, Any]

    def user(self, name: str) -> Password:
        known = self.credentials["users"][name]
        return Password(
            name,
            known["password"],
            user_domain_id=known["domain"],
            project_name=known["project"],
        )

    def connection(self, name: str = "demo") -> Any:
        return self.sessions.connection(self.user(name))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_cloud(directory: Path) -> Iterator[LocalCloud]:
    port = free_port()
    command = [sys.executable, "-m", "localcloud", "serve", "--data-dir", str(directory)]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--parent", str(os.getpid())],
        stdout=subprocess.PIPE,
        cwd=directory,
        env={**os.environ, "PYTHONWARNINGS": ""},
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("ready"), line
        known = json.loads((directory / "cloud" / "credentials.json").read_text())
        endpoints = Endpoints(known["auth_url"], region=known["region"])
        sessions = Sessions(endpoints, SystemClock(), lambda *_: None)
        yield LocalCloud(sessions, known)
        sessions.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        if process.stdout is not None:
            process.stdout.close()

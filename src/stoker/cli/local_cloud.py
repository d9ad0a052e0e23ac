"""The local cloud as a child process: started, waited for, described to the service."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

DEFAULT_PORT = 35357
START_TIMEOUT = 60.0


class LocalCloudFailed(Exception):
    """The local cloud did not start. The text says why and what to do."""


class LocalCloud:
    """A local cloud that lives as long as this process."""

    def __init__(self, data_dir: Path, host: str, port: int, api_url: str) -> None:
        self._data_dir = data_dir
        self._host = host
        self._port = port
        self._api_url = api_url
        self._process: asyncio.subprocess.Process | None = None
        self.url = f"http://{host}:{port}"

    async def start(self) -> None:
        """Start the process; returns before it is ready."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "localcloud",
            "serve",
            "--data-dir",
            str(self._data_dir),
            "--host",
            self._host,
            "--port",
            str(self._port),
            "--service",
            f"orchestration={self._api_url}/v1/%(project_id)s",
            "--service",
            f"cloudformation={self._api_url}/cfn/v1",
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def ready(self) -> None:
        """Return when all its APIs answer. Raises :class:`LocalCloudFailed`."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), START_TIMEOUT)
        except TimeoutError:
            line = b""
        if not line.startswith(b"ready"):
            raise LocalCloudFailed(
                "the local cloud did not start; what it printed above says why, and"
                ' "stoker doctor" says what this machine lacks'
            )

    async def ended(self) -> int:
        """The exit code of the process, once it has one."""
        assert self._process is not None
        return await self._process.wait()

    def credentials(self) -> dict[str, Any]:
        """What ``credentials.json`` of the cloud says."""
        path = self._data_dir / "cloud" / "credentials.json"
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return content

    async def close(self) -> None:
        """End the process and wait for its end."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self._process.wait(), 10)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()

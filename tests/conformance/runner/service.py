"""A service of its own for a run: free ports, an empty data directory, a local cloud."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

START_TIMEOUT = 90.0
# Settings of the recorded service that differ from the defaults.
SETTINGS = """
[DEFAULT]
hidden_stack_tags = hidden
"""


class DidNotStartError(Exception):
    """The service did not get ready. The text has its output."""


@asynccontextmanager
async def service() -> AsyncIterator[Path]:
    """The service, ready, inside the block: the path of its cloud's ``credentials.json``."""
    with tempfile.TemporaryDirectory(prefix="stoker-conformance-") as directory:
        data = Path(directory)
        settings = data / "stoker.conf"
        settings.write_text(SETTINGS, encoding="utf-8")
        api, cloud = free_ports(2)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "stoker",
            "serve",
            "--config-file",
            str(settings),
            "--data-dir",
            str(data),
            "--port",
            str(api),
            "--cloud-port",
            str(cloud),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            await _ready(process)
            yield data / "cloud" / "credentials.json"
        finally:
            await _end(process)


async def _ready(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_TIMEOUT)
    except TimeoutError:
        line = b""
    if not line.startswith(b"ready"):
        raise DidNotStartError(f"the service did not start; it printed: {line.decode()!r}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), 20)
    except TimeoutError:
        process.kill()
        await process.wait()


def free_ports(count: int) -> list[int]:
    """Return unused ports."""
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports

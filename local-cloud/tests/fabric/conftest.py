"""A running fabric, and a small world of networks, servers and one service of the host."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from cloud_testing.world import HostService, World
from localcloud.fabric.choose import fabric_on
from localcloud.fabric.interface import (
    Capabilities,
)
from localcloud.fabric.probe import probe
from localcloud.fabric.process.start import start_owner

FLOATING = ("127.24.4.0/24",)


@pytest.fixture(scope="session")
def capabilities() -> Capabilities:
    found = probe()
    if not found.isolated:
        pytest.skip(f"the kernel forbids namespaces: {' '.join(found.lacks)}")
    return found


@pytest.fixture(scope="session")
def state_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of the built-in image, which is shared, so that it is created once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """Set the umask of the process that starts the cloud: the usual one, or that of a test."""
    before = os.umask(getattr(request, "param", 0o022))
    yield
    os.umask(before)


@pytest.fixture
async def world(
    capabilities: Capabilities, umask: None, state_directory: Path, tmp_path: Path
) -> AsyncIterator[World]:
    service = HostService()
    listener = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    service.port = listener.sockets[0].getsockname()[1]
    fabric = fabric_on(start_owner(state_directory, [("127.0.0.1", service.port)], FLOATING))
    made = World(fabric, tmp_path, service)
    await fabric.start(made.exits.append)
    yield made
    await fabric.close()
    for server in made.servers.values():
        # What servers wrote may belong to ids that only the fabric could remove.
        if os.geteuid() != 0:
            server.console.unlink(missing_ok=True)
    listener.close()
    await listener.wait_closed()

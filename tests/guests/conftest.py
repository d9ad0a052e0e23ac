"""One service for all tests of this folder, and one image with the agents as they are published."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guests.stacks import Stacks
from tests.recovery.service import Service

ROOT = Path(__file__).parents[2]
_NOT_FETCHED = 3  # exit code of the script when pip cannot get the packages


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with its local cloud, where servers are real."""
    examined = _run(sys.executable, "-m", "localcloud", "doctor")
    if examined.returncode != 0:
        pytest.skip(f"this machine cannot run real servers:\n{examined.stdout}")
    running = Service(tmp_path_factory.mktemp("service") / "data")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="package")
def agents(service: Service) -> Stacks:
    """Stacks whose servers can boot from the image with the agents."""
    openrc = service.data_dir / "openrc"
    script = f'. "{openrc}" && exec examples/agents/prepare'
    done = _run("sh", "-c", script, data_dir=service.data_dir)
    if done.returncode == _NOT_FETCHED:
        pytest.skip(f"pip cannot get the agents here:\n{done.stderr[-1000:]}")
    assert done.returncode == 0, done.stderr
    return Stacks(service.data_dir)


def _run(*command: str, data_dir: Path | None = None) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "STOKER_DATA_DIR": str(data_dir)}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )

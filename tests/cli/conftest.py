"""One service with its local cloud for all tests that need one, and a way to run commands."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stoker.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
READY_SECONDS = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def stoker(*arguments: str, text: str | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, list(arguments), input=text)


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "stoker", *arguments]


def environment_without_cloud() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if not key.startswith("OS_")}


@dataclass
class Served:
    """A service in a process of its own."""

    data_dir: Path
    port: int
    cloud_port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self, *arguments: str, text: str | None = None) -> Result:
        """Run a command against this service."""
        return stoker(*arguments, "--data-dir", str(self.data_dir), text=text)


def serve_command(data_dir: Path, port: int, cloud_port: int) -> list[str]:
    ports = ["--port", str(port), "--cloud-port", str(cloud_port)]
    return command_line("serve", "--data-dir", str(data_dir), *ports)


def start(data_dir: Path, port: int, cloud_port: int) -> Served:
    process = subprocess.Popen(
        serve_command(data_dir, port, cloud_port),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"ready http://127.0.0.1:{port}\n"
    return Served(data_dir, port, cloud_port, process)


def end(served: Served) -> int:
    assert served.process.stdout is not None
    served.process.send_signal(signal.SIGTERM)
    code = served.process.wait(30)
    served.process.stdout.close()
    return code


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = start(tmp_path_factory.mktemp("service"), free_port(), free_port())
    yield served
    end(served)


@pytest.fixture(autouse=True)
def _no_other_cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The user's own clouds are no part of the tests."""
    for name in [name for name in os.environ if name.startswith("OS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("STOKER_DATA_DIR", str(tmp_path / "default"))

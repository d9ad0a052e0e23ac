"""The examples of resource types that need nothing else are deployed on the local cloud."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tools.type_examples import example

from stoker.resources.base.registry import Registry
from tests.recovery.service import Service

NAMES = (Path(__file__).parents[2] / "tools/deployed_examples.txt").read_text().split()
AT_ONCE = 3
SECONDS = 300

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with its local cloud."""
    running = Service(tmp_path_factory.mktemp("types") / "data")
    running.start()
    yield running
    running.stop()


def test_examples_of_types_deploy_on_the_local_cloud(service: Service, tmp_path: Path) -> None:
    data = ("--data-dir", str(service.data_dir))

    def stoker(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "stoker", *arguments, "--yes", *data]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)

    def deployed(name: str) -> str:
        """Return the output of a deployment that failed, or nothing."""
        type_ = Registry().find(name)
        assert type_ is not None
        file = tmp_path / f"{name.replace('::', '-').lower()}.yaml"
        file.write_text(example(type_))
        done = stoker("deploy", str(file))
        stoker("destroy", file.stem)
        return f"{name}\n{done.stdout}{done.stderr}" if done.returncode else ""

    with ThreadPoolExecutor(AT_ONCE) as threads:
        failed = [output for output in threads.map(deployed, NAMES) if output]
    assert failed == []

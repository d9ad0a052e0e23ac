"""One service, and one scene in it, for all tests of this folder that one worker runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.recovery.service import Service
from tests.rest.scene import Scene, set_scene


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with its local cloud."""
    running = Service(tmp_path_factory.mktemp("service") / "data")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="package")
def scene(service: Service) -> Scene:
    """A stack with one of everything, and people around it."""
    return set_scene(service)

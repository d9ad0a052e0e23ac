"""One service for all tests of this folder that one worker runs, in whatever order it does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.recovery.service import Service


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with its local cloud."""
    running = Service(tmp_path_factory.mktemp("service") / "data")
    running.start()
    yield running
    running.stop()

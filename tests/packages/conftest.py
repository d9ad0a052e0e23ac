"""The packages of this checkout, built once for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.packages import build


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory with the wheels and source distributions."""
    directory = tmp_path_factory.mktemp("dist")
    build(directory)
    return directory

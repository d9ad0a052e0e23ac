"""A recorded Heat for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.takeover.estate import Estate


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    """The recorded Heat, not taken over yet."""
    return Estate(tmp_path)

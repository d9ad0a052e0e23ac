from __future__ import annotations

import pytest
from tests.clouds.fake_cloud import FakeCloud


@pytest.fixture
def cloud() -> FakeCloud:
    return FakeCloud()

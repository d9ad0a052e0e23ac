"""Runs files of slow tests first, so that no core is left with them at the end."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# A busy machine generates inputs slowly, and runs single examples slowly.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# services that run side by side would all ask for the usual one
os.environ.setdefault("STOKER_CFN_PORT", "0")

LONGEST = (
    "tests/recovery/test_kill.py",
    "tests/recovery/test_slow_cloud.py",
    "tests/language/test_bounds.py",
    "tests/simulation/test_sweeps.py",
    "tests/conformance/test_over_http.py",
    "tests/notifications/test_rabbitmq.py",
    "tests/attacks/",
    "tests/cli/",
    "tests/simulation/",
    "tests/bad_input/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files; the tests of a file keep their order."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    found = (n for n, start in enumerate(LONGEST) if item.nodeid.startswith(start))
    return next(found, len(LONGEST))

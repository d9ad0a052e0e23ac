"""Collects tests quickly, and runs files of slow tests first, so that no core is left with them."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# A busy machine generates inputs slowly, and runs single examples slowly.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

# services that run side by side would all ask for the usual one
os.environ.setdefault("STOKER_CFN_PORT", "0")

# A shell starts its jobs in the background with SIGINT ignored, and commands under test inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = (
    "tests/console/",
    "tests/recovery/test_kill.py",
    "tests/examples/",
    "tests/rehearsal/",
    "tests/recovery/",
    "tests/bad_input/",
    "tests/engines/test_turns.py",
    "tests/language/test_bounds.py",
    "tests/simulation/",
    "tests/attacks/",
    "tests/conformance/test_over_http.py",
    "tests/notifications/test_rabbitmq.py",
    "tests/cli/",
    "tests/resource_types_openstack/test_local_services.py",
    "tests/takeover/",
    "local-cloud/tests/fabric/",
    "local-cloud/tests/identity/",
    "local-cloud/tests/shared_file_system/",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, which would only find that all tests are needed."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the files; the tests of a file keep their order."""
    items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    found = (n for n, start in enumerate(LONGEST) if item.nodeid.startswith(start))
    return next(found, len(LONGEST))

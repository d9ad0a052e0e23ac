"""``pytest -p tests.many_engines``: the services of tests share their work with two engines.

Tests of one process on SQLite then test several processes on a PostgreSQL as well.
"""

from __future__ import annotations

import contextlib

import pytest

from tests.postgresql import server
from tests.recovery.service import Service

SETTINGS = ("fsync=off", "max_connections=500")
_running = contextlib.ExitStack()


def pytest_configure() -> None:
    """Start the database."""
    try:
        postgresql = _running.enter_context(server(SETTINGS))
    except pytest.skip.Exception as lacking:
        raise pytest.UsageError(str(lacking)) from None
    Service.new_database = staticmethod(postgresql.new)


def pytest_unconfigure() -> None:
    """End it."""
    _running.close()

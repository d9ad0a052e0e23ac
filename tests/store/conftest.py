"""Databases that the contract of the store is held against."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from tests.postgresql import PostgreSQL, server


@pytest.fixture(scope="package")
def postgresql() -> Iterator[PostgreSQL]:
    """A server of PostgreSQL."""
    with server() as running:
        yield running


@pytest.fixture(scope="package", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a database of each kind, for all tests with the same key."""
    return _new_database(request, tmp_path_factory)


@pytest.fixture(params=["sqlite", "postgresql"])
def own_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """The URL of a database of each kind, for a test with a key of its own."""
    return _new_database(request, tmp_path_factory)


def _new_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'stoker.db'}"
    given = os.environ.get("STOKER_TEST_POSTGRESQL")
    return given or request.getfixturevalue("postgresql").new()

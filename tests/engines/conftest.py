"""Fixtures that tests of many engines share."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.engines.installation import ENGINES, SECONDS, TREE, engines, installation
from tests.postgresql import PostgreSQL, server
from tests.recovery.service import Service, until
from tests.recovery.test_kill import Stack


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with server() as running:
        yield running


@pytest.fixture(scope="module")
def service(postgresql: PostgreSQL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("engines") / "data"
    with installation(data_dir, postgresql.new()) as running:
        yield running


@pytest.fixture
def stack(service: Service, request: pytest.FixtureRequest) -> Stack:
    """A stack that is being created."""
    until(lambda: len(engines(service)) == ENGINES, "all engines run", SECONDS)
    made = Stack(service, f"s{random.randrange(1 << 30)}", TREE, "member.yaml")
    made.create()
    return made

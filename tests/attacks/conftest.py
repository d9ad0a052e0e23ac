"""One arena for the attacks of a module; after a failed one, the next gets a new service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.attacks.arena import Arena

_open: dict[str, Arena] = {}


@pytest.fixture(scope="module")
def _arenas(request: pytest.FixtureRequest) -> Iterator[str]:
    name = request.module.__name__
    yield name
    if name in _open:
        _open.pop(name).close()


@pytest.fixture
def arena(
    _arenas: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Arena]:
    """A service that has survived all attacks so far."""
    if _arenas not in _open:
        _open[_arenas] = Arena.open(tmp_path_factory.mktemp("arena"))
    found = _open[_arenas]
    failed_before = request.session.testsfailed
    yield found
    if request.session.testsfailed > failed_before:
        _open.pop(_arenas).close()

"""A few points of every sweep with every run of the tests; ``make test-long`` plays them all."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator

import pytest

from tests.simulation.stories import STORIES
from tests.simulation.sweep import check, points

FEW = 2
"""Points of each sweep of a story, however long it is."""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_ends_as_it_must_whatever_goes_wrong(story: str) -> None:
    for mode, every in (("kill", 197), ("twice", 307), ("freeze", 257), ("disk", 29)):
        found = list(points(story, [mode], every))
        for point in found[:: -math.ceil(len(found) / FEW)]:
            assert check(point) == [], point.command()

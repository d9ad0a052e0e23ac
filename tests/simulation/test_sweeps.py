"""Two points of every story with every run of the tests; ``make test-long`` plays them all."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.simulation.stories import STORIES
from tests.simulation.sweep import check, points


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


KILLS = ("kill", 197)
OTHERS = (("twice", 307), ("freeze", 257), ("disk", 29))


@pytest.mark.parametrize(("number", "story"), list(enumerate(STORIES)))
def test_a_story_ends_as_it_must_whatever_goes_wrong(number: int, story: str) -> None:
    for mode, every in (KILLS, OTHERS[number % len(OTHERS)]):
        found = list(points(story, [mode], every))
        for point in found[len(found) // 2 :][:1]:  # in the middle most is under way
            assert check(point) == [], point.command()

"""Two points of every story with every run of the tests; ``make test-long`` plays them all."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.stories import STORIES
from tests.simulation.sweep import MODES, check, points


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


KILLS = ("kill", 197)
OTHERS = (("twice", 307), ("freeze", 257), ("disk", 29), ("reads", 13), ("lack", 13))


@pytest.mark.parametrize(("number", "story"), list(enumerate(STORIES)))
def test_story_ends_correctly_despite_a_fault(number: int, story: str) -> None:
    for mode, every in (KILLS, OTHERS[number % len(OTHERS)]):
        found = list(points(story, [mode], every))
        for point in found[len(found) // 2 :][:1]:  # in the middle most is under way
            assert check(point) == [], point.command()


WRONG_ENDS = """
import json, logging, os
from stoker.kernel.values import replace
from tests.simulation.stories import STORIES
from tests.simulation.sweep import check, sweep

logging.disable(logging.CRITICAL)
STORIES["update"] = replace(STORIES["update"], ends=("CREATE_FAILED", "CREATE_COMPLETE"))
swept, alone = {}, {}
for _, findings in sweep(["update"], every=60, processes=1):
    for finding in findings:
        swept.setdefault(str(finding.point), finding.found)
        alone.setdefault(str(finding.point), check(finding.point))
print(json.dumps([swept, alone]), flush=True)
os._exit(0)
"""


def test_point_is_the_same_inside_and_outside_sweep() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRONG_ENDS],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        check=True,
    )
    swept, alone = json.loads(done.stdout)
    assert {*MODES} == {text.split("'")[3] for text in swept}
    assert len(swept) == 3 * 7 + 3
    assert swept == alone

"""Sweeps: a story is played again and again, and each time something goes wrong a turn later.

``kill``: the engine dies; requests that are under way are done late, at once, or never.
``twice``: its successor dies too, a little later. ``freeze``: it was taken for dead, and comes
back. ``disk``: a transaction fails; or it fails but is written; or nothing is written for a while.
"""

from __future__ import annotations

import functools
import logging
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from stoker.kernel.values import replace
from tests.simulation.expectations import differences
from tests.simulation.outcome import Outcome
from tests.simulation.play import run
from tests.simulation.properties import violations
from tests.simulation.scenario import Kill, Scenario
from tests.simulation.stories import STORIES

MODES = ("kill", "twice", "freeze", "disk")
_DISK = ("lost", "unknown", "locked")
_AT_ONCE = 25
"""Points of a sweep that are handed to a process together."""


@dataclass(frozen=True, slots=True)
class Point:
    """One play of a sweep: which story, what goes wrong, and when."""

    story: str
    mode: str
    turn: int

    def command(self) -> str:
        """What plays it again."""
        return (
            f"python -m tests.simulation --sweep {self.story} --mode {self.mode} --turn {self.turn}"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """What was wrong at a point."""

    point: Point
    found: Sequence[str]


def points(story: str, modes: Sequence[str] = MODES, every: int = 1) -> Iterator[Point]:
    """All points of a story's sweeps, or each so-many-th of them."""
    calm = _calm(story)
    for number, mode in enumerate(modes):
        last = calm.writes if mode == "disk" else calm.turns
        for turn in range(1 + number % every, last + 1, every):
            yield Point(story, mode, turn)


def check(point: Point) -> list[str]:
    """What is wrong at a point."""
    story = STORIES[point.story]
    found: list[str] = []
    for scenario in _disturbed(story, point):
        try:
            outcome = run(_seed(point.story), scenario)
            found += [*violations(outcome), *differences(_calm(point.story), outcome)]
            if not outcome.cuts:
                break  # no request was under way: it does not matter what becomes of it
        except Exception:  # noqa: BLE001 - any fault is a finding
            found.append(traceback.format_exc())
        if found:
            break
    return found


def _disturbed(story: Scenario, point: Point) -> Iterator[Scenario]:
    turn = point.turn
    match point.mode:
        case "kill":
            for fate in ("late", "never", "soon"):
                yield replace(story, kills=(Kill(turn, returns=False, fate=fate),))
        case "twice":
            again = Kill(5 + turn * 7 % 40, returns=False, fate="any")
            yield replace(story, kills=(Kill(turn, returns=False, fate="late"), again))
        case "freeze":
            yield replace(story, kills=(Kill(turn, returns=True, fate="any"),))
        case "disk":
            for fault in _DISK:
                yield replace(story, disk={turn - 1: fault})


@functools.cache
def _calm(story: str) -> Outcome:
    return run(_seed(story), STORIES[story].calm)


def _seed(story: str) -> int:
    return sum(map(ord, story))


def sweep(
    stories: Sequence[str], modes: Sequence[str] = MODES, every: int = 1, processes: int = 2
) -> Iterator[tuple[int, list[Finding]]]:
    """Play all points; yields how many were played, and what was found, piece by piece."""
    chosen = [point for story in stories for point in points(story, modes, every)]
    pieces = [chosen[start : start + _AT_ONCE] for start in range(0, len(chosen), _AT_ONCE)]
    if processes == 1:
        for point in chosen:
            yield 1, _check_all([point])
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_quiet) as pool:
        for piece, findings in zip(pieces, pool.map(_check_all, pieces), strict=True):
            yield len(piece), findings


def _quiet() -> None:
    logging.disable(logging.CRITICAL)


def _check_all(piece: Sequence[Point]) -> list[Finding]:
    findings = [Finding(point, check(point)) for point in piece]
    return [finding for finding in findings if finding.found]

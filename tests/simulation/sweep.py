"""Sweeps: a story is played repeatedly, and each time a fault occurs a turn later.

``kill``: the engine dies; requests in flight are done late, immediately, or never. ``twice``: its
successor dies too, a little later. ``freeze``: it was considered dead, and returns. ``disk``: a
transaction fails; or it fails but is written; or nothing is written for a while. ``reads``: the
database fails one reading transaction, other than the first of an engine's start. ``lack``: this
machine has no file descriptor for one call to the cloud.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stoker.kernel.values import replace
from tests.simulation.children import Children
from tests.simulation.expectations import differences
from tests.simulation.outcome import Outcome
from tests.simulation.play import Branch, run
from tests.simulation.properties import violations
from tests.simulation.scenario import Kill, Scenario
from tests.simulation.stories import STORIES

MODES = ("kill", "twice", "freeze", "disk", "reads", "lack")
_DEATHS = ("kill", "twice", "freeze")
_DISK = ("lost", "unknown", "locked")


@dataclass(frozen=True, slots=True)
class Point:
    """One play of a sweep: the story, the fault, and its time."""

    story: str
    mode: str
    turn: int

    def command(self) -> str:
        """Return the command that plays it again."""
        return (
            f"python -m tests.simulation --sweep {self.story} --mode {self.mode} --turn {self.turn}"
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """The violations found at a point."""

    point: Point
    found: Sequence[str]


def points(story: str, modes: Sequence[str] = MODES, every: int = 1) -> Iterator[Point]:
    """All points of a story's sweeps, or each so-many-th of them."""
    calm = _calm(story)
    for number, mode in enumerate(modes):
        many = {"disk": calm.writes, "reads": calm.reads - 1, "lack": calm.calls}
        last = many.get(mode, calm.turns)
        for turn in range(1 + number % every, last + 1, every):
            yield Point(story, mode, turn)


def check(point: Point) -> list[str]:
    """Return the violations found at a point."""
    for scenario in _disturbed(point):
        found, cuts = _played(point.story, scenario)
        # what becomes of requests does not matter if none was under way
        if found or (point.mode == "kill" and not cuts):
            return found
    return []


def _played(story: str, scenario: Scenario, branch: Branch | None = None) -> tuple[list[str], int]:
    """Return the violations in a play, and the number of requests in flight at deaths."""
    try:
        outcome = run(_seed(story), scenario, branch=branch)
        return [*violations(outcome), *differences(_calm(story), outcome)], outcome.cuts
    except Exception:  # noqa: BLE001 - any fault is a finding
        return [traceback.format_exc()], 0


def _disturbed(point: Point) -> Iterator[Scenario]:
    """The plays of a point; but for the first, they matter if requests were under way."""
    story, turn = STORIES[point.story], point.turn
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
        case "reads":
            yield replace(story, read_faults=frozenset({turn}))
        case "lack":
            yield replace(story, lacks=frozenset({turn - 1}))


@functools.cache
def _calm(story: str) -> Outcome:
    return run(_seed(story), STORIES[story].calm)


def _seed(story: str) -> int:
    return sum(map(ord, story))


def sweep(
    stories: Sequence[str],
    modes: Sequence[str] = MODES,
    every: int = 1,
    processes: int = 2,
    only_first: bool = False,
) -> Iterator[tuple[int, list[Finding]]]:
    """Play all points, or stop at the first violation; yield counts and violations."""
    for story in stories:
        for mode in modes:
            if chosen := list(points(story, [mode], every)):
                children: Children[Point] = Children(processes, only_first)
                fork = _fork_at_deaths if mode in _DEATHS else _fork_each
                fork(chosen, children)
                children.join()
                yield len(children.begun), [Finding(*told) for told in children.told]


def _fork_each(chosen: Sequence[Point], children: Children[Point]) -> None:
    for point in chosen:
        if children.fork(point):
            children.end(check(point))


def _fork_at_deaths(chosen: Sequence[Point], children: Children[Point]) -> None:
    """One engine lives to the end, and at each point children die: they have their past from it."""
    at = {point.turn: point for point in chosen}

    def branch(turns: int, waits: bool) -> Sequence[Kill]:
        if (point := at.get(turns)) is not None:
            for number, scenario in enumerate(_disturbed(point)):
                if (waits or number == 0) and children.fork(point):
                    return scenario.kills
        return ()

    found, _ = _played(chosen[0].story, next(_disturbed(chosen[0])), branch)
    if children.is_child:
        children.end(found)
    if found:  # although nothing died
        children.told.append((chosen[0], found))

"""``python -m tests.simulation``: plays many scenarios, and prints failures with their history.

``--seeds N`` draws them; ``--sweep NAME|all`` takes a story and injects a fault at every turn of
it.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
import sys
import time
import traceback
from collections.abc import Iterable, Sequence

from tests.simulation.crew import GUARDS
from tests.simulation.play import play, play_with, run
from tests.simulation.sabotage import RULES
from tests.simulation.scenario import draw
from tests.simulation.stories import STORIES
from tests.simulation.sweep import MODES, Finding, Point, check, sweep


def main() -> int:
    """The exit code: 1 if anything was found."""
    options = parser().parse_args()
    if options.seed is None and options.turn is None:
        logging.disable(logging.CRITICAL)
    if options.histories:
        return _histories(_drawn(options))
    if options.sweep is None:
        return _seeds(options)
    stories = list(STORIES) if options.sweep == "all" else [options.sweep]
    modes = MODES if options.mode is None else (options.mode,)
    if options.turn is not None:
        return _point(Point(stories[0], modes[0], options.turn))
    pieces = sweep(stories, modes, options.every, options.processes, options.first)
    return _sweep(pieces, options.first)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seeds", type=int, default=200, help="how many drawn scenarios")
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first of them")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--histories", action="store_true", help="only tell one history of another")
    parser.add_argument("--without", choices=sorted(RULES), help="switch a durability rule off")
    parser.add_argument("--engines", type=int, default=1, help="so many share the work")
    parser.add_argument("--unguarded", choices=GUARDS, help="of several: switch a guard off")
    parser.add_argument("--sweep", choices=[*STORIES, "all"], help="a story, at every turn")
    parser.add_argument("--mode", choices=MODES, help="only this that goes wrong")
    parser.add_argument("--turn", type=int, help="only at this turn")
    parser.add_argument("--every", type=int, default=1, help="each so-many-th turn")
    parser.add_argument("--first", action="store_true", help="stop when something is found")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser


def _drawn(options: argparse.Namespace) -> Sequence[int]:
    return range(options.start, options.start + options.seeds)


def _seeds(options: argparse.Namespace) -> int:
    seeds = [options.seed] if options.seed is not None else _drawn(options)
    broken, started = 0, time.monotonic()
    sabotage = RULES[options.without] if options.without else None
    for seed in seeds:
        try:
            if options.engines > 1:
                found = play_with(options.engines, seed, sabotage, options.unguarded)
            else:
                found = play(seed, sabotage)
        except Exception:  # noqa: BLE001 - any fault is a finding
            found = [traceback.format_exc()]
        if found:
            broken += 1
            again = f" --without {options.without}" if options.without else ""
            again += f" --engines {options.engines}" if options.engines > 1 else ""
            again += f" --unguarded {options.unguarded}" if options.unguarded else ""
            _tell(f"seed {seed}", found, f"python -m tests.simulation --seed {seed}{again}")
            if options.first:
                break
    print(f"{len(seeds)} scenarios in {time.monotonic() - started:.1f} s, {broken} broken")
    return 1 if broken else 0


def _histories(seeds: Sequence[int]) -> int:
    """Print a digest of each history: the same for the same code, in whatever process."""
    for seed in seeds:
        history = run(seed, draw(seed)).history
        print(seed, hashlib.sha256(history.encode()).hexdigest())
    return 0


def _point(point: Point) -> int:
    found = check(point)
    _tell(str(point), found, point.command())
    return 1 if found else 0


def _sweep(pieces: Iterable[tuple[int, list[Finding]]], only_first: bool) -> int:
    played, broken, started = 0, 0, time.monotonic()
    for many, findings in pieces:
        played += many
        broken += len(findings)
        for each in findings:
            _tell(
                f"{each.point.story}, {each.point.mode} at {each.point.turn}",
                each.found,
                each.point.command(),
            )
        if broken and only_first:
            break
    print(f"{played} points in {time.monotonic() - started:.1f} s, {broken} broken")
    return 1 if broken else 0


def _tell(what: str, found: Sequence[str], again: str) -> None:
    print(f"{what}:")
    print("\n".join(f"  {line}" for line in found))
    print(f"  again: {again}", flush=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # what dead engines held is not to be collected: it would run on
    os._exit(code)

"""``python -m tests.mutants``: makes each fault of the table in a copy, and runs its checks.

First all checks are run once without a fault: they must pass. The exit code is 1 when a fault
survives, or its checks could not be run.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutants.copies import Copy, Verdict
from tests.mutants.table import SIMULATION, Mutant, mutants


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("words", nargs="*", help="only mutants whose names have one of these")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--unchecked", action="store_true", help="trust that all checks pass now")
    parser.add_argument("--table", action="store_true", help="only tell whether it is up to date")
    options = parser.parse_args()
    try:
        chosen = [m for m in mutants() if not options.words or _has(m, options.words)]
    except ValueError as outdated:
        print(outdated)
        return 1
    if options.table:
        return 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(options.processes):
            (root := Path(place) / str(number)).mkdir()
            copies.put(Copy(root))
        with ThreadPoolExecutor(options.processes) as pool:
            if not options.unchecked and not _pass(chosen, copies, pool, options.processes):
                return 1
            survivors = _judge(chosen, copies, pool)
    seconds = time.monotonic() - started
    print(f"{len(chosen)} mutants in {seconds:.0f} s, {len(survivors)} survived")
    return 1 if survivors else 0


def _has(mutant: Mutant, words: Sequence[str]) -> bool:
    return any(word in mutant.name for word in words)


def _pass(
    chosen: Sequence[Mutant],
    copies: queue.SimpleQueue[Copy],
    pool: ThreadPoolExecutor,
    processes: int,
) -> bool:
    """Return whether all checks pass in the tree as it is; report those that do not."""
    checks = sorted({check for mutant in chosen for check in mutant.checks})
    tests = [check for check in checks if not check.startswith(SIMULATION)]
    together = [some for first in range(processes) if (some := tests[first::processes])]
    alone = [[check] for check in checks if check.startswith(SIMULATION)]

    def passes(each: Sequence[str]) -> bool:
        copy = copies.get()
        try:
            passed, told = copy.passes(each)
        finally:
            copies.put(copy)
        if not passed:
            print(f"does not pass without any fault: {' '.join(each)}\n{told}", flush=True)
        return passed is True

    return all(list(pool.map(passes, (*alone, *together))))


def _judge(
    chosen: Sequence[Mutant], copies: queue.SimpleQueue[Copy], pool: ThreadPoolExecutor
) -> list[Mutant]:
    """Judge all mutants, print the table, return the undetected ones."""

    def judge(mutant: Mutant) -> Verdict:
        copy = copies.get()
        try:
            return copy.judge(mutant)
        finally:
            copies.put(copy)

    survivors = []
    width = max((len(mutant.name) for mutant in chosen), default=0)
    for mutant, verdict in zip(chosen, pool.map(judge, chosen), strict=True):
        by = verdict.noticed_by or ("NOBODY KNOWS" if verdict.trouble else "SURVIVED")
        print(f"{mutant.name:{width}}  {verdict.seconds:5.1f} s  {by}", flush=True)
        if verdict.noticed_by is None and verdict.trouble:
            print(verdict.trouble, flush=True)
        if verdict.noticed_by is None:
            survivors.append(mutant)
    return survivors


if __name__ == "__main__":
    sys.exit(main())

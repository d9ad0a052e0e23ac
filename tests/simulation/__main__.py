"""``python -m tests.simulation --seeds N``: plays many scenarios, prints what broke and how."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import traceback

from tests.simulation.play import play
from tests.simulation.sabotage import RULES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seeds", type=int, default=200, help="how many scenarios")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--without", choices=sorted(RULES), help="switch a durability rule off")
    options = parser.parse_args()
    if options.seed is None:
        logging.disable(logging.CRITICAL)
    seeds = [options.seed] if options.seed is not None else range(options.seeds)
    broken, started = 0, time.monotonic()
    sabotage = RULES[options.without] if options.without else None
    for seed in seeds:
        try:
            found = play(seed, sabotage)
        except Exception:  # noqa: BLE001 - any fault is a finding
            found = [traceback.format_exc()]
        if found:
            broken += 1
            again = f" --without {options.without}" if options.without else ""
            print(f"seed {seed}:")
            print("\n".join(f"  {line}" for line in found))
            print(f"  again: python -m tests.simulation --seed {seed}{again}")
    seconds = time.monotonic() - started
    print(f"{len(seeds)} scenarios in {seconds:.1f} s, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # what dead engines held is not to be collected: it would run on
    os._exit(code)

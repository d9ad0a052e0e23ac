"""``python -m bench.compare CHECKOUT``: measures this checkout and another one in turns.

The other checkout is a directory with its own environment (``make setup`` there). They take turns
so that a machine that slows down affects both. The fastest run of each counts; a ratio below 1
means that this checkout is faster. Services are measured by the clients of this checkout. Modules
are compiled once, as in an installation, even if the environment forbids it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
MEASUREMENTS: Sequence[Sequence[str]] = (
    ("evaluate", "1000"),
    ("evaluate", "10000"),
    ("engine", "layers", "100"),
    ("engine", "layers", "1000"),
    ("engine", "layers", "3000"),
    ("engine", "layers", "10000"),
    ("engine", "chain", "200"),
    ("engine", "tree", "100"),
    ("engine", "tree", "1000"),
    ("service", "start", "5"),
    ("service", "web-app"),
    ("service", "servers", "50"),
    ("service", "stacks", "1000"),
    ("service", "slow-keystone", "20"),
    ("service", "big", "10000"),
    ("service", "kill", "100"),
)
SECONDS = 600
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def measured(checkout: Path, measurement: Sequence[str]) -> dict[str, float]:
    """Return the figures of one measurement in one checkout; empty if it failed."""
    python = checkout / ".venv" / "bin" / "python"
    command = [str(python), "-m", f"bench.{measurement[0]}", *measurement[1:]]
    where = HERE if measurement[0] == "service" else checkout
    try:
        done = subprocess.run(
            command,
            cwd=where,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        print(f"{checkout}: {' '.join(measurement)}: {error}", file=sys.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def fastest(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the smallest value of each figure."""
    figures = {name for run in runs for name in run}
    return {name: min(run[name] for run in runs if name in run) for name in sorted(figures)}


def rows(other: Path, measurements: Sequence[Sequence[str]], runs: int) -> Iterator[str]:
    """Yield one line for each figure."""
    yield f"{'measurement':<28}{'figure':<16}{'other':>10}{'this':>10}{'ratio':>8}"
    for measurement in measurements:
        ours, theirs = [], []
        for _ in range(runs):
            theirs.append(measured(other, measurement))
            ours.append(measured(HERE, measurement))
        this, that = fastest(ours), fastest(theirs)
        for name in this:
            before = that.get(name)
            ratio = f"{this[name] / before:8.2f}" if before else f"{'-':>8}"
            shown = "-" if before is None else f"{before:.4g}"
            work = " ".join(measurement)
            yield f"{work:<28}{name:<16}{shown:>10}{this[name]:>10.4g}{ratio}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.compare", description=__doc__)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--runs", type=int, default=3, help="runs of each measurement")
    parser.add_argument("--only", help="measurements that contain this text, as 'engine chain'")
    given = parser.parse_args()
    chosen = [m for m in MEASUREMENTS if given.only is None or given.only in " ".join(m)]
    for row in rows(given.other.resolve(), chosen, given.runs):
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A history is the same in every process: a failure that was seen once can be looked at again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SEEDS = 30


def histories(hash_seed: str) -> list[str]:
    """What each seed leads to, in a process whose sets have an order of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--histories", "--seeds", str(SEEDS)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_the_order_of_sets_changes_no_history() -> None:
    first, second = histories("1"), histories("2")
    assert len(first) == SEEDS
    assert first == second

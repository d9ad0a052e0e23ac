"""A history is the same in every process, so that a failure can be reproduced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def histories(hash_seed: str, seeds: int) -> list[str]:
    """Return the history of each seed, in a process whose sets have another order."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--histories", "--seeds", str(seeds)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("seeds", [12, pytest.param(60, marks=pytest.mark.long)])
def test_order_of_sets_changes_no_history(seeds: int) -> None:
    first, second = histories("1", seeds), histories("2", seeds)
    assert len(first) == seeds
    assert first == second

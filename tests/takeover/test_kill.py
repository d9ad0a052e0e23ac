"""A take-over that is killed at any moment continues, and everything exists exactly once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from bench.takeover import KEY, generate

from stoker.store.opening import OpenStore
from stoker.store.schema import tables
from tests.takeover.small_batches import transfer

RESOURCES = 400


def rows_of(data_dir: Path) -> dict[str, Counter[str]]:
    """The ids in each table that a take-over writes, with their numbers."""
    opened = OpenStore(None, data_dir, KEY)
    try:
        with opened.database.connect() as connection:
            return {
                table.name: Counter(connection.execute(sa.select(key)).scalars())
                for table, key in (
                    (tables.stacks, tables.stacks.c.id),
                    (tables.inputs, tables.inputs.c.id),
                    (tables.resources, tables.resources.c.id),
                    (tables.events, tables.events.c.id),
                    (tables.trusts, tables.trusts.c.trust_id),
                    (tables.takeovers, tables.takeovers.c.stack_id),
                    (tables.contents, tables.contents.c.hash),
                )
            }
    finally:
        opened.close()


@contextmanager
def running(url: str, data_dir: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that takes over; it is killed at the end of the block."""
    command = [sys.executable, "-m", "tests.takeover.small_batches", url, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        try:
            yield process
        finally:
            process.kill()


def survives(directory: Path, kills: int, seed: int) -> None:
    """Kill passes at random moments, and compare the result with that of a pass without kills."""
    url = generate(directory / "heat.db", RESOURCES)
    started = time.monotonic()
    assert transfer(url, directory / "whole").written == RESOURCES // 10
    duration = time.monotonic() - started
    expected = rows_of(directory / "whole")
    assert all(set(found.values()) == {1} for found in expected.values())
    moments, round_ = random.Random(seed), 0
    data_dir = directory / "killed-0"
    for _ in range(kills):
        with running(url, data_dir) as process:
            try:
                # The duration is a bound on the moments, not on the test.
                process.wait(moments.uniform(0, duration))
            except subprocess.TimeoutExpired:
                continue
        assert process.returncode == 0
        assert rows_of(data_dir) == expected
        round_ += 1
        data_dir = directory / f"killed-{round_}"
    transfer(url, data_dir)
    assert rows_of(data_dir) == expected


def test_killed_takeover_continues(tmp_path: Path) -> None:
    survives(tmp_path, kills=10, seed=1)


@pytest.mark.long
def test_takeover_survives_fifty_kills(tmp_path: Path) -> None:
    survives(tmp_path, kills=50, seed=2)

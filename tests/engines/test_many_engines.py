"""Processes that share the work on a PostgreSQL: some of them die, hang, or lose the database."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.installation import (
    ENGINES,
    MEMBERS,
    SECONDS,
    TREE,
    check,
    engines,
    installation,
    networks,
    signal_it,
    up,
)
from tests.postgresql import PostgreSQL
from tests.recovery.service import Service, until
from tests.recovery.test_kill import Stack


def test_ready_service_lists_all_engines(service: Service) -> None:
    assert len({engine["engine_id"] for engine in up(service)}) >= ENGINES


def test_stacks_of_killed_engine_are_driven_by_others(stack: Stack) -> None:
    time.sleep(random.uniform(0.2, 2.5))
    os.kill(random.choice(engines(stack.service)).pid, signal.SIGKILL)
    check(stack)


def test_stopping_engine_hands_its_stacks_over(stack: Stack) -> None:
    time.sleep(random.uniform(0.5, 2.5))
    log = len(stack.service.log())
    os.kill(engines(stack.service)[0].pid, signal.SIGTERM)
    check(stack)
    assert "turn taken over" not in stack.service.log()[log:]


def test_new_encryption_key_reaches_every_engine(stack: Stack) -> None:
    service = stack.service

    def keys(command: str, *options: str) -> subprocess.CompletedProcess[str]:
        stoker = str(Path(sys.executable).parent / "stoker")
        arguments = [stoker, "db", command, *options, "--data-dir", str(service.data_dir)]
        environment = {**os.environ, **service.environment}
        return subprocess.run(arguments, env=environment, capture_output=True, text=True)

    assert keys("rotate-key").returncode == 0
    check(stack)
    until(lambda: keys("keys").returncode == 0, "the earlier key is needed no more", SECONDS)
    forgotten = keys("forget-keys", "--yes")
    assert forgotten.returncode == 0, forgotten.stderr
    later = Stack(service, "later", TREE, "member.yaml")
    later.create()
    check(later)


@pytest.mark.long
def test_service_stops_despite_frozen_engine(postgresql: PostgreSQL, tmp_path: Path) -> None:
    with installation(tmp_path / "data", postgresql.new()) as service:
        still = engines(service)[0].pid
        os.kill(still, signal.SIGSTOP)
    assert not Path(f"/proc/{still}").exists()


@pytest.mark.long
def test_frozen_engine_repeats_nothing_after_its_lease(stack: Stack) -> None:
    time.sleep(random.uniform(0.2, 2.5))
    asleep = engines(stack.service)[0]
    os.kill(asleep.pid, signal.SIGSTOP)
    time.sleep(8)
    os.kill(asleep.pid, signal.SIGCONT)
    check(stack)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.0, 10.0, 30.0])
def test_database_outage_loses_nothing(
    stack: Stack, postgresql: PostgreSQL, seconds: float
) -> None:
    time.sleep(random.uniform(0.2, 2.5))
    postgresql.stop()
    time.sleep(seconds)
    postgresql.start()
    check(stack)


@pytest.mark.long
def test_stacks_complete_while_engines_are_killed(service: Service) -> None:
    begun = [Stack(service, f"many{number}", TREE, "member.yaml") for number in range(3)]
    for stack in begun:
        stack.create()
    until_done(lambda: all(stack.status() == "CREATE_COMPLETE" for stack in begun), service, begun)
    for stack in begun:
        assert networks(stack) == MEMBERS
        stack.delete()
    for stack in begun:
        stack.await_gone()
        assert networks(stack) == 0


def until_done(claim: Callable[[], bool], service: Service, stacks: list[Stack]) -> None:
    for _ in range(8):
        time.sleep(random.uniform(0.5, 4.0))
        if alive := engines(service):
            os.kill(random.choice(alive).pid, signal.SIGKILL)
    for stack in stacks:
        signal_it(stack)
    until(claim, "all are done", 2 * SECONDS)

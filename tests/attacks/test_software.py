"""Reads of software configs that are as large as may be."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks.arena import Arena
from tests.isolation.people import Person


def deploy(person: Person, server: str, size: int, times: int) -> None:
    """Deploy one config of ``size`` bytes to a server, ``times`` times."""
    body = {"name": "large", "config": os.urandom(size // 2).hex()}
    config = person.ask("POST", "/software_configs", body).json()["software_config"]["id"]
    for _ in range(times):
        deployment = {"config_id": config, "server_id": server, "status": "COMPLETE"}
        answer = person.ask("POST", "/software_deployments", deployment)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(("size", "times", "status"), [(16_000_000, 40, 400), (8_000_000, 1, 200)])
def test_slow_reads_of_project_delay_no_other(
    arena: Arena, size: int, times: int, status: int
) -> None:
    deploy(arena.attacker, f"server-{times}", size, times)
    path = f"/software_deployments/metadata/server-{times}"
    # Each of several threads holds the interpreter's lock for some 25 ms at a time, while it
    # decodes or encodes one text of this size. The loop gets its turn after a few of them.
    limits = arena.attacked(mebibytes=500, seconds=90, pause=0.5)
    with limits as attacker, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: attacker.ask("GET", path).status_code, range(16)))
    # reads that take longer than a request may wait are refused for now, those of others are not
    assert set(answers) <= {status, 503}, Counter(answers)
    assert answers.count(status) >= 4, Counter(answers)

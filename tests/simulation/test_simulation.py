"""A few scenarios with every run of the tests; ``make simulate`` plays many more."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from stoker.store.write import room
from tests.simulation.play import play
from tests.simulation.sabotage import RULES
from tests.simulation.world import DifferenceError

SEEDS = 40
SABOTAGED_SEEDS = 120
# Seeds that have detected one of the faults lately: the first to be tried.
LATELY_NOTICED = (3, 22, 6, 4, 55, 100)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.ERROR)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_property_holds_whatever_dies(seed: int) -> None:
    assert play(seed) == [], f"again: python -m tests.simulation --seed {seed}"


@pytest.mark.parametrize("seed", range(SEEDS, SEEDS + 10))
def test_every_property_holds_if_steps_wait(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # A scenario has too few resources for the real limits.
    for limit in ("MAX_WAITING", "STARTS_PER_TURN"):
        monkeypatch.setattr(room, limit, 1)
    assert play(seed) == []


@pytest.mark.parametrize("rule", sorted(RULES))
def test_simulation_detects_disabled_durability_rules(rule: str) -> None:
    for seed in (*LATELY_NOTICED, *range(SABOTAGED_SEEDS)):
        try:
            found = play(seed, RULES[rule])
        except (Exception, DifferenceError):  # noqa: BLE001 - a broken rule may break the engine
            return
        if found:
            return
    pytest.fail(f"{SABOTAGED_SEEDS} scenarios without the rule {rule}, and nothing was amiss")

"""Pauses between attempts."""

from __future__ import annotations

from itertools import islice

from stoker.kernel.backoff import Backoff


def test_pauses_grow_up_to_limit() -> None:
    assert [*islice(Backoff(0.5, 3.0), 4)] == [0.5, 1.0, 2.0, 3.0]
    assert Backoff(0.25, 5.0, growth=1.5).pause(1) == 0.375


def test_pause_after_thousands_of_attempts_is_longest() -> None:
    assert Backoff(0.5, 3.0).pause(5000) == 3.0

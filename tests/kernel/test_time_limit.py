"""Computing ends when its time is up; waiting does not count."""

from __future__ import annotations

import time

import pytest

from stoker.kernel.errors import LimitExceededError
from stoker.kernel.time_limit import check, limited


def compute(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        check()


def test_slow_work_is_stopped_with_its_limit() -> None:
    with pytest.raises(LimitExceededError, match=r"more than 0\.02 s"), limited(0.02):
        compute(5)


def test_time_that_is_waited_does_not_count() -> None:
    with limited(0.05):
        for _ in range(3):
            time.sleep(0.04)
            check()
        with pytest.raises(LimitExceededError):
            compute(5)


def test_inner_limit_leaves_outer_limit_unchanged() -> None:
    with limited(0.02):
        with limited(60):
            check()
        with pytest.raises(LimitExceededError, match=r"more than 0\.02 s"):
            compute(5)


def test_without_a_limit_nothing_is_stopped() -> None:
    with limited(0.01):
        pass
    compute(0.03)

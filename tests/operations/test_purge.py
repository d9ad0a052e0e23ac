"""The scheduled purge of old rows, step by step, as the options say."""

from __future__ import annotations

from stoker.server.purge import DAY, RetentionJob


class Clock:
    def now(self) -> float:
        return 1_000 * DAY


class Pile:
    """A pile of purge steps, and the times for which they were taken."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.before: list[float] = []

    async def step(self, before: float) -> int:
        self.before.append(before)
        self.steps -= 1
        return max(self.steps + 1, 0)


async def test_purge_removes_old_rows_step_by_step() -> None:
    pile = Pile(2)
    await RetentionJob(Clock(), [(pile.step, 90)]).once()
    assert pile.before == [910 * DAY] * 3


async def test_purge_skips_rows_kept_for_ever() -> None:
    pile = Pile(2)
    await RetentionJob(Clock(), [(pile.step, -1)]).once()
    assert pile.before == []

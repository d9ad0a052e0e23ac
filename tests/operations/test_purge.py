"""What is old is purged by itself, in bites, as the options say."""

from __future__ import annotations

from stoker.server.purge import DAY, RetentionJob


class Clock:
    def now(self) -> float:
        return 1_000 * DAY


class Pile:
    """So many bites, and the times for which they were taken."""

    def __init__(self, bites: int) -> None:
        self.bites = bites
        self.before: list[float] = []

    async def bite(self, before: float) -> int:
        self.before.append(before)
        self.bites -= 1
        return max(self.bites + 1, 0)


async def test_all_that_is_older_than_the_days_is_taken_bite_by_bite() -> None:
    pile = Pile(2)
    await RetentionJob(Clock(), [(pile.bite, 90)]).once()
    assert pile.before == [910 * DAY] * 3


async def test_what_is_kept_for_ever_is_not_looked_for() -> None:
    pile = Pile(2)
    await RetentionJob(Clock(), [(pile.bite, -1)]).once()
    assert pile.before == []

"""The time, as everything in the cloud sees it; tests put another clock in its place."""

import asyncio
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def now(self) -> datetime:
        """Return the present time in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Return after this time."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Return after this time."""
        await asyncio.sleep(seconds)


def micro(moment: str | None) -> str | None:
    """Return a time of documents as parts of the compute API show it; None for none."""
    return None if moment is None else moment.rstrip("Z") + ".000000"


def timestamp(moment: datetime) -> str:
    """Return the moment as documents hold it: ``YYYY-MM-DDTHH:MM:SSZ``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

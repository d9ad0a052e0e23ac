"""What the driver knows of a running operation, whatever its kind."""

from __future__ import annotations

from typing import Protocol

from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.records import Operation


class Running(Protocol):
    """One operation under way. A stop (of ``waiting``) leaves it open: it may go on later."""

    operation: Operation
    """As it was last committed."""
    waiting: Waiting

    async def prepare(self) -> None:
        """Find out what ``run`` needs to know; cut off when the operation's time is up.

        Raises DiagnosticError and Refused for what ends the operation as failed.
        """

    async def run(self) -> None:
        """Take the operation to its end, and commit that."""

    async def expire(self, reason: str) -> None:
        """The operation's time is up."""
        self.waiting.expire(reason)

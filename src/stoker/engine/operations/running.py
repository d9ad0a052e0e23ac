"""The driver's interface to a running operation of any kind."""

from __future__ import annotations

from typing import Protocol

from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.records import Operation


class Running(Protocol):
    """One operation in progress. A stop (of ``waiting``) leaves it open: it may continue later."""

    operation: Operation
    """As it was last committed."""
    waiting: Waiting

    async def prepare(self) -> None:
        """Collect the facts for ``run``; aborted when the operation's time is up.

        Raises DiagnosticError and Refused, which end the operation as failed.
        """

    async def run(self) -> None:
        """Take the operation to its end, and commit that."""

    async def expire(self, reason: str) -> None:
        """The operation's time is up."""
        self.waiting.expire(reason)

"""Cron triggers: executions that start at certain times."""

import asyncio
import importlib
import logging
from datetime import UTC, datetime
from functools import cache
from typing import Any

from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.web.http import ApiError, BadRequestError
from localcloud.workflow.engine.execution_starter import ExecutionStarter
from localcloud.workflow.model.state import State

_LOG = logging.getLogger(__name__)
FORMAT = "%Y-%m-%d %H:%M:%S"
_TICK = 1.0
_YEARS = 5  # until the next start at the latest


@cache
def _croniter() -> Any:
    return importlib.import_module("croniter").croniter


def check_pattern(pattern: str) -> None:
    """Raise BadRequestError for an invalid cron pattern."""
    try:
        next_time(pattern, datetime.now(UTC))
    except (ValueError, KeyError, ArithmeticError) as error:
        raise BadRequestError(f"The specified pattern is not valid: {pattern}") from error


def next_time(pattern: str, now: datetime) -> str:
    """Return the next time of a cron pattern; raises ValueError."""
    found: datetime = _croniter()(pattern, now, max_years_between_matches=_YEARS).get_next(datetime)
    return found.strftime(FORMAT)


class Cron:
    """Starts the executions of cron triggers."""

    def __init__(self, state: State, trusts: Trusts, starts: ExecutionStarter) -> None:
        self._state = state
        self._trusts = trusts
        self._starts = starts
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Check the time regularly until there are no triggers."""
        if len(self._state.cron_triggers) and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop checking the time."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while len(self._state.cron_triggers):
            self.fire_due()
            await self._state.cloud.clock.sleep(_TICK)

    def fire_due(self) -> None:
        """Start due executions.

        A trigger that missed several times while the cloud was stopped starts one execution.
        """
        now = self._state.cloud.clock.now().strftime(FORMAT)
        for trigger in self._state.cron_triggers.values():
            if trigger["next_execution_time"] <= now:
                self._fire(trigger)

    def _fire(self, trigger: Document) -> None:
        remaining = trigger["remaining_executions"]
        left = None if remaining is None else remaining - 1
        store = self._state.cloud.store
        with store.transaction():
            # The count is stored before the start: after a crash one execution is missing, which is
            # better than a second one.
            if left == 0 or trigger["pattern"] is None:
                self._state.cron_triggers.delete(trigger["id"])
            else:
                now = self._state.cloud.clock.now()
                coming = next_time(trigger["pattern"], now)
                fields = {"remaining_executions": left, "next_execution_time": coming}
                self._state.cron_triggers.put({**trigger, **fields})
        try:
            description = f"Workflow execution created by cron trigger '{trigger['name']}'."
            self._starts.triggered(trigger, description, {})
        except ApiError as error:
            _LOG.warning("cron trigger %s started no execution: %s", trigger["name"], error.message)
        if self._state.cron_triggers.get(trigger["id"]) is None:
            self._trusts.remove(trigger["trust_id"])

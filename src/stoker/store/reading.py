"""Group read: reads that become ready together share a thread and a transaction.

To change threads and to begin and end a transaction costs more than most reads, and the drivers
of nested stacks ask much the same at the same time. Each read is a transaction of its own all the
same: none sees what another one does, and the failure of one is its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreFault
from stoker.store.databases import for_reading
from stoker.store.encryption import Cipher
from stoker.store.faults import database_faults
from stoker.store.runners import Runner

Result = TypeVar("Result")

_AT_ONCE = 20
"""Reads that share a transaction; more are spread over the threads."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A read, and who waits for it."""

    query: Callable[[sa.Connection], Any]
    done: asyncio.Future[Any]


Verdict = tuple[Any, Exception | None]
"""What came of a read: a result, or why there is none."""


class Reading:
    """Reads from a relational database."""

    def __init__(self, engine: sa.Engine, cipher: Cipher, runner: Runner) -> None:
        self._engine = for_reading(engine)
        self._cipher = cipher
        self._runner = runner
        self._pending: list[_Entry] = []
        self._running: set[asyncio.Task[None]] = set()

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        loop = asyncio.get_running_loop()
        entry = _Entry(query, loop.create_future())
        if not self._pending:
            # everyone who is ready in this turn of the loop joins
            loop.call_soon(self._start)
        self._pending.append(entry)
        result: Result = await entry.done
        return result

    def _start(self) -> None:
        pending, self._pending = self._pending, []
        for begin in range(0, len(pending), _AT_ONCE):
            task = asyncio.ensure_future(self._run(pending[begin : begin + _AT_ONCE]))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, group: Sequence[_Entry]) -> None:
        def transaction() -> list[Verdict]:
            try:
                return self._together(group)
            except Exception:  # noqa: BLE001 - told to the one whose read it is
                return [self._alone(entry) for entry in group]

        try:
            verdicts = await self._runner.read(transaction)
        except Exception as error:  # noqa: BLE001 - everyone who waits must hear of it
            verdicts = [(None, error)] * len(group)
        for entry, (result, refused) in zip(group, verdicts, strict=True):
            if entry.done.done():
                continue
            if refused is None:
                entry.done.set_result(result)
            else:
                entry.done.set_exception(refused)

    def _together(self, group: Sequence[_Entry]) -> list[Verdict]:
        with database_faults(), self._engine.connect() as connection:
            return [_looked(connection, entry) for entry in group]

    def _alone(self, entry: _Entry) -> Verdict:
        try:
            [verdict] = self._together([entry])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return None, error
        return verdict


def _looked(connection: sa.Connection, entry: _Entry) -> Verdict:
    try:
        return entry.query(connection), None
    except (StoreFault, sa.exc.SQLAlchemyError, OSError):
        raise  # nothing more can be read in this transaction
    except Exception as error:  # noqa: BLE001 - it is told to whoever asked
        return None, error

"""Group read: reads that become ready together share a thread and a transaction.

To change threads and to begin and end a transaction costs more than most reads, and the drivers
of nested stacks ask much the same at the same time. Each read stands alone all the same: none sees
what another one does, and the failure of one is its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.interfaces import StoreFault
from stoker.store.databases import for_reading, of_one_moment
from stoker.store.encryption import Cipher
from stoker.store.faults import database_faults
from stoker.store.patience import in_time
from stoker.store.prepared import RowsOf
from stoker.store.runners import Runner

Result = TypeVar("Result")

_AT_ONCE = 20
"""Reads that share a connection; more are spread over the threads."""
_GROUPS = 4
"""That are under way together, as there are threads: what comes meanwhile waits for one of these,
and is one group then."""
Rows = Sequence[Mapping[str, Any]]


class _Entry(Struct, frozen=True):
    """A read, and who waits for it."""

    query: Callable[..., Any]
    """Takes the connection, and the rows of each of ``asked``."""
    done: asyncio.Future[Any]
    asked: tuple[RowsOf, ...] = ()
    """What is found together with what others ask for."""
    owner: str = ""


Verdict = tuple[Any, Exception | None]
"""What came of a read: a result, or why there is none."""


class Reading:
    """Reads from a relational database."""

    def __init__(self, engine: sa.Engine, cipher: Cipher, runner: Runner) -> None:
        self._engine = engine
        self._cipher = cipher
        self._runner = runner
        self._statements = GroupRead(for_reading(engine), runner)
        self._moments = GroupRead(of_one_moment(engine), runner)

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        """What one statement finds."""
        return await self._statements.read(query)

    async def _read_rows(
        self, asked: RowsOf, owner: str, query: Callable[[sa.Connection, Rows], Result]
    ) -> Result:
        """What a query makes of the rows of one of many things."""
        return await self._statements.read(query, (asked,), owner)

    async def _read_of_one_moment(self, query: Callable[[sa.Connection], Result]) -> Result:
        """What several statements find, all of one moment."""
        return await self._moments.read(query)

    async def _read_rows_of_one_moment(
        self, asked: tuple[RowsOf, ...], owner: str, query: Callable[..., Result]
    ) -> Result:
        """What a query makes of several kinds of rows of one of many things."""
        return await self._moments.read(query, asked, owner)


class GroupRead:
    """Reads that become ready together."""

    def __init__(self, engine: sa.Engine, runner: Runner) -> None:
        self._engine = engine
        self._runner = runner
        self._pending: list[_Entry] = []
        self._running: set[asyncio.Task[None]] = set()

    async def read(
        self, query: Callable[..., Result], asked: tuple[RowsOf, ...] = (), owner: str = ""
    ) -> Result:
        """What the query finds, given the connection and the rows of what is asked."""
        loop = asyncio.get_running_loop()
        entry = _Entry(query, loop.create_future(), asked, owner)
        if not self._pending:
            # everyone who is ready in this turn of the loop joins
            loop.call_soon(self._start)
        self._pending.append(entry)
        result: Result = await in_time(entry.done)
        return result

    def _start(self) -> None:
        while self._pending and len(self._running) < _GROUPS:
            group, self._pending = self._pending[:_AT_ONCE], self._pending[_AT_ONCE:]
            task = asyncio.ensure_future(self._run(group))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._start()

    async def _run(self, group: list[_Entry]) -> None:
        def transaction() -> list[Verdict]:
            # while the database does not answer, reads wait here for threads
            group[:] = [entry for entry in group if not entry.done.done()]
            try:
                return self._together(group)
            except StoreFault:
                raise
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
        with database_faults():
            try:
                return self._look(group)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                # perhaps the server was started anew: the next connection is to the new one
                return self._look(group)

    def _look(self, group: Sequence[_Entry]) -> list[Verdict]:
        if not group:
            return []
        owners: dict[RowsOf, set[str]] = {}
        for entry in group:
            for each in entry.asked:
                owners.setdefault(each, set()).add(entry.owner)
        with self._engine.connect() as connection:
            rows = {each: each.find(connection, some) for each, some in owners.items()}
            return [
                _looked(connection, entry, [rows[each][entry.owner] for each in entry.asked])
                for entry in group
            ]

    def _alone(self, entry: _Entry) -> Verdict:
        try:
            [verdict] = self._together([entry])
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            return None, error
        return verdict


def _looked(connection: sa.Connection, entry: _Entry, rows: Sequence[Rows]) -> Verdict:
    try:
        return entry.query(connection, *rows), None
    except (StoreFault, sa.exc.SQLAlchemyError, OSError):
        raise  # nothing more can be read in a transaction, if there is one
    except Exception as error:  # noqa: BLE001 - it is told to whoever asked
        return None, error

"""Group read: reads that become ready together share a thread and a transaction.

A change of threads and a transaction cost more than most reads, and the drivers of nested stacks
read almost the same rows at the same time. The reads are independent: each has its own result or
error.

A group has reads of one project, and a project has few groups at a time, so that slow reads of one
project do not delay another. A read ends when no request waits for its result any longer, for
instance after the time limit of a request.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from typing import Any, TypeVar

import sqlalchemy as sa
from msgspec import Struct, field

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.time_limit import project
from stoker.store.read.abandoned import (
    AbandoningCipher,
    ReadAbandonedError,
    Statements,
    while_wanted,
)
from stoker.store.sql.compiled import RowsOf
from stoker.store.sql.databases import for_reading, of_one_moment
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.runners import READERS_OF_ONE_PROJECT, Runner
from stoker.store.sql.transactions import database_faults, in_time

Result = TypeVar("Result")

_AT_ONCE = 20  # reads that share a connection; more are spread over the threads
# Running groups of a project. Reads that arrive meanwhile wait for one of them, and form one group
# then.
_GROUPS = READERS_OF_ONE_PROJECT
_CANCEL_AGAIN_SECONDS = 0.2
Rows = Sequence[Mapping[str, Any]]


class _Entry(Struct, frozen=True, eq=False):
    """A read, and the future of its caller."""

    query: Callable[..., Any]  # takes the connection, and the rows of each query in `batched`
    done: asyncio.Future[Any]
    # Rows that are found in one statement with those of other reads.
    batched: tuple[RowsOf, ...] = ()
    owner: str = ""

    def is_wanted(self) -> bool:
        """Return True while a caller waits for the result. Thread-safe."""
        return not self.done.done()


class _Group(Struct, frozen=True, eq=False):
    """Reads that share a connection."""

    entries: list[_Entry]
    statements: Statements = field(default_factory=Statements)

    def is_wanted(self) -> bool:
        """Return True while a caller waits for any of the results."""
        return any(entry.is_wanted() for entry in self.entries)


Verdict = tuple[Any, Exception | None]  # the result of a read, or its error


class Reading:
    """Reads from a relational database."""

    def __init__(self, engine: sa.Engine, cipher: Cipher, runner: Runner) -> None:
        self._engine = engine
        self._cipher: Cipher = AbandoningCipher(cipher)
        self._runner = runner
        self._statements = GroupRead(for_reading(engine), runner)
        self._moments = GroupRead(of_one_moment(engine), runner)

    async def _read(self, query: Callable[[sa.Connection], Result]) -> Result:
        """Return the result of one statement."""
        return await self._statements.read(query)

    async def _read_rows(
        self, batched: RowsOf, owner: str, query: Callable[[sa.Connection, Rows], Result]
    ) -> Result:
        """Return the result of a query on the rows of one of many owners."""
        return await self._statements.read(query, (batched,), owner)

    async def _read_rows_of_one_moment(
        self, batched: tuple[RowsOf, ...], owner: str, query: Callable[..., Result]
    ) -> Result:
        """Return the result of a query on several kinds of rows of one owner, in one snapshot."""
        return await self._moments.read(query, batched, owner)


class GroupRead:
    """Reads that become ready together."""

    def __init__(self, engine: sa.Engine, runner: Runner) -> None:
        self._engine = engine
        self._runner = runner
        self._pending: OrderedDict[str, list[_Entry]] = OrderedDict()  # by project
        self._running: dict[asyncio.Task[None], tuple[str, _Group]] = {}
        self._is_starting = False

    async def read(
        self, query: Callable[..., Result], batched: tuple[RowsOf, ...] = (), owner: str = ""
    ) -> Result:
        """Return the result of the query, called with the connection and the ``batched`` rows."""
        loop = asyncio.get_running_loop()
        entry = _Entry(query, loop.create_future(), batched, owner)
        if not self._is_starting:
            # All reads that are ready in this turn of the loop join the first group.
            self._is_starting = True
            loop.call_soon(self._start)
        self._pending.setdefault(project.get(), []).append(entry)
        try:
            result: Result = await in_time(entry.done)
        finally:
            if entry.done.cancelled():
                self._abandon(entry)
        return result

    def _abandon(self, entry: _Entry) -> None:
        """Cancel the group of an abandoned read, unless another of its reads is awaited."""
        for _, group in self._running.values():
            if entry in group.entries and not group.is_wanted():
                self._cancel(group)

    def _cancel(self, group: _Group) -> None:
        """Cancel the statements of a group until it has ended: one may be about to start."""
        if not any(each is group for _, each in self._running.values()):
            return
        if group.statements.is_cancellable:
            # A thread of its own, since a database that hangs keeps it: other requests need the
            # threads of the event loop.
            threading.Thread(target=group.statements.cancel, daemon=True).start()
        asyncio.get_running_loop().call_later(_CANCEL_AGAIN_SECONDS, self._cancel, group)

    def _start(self) -> None:
        self._is_starting = False
        for project_id in list(self._pending):
            entries = self._pending.pop(project_id)
            running = sum(of == project_id for of, _ in self._running.values())
            while entries and running < _GROUPS:
                group, entries = _Group(entries[:_AT_ONCE]), entries[_AT_ONCE:]
                context = copy_context()
                context.run(project.set, project_id)
                task = asyncio.get_running_loop().create_task(self._run(group), context=context)
                self._running[task] = project_id, group
                task.add_done_callback(self._ended)
                running += 1
            if entries:
                self._pending[project_id] = entries

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._start()

    async def _run(self, group: _Group) -> None:
        entries = group.entries

        def transaction() -> list[Verdict]:
            # Drop abandoned reads. Reads wait long for a thread while the database does not
            # respond.
            entries[:] = [entry for entry in entries if entry.is_wanted()]
            try:
                with while_wanted(group.is_wanted):
                    return self._together(group)
            except StoreError:
                raise
            except Exception:  # noqa: BLE001 - the read that caused it gets it
                return [self._alone(entry) for entry in entries]

        try:
            verdicts = await self._runner.read(transaction)
        except Exception as error:  # noqa: BLE001 - all waiting callers must get it
            verdicts = [(None, error)] * len(entries)
        for entry, (result, refused) in zip(entries, verdicts, strict=True):
            if entry.done.done():
                continue
            if refused is None:
                entry.done.set_result(result)
            else:
                entry.done.set_exception(refused)

    def _together(self, group: _Group) -> list[Verdict]:
        with database_faults():
            try:
                return self._read_group(group)
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated or not group.is_wanted():
                    raise
                # The server may have been restarted. The next connection reaches the new one.
                return self._read_group(group)

    def _read_group(self, group: _Group) -> list[Verdict]:
        if not group.entries:
            return []
        owners: dict[RowsOf, set[str]] = {}
        for entry in group.entries:
            for each in entry.batched:
                owners.setdefault(each, set()).add(entry.owner)
        with self._engine.connect() as connection, group.statements.on(connection):
            rows = {each: each.find(connection, some) for each, some in owners.items()}
            return [
                _looked(connection, entry, [rows[each][entry.owner] for each in entry.batched])
                for entry in group.entries
            ]

    def _alone(self, entry: _Entry) -> Verdict:
        try:
            [verdict] = self._together(_Group([entry]))
        except Exception as error:  # noqa: BLE001 - the waiting caller must get it
            return None, error
        return verdict


def _looked(connection: sa.Connection, entry: _Entry, rows: Sequence[Rows]) -> Verdict:
    try:
        with while_wanted(entry.is_wanted):
            return entry.query(connection, *rows), None
    except ReadAbandonedError as error:
        return None, error
    except (StoreError, sa.exc.SQLAlchemyError, OSError):
        raise  # a transaction cannot be read from after such an error
    except Exception as error:  # noqa: BLE001 - the caller gets it
        return None, error

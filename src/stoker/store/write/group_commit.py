"""Group commit: changes that become ready together share a transaction.

Changes that arrive during a transaction go into the next one. So the cost of a commit is paid once
for all changes that become ready in one turn of the loop.

While several projects write, transactions are short and shared between them, so that no project
waits for all changes of another one. Projects with few recent changes have priority, in
transactions of their own. Their next change depends on the previous one, so the other projects
pause shortly for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from operator import attrgetter
from typing import Any, TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, Observer, StoreError
from stoker.engine.model.records import AcquiredStack
from stoker.kernel.time_limit import project
from stoker.store.ownership.acquire import AcquireRequest, Defer, acquire_open
from stoker.store.ownership.fair_share import RateTracker
from stoker.store.records.outbox import SqlOutbox
from stoker.store.sql.databases import for_writing
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import DatabaseTimeoutError, in_time, in_transaction
from stoker.store.write.change_writer import write
from stoker.store.write.room import Room

_LATELY = 1.0  # seconds for which the duration of a transaction predicts that of the next one

# Recent changes up to which a project has priority. It may add this many per second.
LOW_VOLUME = 100
# Other projects wait for the next change of a priority project for this time.
FOLLOWUP_WAIT_SECONDS = 0.01
# Priority without a break. Then the other projects write for as long.
PRIORITY_SECONDS = 0.1
MAX_CHANGES = 256  # of one transaction, because the next one waits for it
MAX_CHANGES_OF_PROJECT = 16  # in a transaction while other projects write as well

Result = TypeVar("Result")

_Job = Change | AcquireRequest | Callable[[sa.Connection], Any]


@dataclass(slots=True)
class _Entry:
    """A change, the acquisition of a stack, or work that writes, with the future of its caller."""

    job: _Job
    done: asyncio.Future[Any]
    since: float
    # Set once the caller got this error; the entry is dropped if it has not started.
    too_late: DatabaseTimeoutError | None = None


class _RehearsedError(Exception):
    """The transaction must be rolled back."""


_SINCE = attrgetter("since")

# The result of an entry, or the error if nothing was written.
Verdict = tuple[Any, Exception | None]


class GroupCommit:
    """Writes changes, one transaction at a time."""

    def __init__(
        self,
        engine: sa.Engine,
        cipher: Cipher,
        runner: Runner,
        *,
        notifies: bool,
        defer: Defer | None = None,
    ) -> None:
        self._engine = for_writing(engine)
        self._cipher = cipher
        self._runner = runner
        self._defer = defer
        self.outbox = SqlOutbox(engine, cipher, runner, notifies=notifies)
        # By project, empty if unknown; the first is served next.
        self._pending: dict[str, deque[_Entry]] = {}
        # The project of the latest entry, and the last time at which another project entered one.
        self._latest = ""
        self._others_wrote_at = -_LATELY
        self._rates = RateTracker(LOW_VOLUME)
        self._credit = PRIORITY_SECONDS  # remaining seconds of priority
        # Priority projects while the others wait for their next change.
        self._first: Collection[str] = ()
        self._more = asyncio.Event()  # set when one of them enters a change
        self.room = Room(lambda project_id: len(self._pending.get(project_id, ())))
        self._flushing: asyncio.Task[None] | None = None
        self.observers: list[Observer] = []
        self.transactions = 0
        self.seconds = 0.0  # duration of these transactions
        # Time at which the oldest entry of the running transaction was entered.
        self._since: float | None = None
        # End of the latest transaction, and how long its oldest entry had waited until then.
        self._ended_at = self._took = 0.0

    @property
    def latency(self) -> float:
        """Return the seconds that a recent write took, including its wait.

        0 without recent writes.
        """
        now = time.monotonic()
        lately = self._took if now - self._ended_at < _LATELY else 0.0
        waiting = [self._since or now, *(entries[0].since for entries in self._pending.values())]
        return max(lately, now - min(waiting))

    async def run(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Run work that writes; return its result once that is durable.

        An error that the work itself raises means that it has written nothing.
        """
        result: Result = await self.enter(work)
        return result

    async def acquire(self, stack_id: str) -> AcquiredStack | None:
        """Raise the fencing token of a stack with an open operation, and return the stack."""
        acquired: AcquiredStack | None = await self.enter(AcquireRequest(stack_id))
        return acquired

    async def rehearse(self, change: Change) -> None:
        """Write a change in a transaction that is rolled back, without observers."""
        await self._runner.write(partial(self._write_and_roll_back, change))

    def _write_and_roll_back(self, change: Change) -> None:
        def work(connection: sa.Connection) -> None:
            write(connection, [change], self._cipher, self.outbox, self._defer)
            raise _RehearsedError

        with contextlib.suppress(_RehearsedError):
            in_transaction(self._engine, work)

    async def enter(self, job: _Job) -> Any:
        """Add an entry to the next transaction, and return its result once it is durable."""
        now, project_id = time.monotonic(), project.get()
        entry = _Entry(job, asyncio.get_running_loop().create_future(), now)
        self._pending.setdefault(project_id, deque()).append(entry)
        if project_id in self._first:
            self._more.set()
        if project_id and project_id != self._latest:
            if self._latest:
                self._others_wrote_at = now
            self._latest = project_id
        if self._flushing is None:
            self._flushing = asyncio.ensure_future(self._flush())
        try:
            return await in_time(entry.done)
        except DatabaseTimeoutError as too_late:
            entry.too_late = too_late
            raise

    async def _flush(self) -> None:
        """Write pending entries until none is left: one transaction at a time."""
        try:
            # All entries that are ready in this turn of the loop join the first transaction.
            await asyncio.sleep(0)
            while self._pending:
                started_at = time.monotonic()
                first = self._priority_projects() if len(self._pending) > 1 else ()
                await self._write(self._next(first))
                if first:
                    await self._await_followup(first)
                took = time.monotonic() - started_at
                self._credit = min(self._credit + (-took if first else took), PRIORITY_SECONDS)
        finally:
            self._flushing = None

    def _priority_projects(self) -> Collection[str]:
        """Return the projects with few recent changes, if there are others."""
        known = [each for each in self._pending if each]
        if len(known) < 2 or self._credit <= 0:
            return ()
        first = [each for each in known if self._rates.of(each) < LOW_VOLUME]
        return first if len(first) < len(known) else ()

    async def _await_followup(self, first: Collection[str]) -> None:
        """Wait a moment for the next changes of priority projects."""
        self._more.clear()
        if self._pending.keys().isdisjoint(first):
            self._first = first
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._more.wait(), FOLLOWUP_WAIT_SECONDS)
            self._first = ()

    def _next(self, first: Collection[str]) -> list[_Entry]:
        """Return the entries of the next transaction, only of the projects in ``first`` if any."""
        alone = bool(first) or time.monotonic() - self._others_wrote_at > _LATELY
        batch: list[_Entry] = []
        for project_id in first or list(self._pending):
            room = MAX_CHANGES - len(batch)
            if not room:
                break
            entries = self._pending.pop(project_id)
            share = room if alone or not project_id else min(MAX_CHANGES_OF_PROJECT, room)
            count = min(share, len(entries))
            batch += [entries.popleft() for _ in range(count)]
            self._rates.add(project_id, count)
            if entries:
                self._pending[project_id] = entries
        return batch

    async def _write(self, batch: list[_Entry]) -> None:
        started_at, self._since = time.monotonic(), min(batch, key=_SINCE).since
        try:
            verdicts: list[Verdict] = await self._runner.write(partial(self._transact, batch))
        except Exception as error:  # noqa: BLE001 - all waiting callers must get it
            verdicts = [(None, error)] * len(batch)
        self.transactions += 1
        self._ended_at = time.monotonic()
        self._took, self._since = self._ended_at - self._since, None
        self.seconds += self._ended_at - started_at
        for entry, (result, refused) in zip(batch, verdicts, strict=True):
            if not entry.done.done():
                if refused is None:
                    entry.done.set_result(result)
                else:
                    entry.done.set_exception(refused)
            certain = refused is None
            # A change may be written although its commit failed, so observers get it as well.
            if isinstance(entry.job, Change) and (certain or isinstance(refused, StoreError)):
                for observer in self.observers:
                    observer.committed(entry.job, certain=certain)
        self.room.give()
        if self.outbox.has_unannounced:
            self.outbox.announce()

    def _transact(self, batch: list[_Entry]) -> list[Verdict]:
        """Carry out a batch in one transaction, or each entry in its own after an error.

        Runs on the writing thread.
        """
        try:
            return in_transaction(self._engine, partial(self._carry_out, batch))
        except StoreError:
            raise
        except Exception:  # noqa: BLE001 - the caller of the entry that failed gets it
            # An entry that cannot be written must not fail the others of its transaction.
            return [self._transact_alone(entry) for entry in batch]

    def _transact_alone(self, entry: _Entry) -> Verdict:
        work = partial(self._carry_out, [entry])
        try:
            try:
                [verdict] = in_transaction(self._engine, work)
            except sa.exc.IntegrityError:
                # Another transaction took the name at the same time: the second try reports it.
                [verdict] = in_transaction(self._engine, work)
        except Exception as error:  # noqa: BLE001 - the waiting caller must get it
            return None, error
        return verdict

    def _carry_out(self, batch: list[_Entry], connection: sa.Connection) -> list[Verdict]:
        """Acquire stacks, run other work, then write the changes."""
        verdicts: dict[int, Verdict] = {}
        changes: dict[int, Change] = {}
        requests: list[tuple[int, str]] = []
        works: dict[int, Callable[[sa.Connection], Any]] = {}
        for n, entry in enumerate(batch):
            if entry.too_late:
                verdicts[n] = None, entry.too_late
            elif isinstance(entry.job, Change):
                changes[n] = entry.job
            elif isinstance(entry.job, AcquireRequest):
                requests.append((n, entry.job.stack_id))
            else:
                works[n] = entry.job
        if requests:
            verdicts.update(self._acquired(connection, requests))
        for n, work in works.items():
            verdicts[n] = _worked(connection, work)
        if changes:
            some = list(changes.values())
            written = write(connection, some, self._cipher, self.outbox, self._defer)
            verdicts.update(zip(changes, zip(repeat(None), written), strict=True))
        return list(map(verdicts.__getitem__, range(len(batch))))

    def _acquired(
        self, connection: sa.Connection, requests: Sequence[tuple[int, str]]
    ) -> Iterator[tuple[int, Verdict]]:
        """Yield the result of each acquisition. Two for the same stack get different tokens."""
        while requests:
            together = {stack_id: n for n, stack_id in requests}
            found = acquire_open(connection, together, self._cipher)
            yield from ((n, (found.get(stack_id), None)) for stack_id, n in together.items())
            requests = [(n, stack_id) for n, stack_id in requests if together[stack_id] != n]


def _worked(connection: sa.Connection, work: Callable[[sa.Connection], Any]) -> Verdict:
    try:
        return work(connection), None
    except (StoreError, sa.exc.SQLAlchemyError, sqlite3.Error, OSError):
        raise
    except Exception as refused:  # noqa: BLE001 - the caller of the work gets it
        return None, refused

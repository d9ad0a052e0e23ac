"""Turns of stacks that are due, as jobs of Procrastinate in the database of the stacks.

A turn is requested in the transaction of its change. A turn that waits already is updated by that,
so that no engine starts it before this transaction ends. It would not see the change.

Other processes are notified after the commit, in a statement of its own. PostgreSQL makes a
transaction with NOTIFY wait for all others that have one, until these are on the disk. Processes
find turns and events without a notification, too, but seconds later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import sqlalchemy as sa

from stoker.engine.model.records import Event, Stack
from stoker.engine.model.stack_records.watches import WatchDefinition
from stoker.engine.model.storage.changes import Change, records_of
from stoker.engine.model.storage.turns import TurnQueue, notification_of
from stoker.store.ownership.fair_share import FairShares
from stoker.store.schema.jobs import QUEUE, TASK
from stoker.store.schema.tables import OPEN
from stoker.store.sql.compiled import prepared
from stoker.store.sql.databases import for_writing
from stoker.store.sql.postgresql import SPACE, Lock
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import after_commit, in_transaction

Result = TypeVar("Result")

# Channels of notifications between processes. A line has the sender, the kind, and ids.
CHANNEL, EVENTS = "stoker_news", "stoker_events"
# Ids in one line, which a server limits to 8,000 bytes. The number is even, because some ids are
# pairs. A process of an earlier release reads the first line, and the others within two seconds.
_IN_A_LINE = 100
_JOBS = f"procrastinate_queue_v1#{QUEUE}"
_DEFER = sa.text(
    "INSERT INTO procrastinate_jobs"  # noqa: S608 - only constants
    " (queue_name, task_name, priority, lock, queueing_lock, args, scheduled_at)"
    " SELECT :queue, :task, turn.priority, turn.id, turn.id,"
    " jsonb_build_object('stack_id', turn.id),"
    " CASE WHEN :at = 0 THEN now() ELSE to_timestamp(:at) END"
    " FROM unnest(CAST(:ids AS text[]), CAST(:priorities AS integer[])) AS turn(id, priority)"
    " WHERE EXISTS (SELECT FROM operations WHERE operations.stack_id = turn.id"
    f" AND operations.status IN {OPEN})"
    " ORDER BY turn.id"
    " ON CONFLICT (queueing_lock) WHERE status = 'todo' DO UPDATE SET scheduled_at ="
    # The earlier of the two; NULL means immediately.
    " CASE WHEN EXCLUDED.scheduled_at IS NULL OR procrastinate_jobs.scheduled_at IS NULL THEN NULL"
    " ELSE least(procrastinate_jobs.scheduled_at, EXCLUDED.scheduled_at) END"
)
_CONSUME = sa.text(
    "DELETE FROM procrastinate_jobs WHERE id IN (SELECT id FROM procrastinate_jobs"
    " WHERE lock = ANY(CAST(:ids AS text[])) AND status = 'todo'"
    " AND (scheduled_at IS NULL OR scheduled_at <= now()) ORDER BY lock FOR UPDATE)"
    " RETURNING lock"
)
_NOTIFY = sa.text(
    "SELECT pg_notify(channel, payload)"
    " FROM unnest(CAST(:channels AS text[]), CAST(:payloads AS text[])) AS news(channel, payload)"
)
# Makes engines of earlier releases poll for jobs.
_NEW_JOB = (_JOBS, '{"type": "job_inserted", "job_id": 0}')
# A turn later than the operation's deadline does not count, because a wrong clock scheduled it.
_NOT_DRIVEN = sa.text(
    f"SELECT DISTINCT stack_id FROM operations WHERE status IN {OPEN}"  # noqa: S608 - only constants
    " AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE lock = operations.stack_id"
    " AND status IN ('todo', 'doing') AND (status = 'doing' OR scheduled_at IS NULL"
    " OR scheduled_at <= greatest(now(), to_timestamp(operations.deadline))))"
)
_DUE = sa.text(
    "SELECT count(*) FROM procrastinate_jobs AS due WHERE queue_name = :queue AND status = 'todo'"
    " AND (scheduled_at IS NULL OR scheduled_at <= now())"
    # Notifications about a stack in a turn are for the engine of that turn.
    " AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE lock = due.lock AND status = 'doing')"
).bindparams(queue=QUEUE)
_OLDER_ENGINE = sa.text(
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = :lock AND granted"
    " AND classid = :space AND mode = 'ExclusiveLock' AND database ="
    " (SELECT oid FROM pg_database WHERE datname = current_database())"
).bindparams(lock=Lock.ENGINE.value, space=SPACE)


class SqlTurns(TurnQueue):
    """Turns in a PostgreSQL; ``sender`` is the name of the notifying process."""

    def __init__(self, engine: sa.Engine, runner: Runner, shares: FairShares, sender: str) -> None:
        self._engine = for_writing(engine)
        self._runner = runner
        self._shares = shares
        self._sender = sender

    def defer(self, connection: sa.Connection, changes: Sequence[Change], messages: bool) -> None:
        """Request turns for the written changes, and notify all processes after the commit.

        ``messages`` states whether there are messages to send.
        """
        notifications = [notification_of(change) for change in changes]
        due = dict.fromkeys(
            stack_id for notification in notifications for stack_id in notification.due
        )
        ended = dict.fromkeys(pair for notification in notifications for pair in notification.ended)
        ids = sorted({*due, *(parent_id for parent_id, _ in ended)})
        if ids:
            stacks = (stack for change in changes for stack in records_of(change, Stack))
            known = {stack.id: stack.project_id for stack in stacks}
            self._defer(connection, ids, 0.0, known)
        happened = (event for change in changes for event in records_of(change, Event))
        seen = dict.fromkeys(event.stack_id for event in happened)
        lines = _lines("turn", list(due))
        lines += _lines("end", [id_ for pair in ended for id_ in pair])
        events = _lines("events", list(seen))
        if any(records_of(change, WatchDefinition) for change in changes):
            lines.append("watches")
        if messages:
            lines.append("messages")
        self._notify(connection, lines, events, due=bool(ids))

    def notify(self, connection: sa.Connection, lines: Sequence[str]) -> None:
        """Notify all processes after the commit, in lines of a kind and ids."""
        self._notify(connection, lines)

    def _notify(
        self,
        connection: sa.Connection,
        lines: Sequence[str],
        events: Sequence[str] = (),
        *,
        due: bool = False,
    ) -> None:
        """Send lines after the commit; ``due`` states whether some are about turns."""
        notifications = [(CHANNEL, f"{self._sender} {line}") for line in lines]
        notifications += [(EVENTS, f"{self._sender} {line}") for line in events]
        if due:
            notifications.append(_NEW_JOB)
        if notifications:
            channels, payloads = map(list, zip(*notifications, strict=True))
            values = {"channels": channels, "payloads": payloads}
            after_commit(connection, lambda idle: prepared(idle, _NOTIFY).execute(idle, values))

    def _defer(
        self,
        connection: sa.Connection,
        ids: Sequence[str],
        at: float,
        known: Mapping[str, str],
    ) -> None:
        priorities = self._shares.priorities(connection, ids, known)
        values = {
            "queue": QUEUE,
            "task": TASK,
            "ids": list(ids),
            "priorities": priorities,
            "at": at,
        }
        prepared(connection, _DEFER).execute(connection, values)

    async def _write(self, work: Callable[[sa.Connection], Result]) -> Result:
        return await self._runner.write(lambda: in_transaction(self._engine, work))

    async def schedule(self, stack_id: str, at: float) -> None:
        """Request a turn of the stack at a time (0: now), unless an earlier one is requested."""
        await self.schedule_all([stack_id], at)

    async def schedule_all(self, stack_ids: Sequence[str], at: float = 0.0) -> None:
        """Request turns of several stacks."""
        ids = sorted(stack_ids)

        def schedule(connection: sa.Connection) -> None:
            self._defer(connection, ids, at, {})
            if not at:
                self._notify(connection, ["due"], due=True)

        await self._write(schedule)

    async def consume(self, stack_ids: Sequence[str]) -> Collection[str]:
        """Delete the due turns of these stacks; return the stacks that had one."""
        ids = {"ids": list(stack_ids)}

        def consume(connection: sa.Connection) -> set[str]:
            return set(connection.execute(_CONSUME, ids).scalars())

        return await self._write(consume) if stack_ids else set()

    async def not_driven(self) -> Collection[str]:
        """Return the stacks with an open operation for which no turn is running or due in time."""

        def not_driven(connection: sa.Connection) -> set[str]:
            return set(connection.execute(_NOT_DRIVEN).scalars())

        return await self._runner.read(lambda: in_transaction(self._engine, not_driven))

    async def due(self) -> int:
        """Return the number of stacks that wait for an engine."""

        def due(connection: sa.Connection) -> int:
            return int(connection.execute(_DUE).scalar_one())

        return await self._runner.read(lambda: in_transaction(self._engine, due))

    async def is_driven_by_one(self) -> bool:
        """Return whether an engine of an earlier release without turns drives the stacks."""
        return await self._runner.read(lambda: in_transaction(self._engine, self.one_drives))

    def one_drives(self, connection: sa.Connection) -> bool:
        """Return the same, in a transaction."""
        return connection.execute(_OLDER_ENGINE).first() is not None


def _lines(kind: str, about: Sequence[str]) -> list[str]:
    """Return few lines for many ids, because each one wakes the listeners."""
    some = (about[begin : begin + _IN_A_LINE] for begin in range(0, len(about), _IN_A_LINE))
    return [" ".join((kind, *each)) for each in some]

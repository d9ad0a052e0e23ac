"""Turns of stacks as jobs of Procrastinate, in a PostgreSQL that many engines share.

The library fetches jobs, holds their locks, sends heartbeats of this engine, and finds the jobs of
dead engines. This module makes it robust: the library's worker ends with the first fault of the
database, and a job would never end if the response to its fetch or to its end was lost. Requests of
many turns to the queue are combined in one statement. Turns that are fetched together are one job
for the library's worker, which needs more time for a job than a fetch takes.

A sweep of every engine cures faults of other engines. It is no job itself: the jobs that it clears
could block it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import procrastinate
import psycopg
import psycopg_pool
from procrastinate import exceptions, jobs, manager

from stoker.dispatch.lease import LEASE_S, HeartbeatLease, clock
from stoker.dispatch.notifications import words_of
from stoker.dispatch.turns import Turns
from stoker.engine.model.interfaces import FencedError, StoreError
from stoker.engine.model.storage.turns import TurnQueue
from stoker.kernel.logs.log import Log
from stoker.kernel.time_limit import project

log = Log(__name__)

BEAT = 1.0  # seconds between heartbeats
TAKEN_OVER_AFTER = 6.0  # seconds without a heartbeat after which other engines acquire the stacks
SWEEP = 1.0  # seconds between searches for stacks of dead engines
CHECK = 15.0  # seconds between checks for operations that no engine drives
AT_ONCE = 256  # limit on turns that one engine has running
TOGETHER = 16  # limit on turns fetched together, because other engines need some, too
# Minimal seconds between fetches: each turn is announced to all engines, and one gets it.
FETCH_EVERY = 0.01
FEW = 32  # turns that even a busy engine takes
# Seconds until a change is written that make an engine a busy one. More turns would slow down all
# others, including those of low-volume projects.
BUSY = 0.1
SPARE = 8  # further turns of low-volume projects that a busy engine takes
# Seconds for which an engine leaves turns to each older engine, up to MOST_PATIENCE. Work that one
# engine does together costs the database least, so the others help only when it lags.
PATIENCE = 0.25
MOST_PATIENCE = 1.0
# OFFSET 0 keeps the subquery apart. Merged into the outer query, the expanded columns could call
# the function, which takes a job, once each.
_FETCH = """
    SELECT (fetched.job).*,
        (SELECT project_id FROM stacks WHERE id = (fetched.job).lock) AS project_id
    FROM (
        SELECT procrastinate_fetch_job_v2(%(queues)s::varchar[], %(worker_id)s) AS job
        FROM generate_series(1, %(count)s) OFFSET 0
    ) AS fetched WHERE (fetched.job).id IS NOT NULL
"""
_WAITS = """
    SELECT EXISTS (
        SELECT FROM procrastinate_jobs AS due WHERE status = 'todo' AND priority >= %(priority)s
        AND coalesce(scheduled_at, '-infinity') <= now() - make_interval(secs => %(patience)s)
        AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE lock = due.lock AND status = 'doing')
    ) AS waits
"""
# All engines execute this each second. One statement serves all turns of a dead engine, and skips
# those that another engine serves now: with a statement for each turn, the engines of a large
# installation repeated each other's work. A turn is dropped if another one of its stack waits.
_SWEEP = """
    WITH dead AS (
        SELECT jobs.id, jobs.lock FROM procrastinate_jobs AS jobs
        LEFT JOIN procrastinate_workers AS workers ON workers.id = jobs.worker_id
        WHERE jobs.status = 'doing' AND jobs.queue_name = 'stoker' AND (workers.id IS NULL
            OR workers.last_heartbeat < now() - make_interval(secs => %(dead)s))
        ORDER BY jobs.lock FOR UPDATE OF jobs SKIP LOCKED
    ), dropped AS (
        DELETE FROM procrastinate_jobs AS jobs USING dead WHERE jobs.id = dead.id AND EXISTS (
            SELECT FROM procrastinate_jobs AS waiting
            WHERE waiting.queueing_lock = dead.lock AND waiting.status = 'todo')
        RETURNING jobs.id
    ), waiting AS (
        -- Due immediately by all clocks.
        UPDATE procrastinate_jobs AS jobs
        SET status = 'todo', attempts = attempts + 1, scheduled_at = to_timestamp(0)
        FROM dead WHERE jobs.id = dead.id AND jobs.id NOT IN (SELECT id FROM dropped)
        RETURNING jobs.lock
    )
    SELECT ARRAY(SELECT lock FROM waiting) AS stacks, (
        SELECT count(*) FROM procrastinate_workers
        WHERE id < %(worker_id)s AND last_heartbeat > now() - make_interval(secs => %(silent)s)
    ) AS older
"""
# A queue that is mostly empty fills suddenly, and plans are cached. A plan for two jobs reads and
# sorts all jobs for each fetched one: 1,000 stacks then took 2 to 6 s longer.
_PLANS = """
    SELECT set_config(name, 'off', false)
    FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_sort']) AS plans(name)
"""
_FINISH = """
    DELETE FROM procrastinate_jobs
    WHERE id = ANY(%(job_ids)s::bigint[]) AND status = 'doing' AND worker_id = %(worker_id)s
"""
_ANY, _FIRST = -(2**31), 0  # lowest priorities: of all turns, and of those of low-volume projects
_LONG_AGO = datetime.fromtimestamp(0, UTC)
_FAULTS = (exceptions.ConnectorException, exceptions.RunTaskError, OSError, TimeoutError)


def _pool(**how: Any) -> psycopg_pool.AsyncConnectionPool:
    """Return a pool that does not check its connections: failed statements are retried anyway."""
    return psycopg_pool.AsyncConnectionPool(**{**how, "check": None})


async def _prepare(connection: psycopg.AsyncConnection[Any]) -> None:
    """Whatever the library asks for is one statement, which takes jobs in the order of an index."""
    await connection.set_autocommit(True)
    await connection.execute(_PLANS)


class _Together(jobs.Job):
    """Turns that were fetched together: their stacks and projects by the ids of their jobs."""

    def log_context(self) -> dict[str, Any]:
        """Return its identity for the log."""
        return {"id": self.id, "call_string": self.call_string}


def _together(rows: Sequence[Mapping[str, Any]]) -> jobs.Job:
    """The job that stands for these rows."""
    first = _Together.from_row(dict(rows[0]))
    turns = {row["id"]: (row["lock"], row["project_id"]) for row in rows}
    return first.evolve(task_kwargs={"turns": turns})


class Jobs(manager.JobManager):
    """The jobs of one engine, in spite of a database that fails at times."""

    def __init__(self, connector: Any, lease: HeartbeatLease, latency: Callable[[], float]) -> None:
        super().__init__(connector)
        self._lease = lease
        self._latency = latency
        self.worker_id: int | None = None
        self.lost = asyncio.Event()  # set when other engines may have acquired the worker's stacks
        self.in_doubt = False  # whether the response to a fetch, or to the end of a job, was lost
        self._doing: set[int] = set()
        self._spared: set[int] = set()  # those of them without a free regular slot
        # A turn has ended, or there may be a new one: an engine without a free slot may fetch now.
        self._wakeup = asyncio.Event()
        self._fetching = asyncio.Lock()
        self._want = 1  # number of jobs in the next fetch
        self._fetched_at = 0.0
        self._notified_at = 0.0  # when this engine was last notified of a turn
        self._notified = asyncio.Event()
        self._patience = 0.0
        self._finished: list[int] = []
        # Records the ends of turns that ended together.
        self._recording: asyncio.Task[None] | None = None

    async def register_worker(self) -> int:
        """A new worker is alive."""
        since = clock()
        self._doing.clear()
        self._spared.clear()
        self.worker_id = await super().register_worker()
        await self.sweep()
        self._lease.renew(since)
        return self.worker_id

    async def update_heartbeat(self, worker_id: int) -> None:
        """Send a heartbeat of the worker."""
        # The lease counts from before the request, because others count from its arrival, which is
        # never earlier.
        since = clock()
        try:
            await asyncio.wait_for(super().update_heartbeat(worker_id), LEASE_S)
        except _FAULTS as fault:
            log.warning("heartbeat not sent", reason=words_of(fault))
        else:
            # An expired lease is not renewed: other engines may have acquired the stacks.
            if self._lease.holds:
                self._lease.renew(since)
        if not self._lease.holds:
            # The library would continue with a worker without heartbeats.
            self.lost.set()

    def notify(self) -> None:
        """There may be a turn."""
        self._notified_at = clock()
        self._notified.set()
        self._wakeup.set()

    async def listen_for_jobs(self, *, on_notification: Any, **_: Any) -> None:
        """Wake the worker for turns as long as it lives.

        The notifications arrive with all others: a connection of the library's own would be one
        more listener for the server.
        """
        while True:
            await self._notified.wait()
            self._notified.clear()
            await on_notification(channel="", notification={"type": "job_inserted", "job_id": 0})

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> jobs.Job | None:
        """Fetch the next turns, combined into one job.

        Waits while this engine has no room. Returns None if the lease is lost or nothing is queued.
        """
        while True:
            await asyncio.sleep(self._fetched_at + FETCH_EVERY - clock())
            while self._room <= 0 and self._lease.holds:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wakeup.wait(), BUSY)
                self._wakeup.clear()
                if len(self._spared) < SPARE:
                    break
            async with self._fetching:
                had_room = self._room > 0
                rows = await self._fetch(queues, worker_id)
            if not self._lease.holds:
                return None
            if rows:
                return _together(rows)
            if had_room:
                # The library drops notifications that arrive while it fetches. So a turn that was
                # announced since then is fetched here.
                if self._notified_at + self._patience < self._fetched_at:
                    return None
                await asyncio.sleep(self._patience)

    @property
    def _room(self) -> int:
        """Return the number of turns that the engine can still take."""
        most = FEW if self._latency() >= BUSY else AT_ONCE
        return most - len(self._doing) + len(self._spared)

    async def _fetch(
        self, queues: Iterable[str] | None, worker_id: int
    ) -> Sequence[Mapping[str, Any]]:
        """Fetch some turns: more than the last time where that has found as many as it wanted.

        Without room for all, only those are looked for whose projects ask for few.
        """
        self._fetched_at = clock()
        if not self._lease.holds:
            return ()
        room = self._room
        spare = room <= 0
        count = 1 if spare else min(self._want, room)
        try:
            if (spare or self._patience) and not await self._waits(_FIRST if spare else _ANY):
                return ()
            rows = await self.connector.execute_query_all_async(
                query=_FETCH, queues=queues, worker_id=worker_id, count=count
            )
        except _FAULTS as fault:
            self.in_doubt = True
            log.warning("no turn fetched", reason=words_of(fault))
            return ()
        self._want = min(2 * count, TOGETHER) if len(rows) == count else max(len(rows), 1)
        self._doing.update(row["id"] for row in rows)
        if spare:
            # another engine may have been faster, which leaves one that waits for room
            self._spared.update(row["id"] for row in rows if row["priority"] >= _FIRST)
        return rows

    async def finish_job(self, *_: Any, **__: Any) -> None:
        """The ends of turns that were fetched together have been recorded, each in its time."""

    async def end(self, job_id: int) -> None:
        """Record the end of a turn, unless another engine may have started it again."""
        self._finished.append(job_id)
        if self._recording is None:
            self._recording = asyncio.ensure_future(self._record())
        # The recording is shared with other turns: a cancelled one must not cancel it.
        await asyncio.shield(self._recording)

    async def _record(self) -> None:
        """Record the ends of all turns that end in this turn of the loop."""
        # Other turns that end in this round join, so that one statement records all of them.
        await asyncio.sleep(0)
        finished, self._finished, self._recording = self._finished, [], None
        try:
            if self._lease.holds:
                await self.connector.execute_query_async(
                    query=_FINISH, job_ids=finished, worker_id=self.worker_id
                )
        except _FAULTS as fault:
            self.in_doubt = True
            log.warning("the end of a turn not recorded", reason=words_of(fault))
        finally:
            for ended in (self._doing, self._spared):
                ended.difference_update(finished)
            self._wakeup.set()

    async def _waits(self, priority: int) -> bool:
        """Return whether a turn of this priority, or a higher one, has waited for long enough."""
        [row] = await self.connector.execute_query_all_async(
            query=_WAITS, priority=priority, patience=self._patience
        )
        return bool(row["waits"])

    async def sweep(self) -> None:
        """Let the turns of dead engines wait again, and count the engines older than this one."""
        [row] = await self.connector.execute_query_all_async(
            query=_SWEEP, worker_id=self.worker_id, silent=2 * BEAT, dead=TAKEN_OVER_AFTER
        )
        self._patience = min(row["older"] * PATIENCE, MOST_PATIENCE)
        if row["stacks"]:
            log.info("turns of dead engines wait again", stacks=len(row["stacks"]))

    async def left(self) -> Sequence[jobs.Job]:
        """Jobs that the worker counts as doing, and does not do."""
        if not self.in_doubt or self.worker_id is None:
            return ()
        async with self._fetching:  # what is fetched meanwhile is not known yet
            own = await self.list_jobs_async(status="doing", worker_id=self.worker_id)
            self.in_doubt = False
        return [job for job in own if job.id not in self._doing]


class Procrastinate:
    """One engine among many."""

    def __init__(
        self,
        conninfo: str,
        queue: TurnQueue,
        lease: HeartbeatLease,
        latency: Callable[[], float],
    ) -> None:
        """``latency`` returns the seconds that transactions of this process take."""
        # The pool retries less and less often on its own; a new attempt finds a restored server.
        connector = procrastinate.PsycopgConnector(
            pool_factory=_pool,
            configure=_prepare,
            conninfo=conninfo,
            min_size=2,
            max_size=6,
            timeout=3.0,
            reconnect_timeout=1.0,
        )
        self._app = procrastinate.App(connector=connector)
        self._jobs = self._app.job_manager = Jobs(connector, lease, latency)
        self._app.task(name="turn", queue="stoker", pass_context=False)(self._take)
        self._queue = queue
        self._turns: Turns | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._working: asyncio.Task[None] | None = None
        self._suspected: dict[str, float] = {}  # stacks without a driver, with the time since when

    async def start(self, turns: Turns) -> None:
        """Start to take turns."""
        self._turns = turns
        await self._app.open_async()
        loop = asyncio.get_running_loop()
        self._working = loop.create_task(self._work())
        self._tasks = [
            loop.create_task(self._regularly(SWEEP, self._sweep)),
            loop.create_task(self._regularly(CHECK, self._check)),
            loop.create_task(self._regularly(2.0, turns.wake_due)),
        ]

    def notify(self) -> None:
        """Handle a notification of requested turns."""
        self._jobs.notify()

    async def close(self) -> None:
        """Release the driven stacks, and take no more."""
        for task in self._tasks:
            task.cancel()
        if self._working is not None:
            self._working.cancel()
            if self._turns is not None:
                await self._turns.close()
            with contextlib.suppress(asyncio.CancelledError):
                await self._working
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._app.close_async()

    async def _take(self, turns: Mapping[int, tuple[str, str | None]]) -> None:
        """Take turns that were fetched together; each ends on its own."""
        await asyncio.gather(*(self._turn(job_id, *of) for job_id, of in turns.items()))

    async def _turn(self, job_id: int, stack_id: str, project_id: str | None) -> None:
        assert self._turns is not None
        # Its project has priority for writes if it writes little.
        project.set(project_id or "")
        try:
            await self._turns.turn(stack_id)
        except FencedError:
            log.info("turn left to other engines", stack=stack_id)
        except StoreError as fault:
            log.warning("turn not ended", stack=stack_id, reason=str(fault))
        except Exception:
            log.exception("turn failed", stack=stack_id)
        finally:
            await self._jobs.end(job_id)

    async def _work(self) -> None:
        """Have a worker at all times; one that ends did so because of a fault."""
        assert self._turns is not None
        while True:
            self._jobs.lost.clear()
            worker = asyncio.ensure_future(self._worker())
            lost = asyncio.ensure_future(self._jobs.lost.wait())
            try:
                await asyncio.wait({worker, lost}, return_when=asyncio.FIRST_COMPLETED)
                # An engine that was away too long restarts its worker.
                await self._turns.abandon()
            finally:
                lost.cancel()
                worker.cancel()
                await asyncio.gather(worker, return_exceptions=True)
            # While the database is down, each worker ends immediately. The pause keeps this loop
            # idle.
            await asyncio.sleep(0.5)

    async def _worker(self) -> None:
        try:
            await self._app.run_worker_async(
                queues=["stoker"],
                # The library cannot change its limit with the load. fetch_job enforces ours, which
                # is lower.
                concurrency=AT_ONCE + SPARE,
                delete_jobs=jobs.DeleteJobCondition.ALWAYS,
                install_signal_handlers=False,
                shutdown_graceful_timeout=3.0,
                update_heartbeat_interval=BEAT,
                stalled_worker_timeout=TAKEN_OVER_AFTER,
                fetch_job_polling_interval=1.0,
            )
        except _FAULTS as fault:
            log.warning("the worker has ended", reason=words_of(fault))
        except Exception:
            log.exception("the worker has ended; there will be another one")

    async def _regularly(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                # A statement that hangs must not stop the maintenance for good.
                async with asyncio.timeout(30):
                    await work()
            except (StoreError, *_FAULTS) as fault:
                log.warning("turn maintenance failed", reason=words_of(fault))
            except Exception:
                log.exception("turn maintenance failed; it is retried")

    async def _sweep(self) -> None:
        """Let turns wait again whose engines are dead, and those that this engine has lost."""
        await self._jobs.sweep()
        for job in await self._jobs.left():
            await self._again(job)

    async def _again(self, job: jobs.Job) -> None:
        """Put a started turn back, unless another one of its stack is waiting."""
        try:
            # Due immediately by all clocks: the library would take the time of this machine.
            await self._jobs.retry_job(job, retry_at=_LONG_AGO)
        except exceptions.UniqueViolation:
            # The waiting turn does the work of this one, which is only deleted.
            with contextlib.suppress(exceptions.ConnectorException):
                await manager.JobManager.finish_job(
                    self._jobs, job, jobs.Status.FAILED, delete_job=True
                )
        except exceptions.ConnectorException as gone:
            self._jobs.in_doubt = True
            log.info("another engine was first", reason=words_of(gone))
            return
        log.info("turn taken over", stack=job.lock)

    async def _check(self) -> None:
        """Schedule a turn of each stack that has an open operation and no turn.

        Operations whose time is up are left to their drivers: only a driver knows whether the
        operation is to be rolled back, and which operations were accepted after it.
        """
        found = set(await self._queue.not_driven())
        now = clock()
        # an engine of an earlier release drives without turns: it is left its time
        patience = 60.0 if await self._queue.is_driven_by_one() else 0.0
        self._suspected = {each: self._suspected.get(each, now) for each in found}
        if due := [each for each, since in self._suspected.items() if since + patience <= now]:
            log.warning("stacks without a driver get a turn", stacks=len(due))
            await self._queue.schedule_all(due)

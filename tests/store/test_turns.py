"""Turns of stacks in PostgreSQL: when they are due, and when another engine may fetch them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.store.test_contract import KEY, operation_on, stack_in

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Stack
from stoker.kernel.values import replace
from stoker.store.ownership.fair_share import FairShares
from stoker.store.ownership.turns import SqlTurns
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

HOUR = 3600.0
_FETCH = "SELECT (procrastinate_fetch_job_v2('{stoker}'::varchar[], NULL)).lock"


@dataclass
class Shared:
    """The store and the turns of one process."""

    database: sa.Engine
    store: SqlStore
    turns: SqlTurns

    async def stack(self, deadline: float) -> Stack:
        """A new stack with an open operation, and a turn that is due."""
        stack = stack_in("project", f"s{time.monotonic_ns()}")
        operation = replace(operation_on(stack), deadline=deadline)
        await self.store.commit(PublicChange(stack.id, puts=(stack, operation)))
        return stack

    def fetch(self) -> str | None:
        """The stack of a turn that an engine may start now."""
        with self.database.begin() as connection:
            found: str | None = connection.exec_driver_sql(_FETCH).scalar()
            return found

    def schedule_later(self, stack: Stack, at: float) -> None:
        """Move the turn of a stack to a later time, as an engine with a wrong clock does."""
        with self.database.begin() as connection:
            connection.execute(
                sa.text(
                    "UPDATE procrastinate_jobs SET scheduled_at = to_timestamp(:at)"
                    " WHERE lock = :lock"
                ),
                {"at": at, "lock": stack.id},
            )


@pytest.fixture
async def shared(postgresql: PostgreSQL) -> AsyncIterator[Shared]:
    database, runner = open_database(postgresql.new()), ThreadRunner()
    turns = SqlTurns(database, runner, FairShares(), "engine")
    store = SqlStore(database, ColumnCipher(KEY), runner, defer=turns.defer)
    yield Shared(database, store, turns)
    runner.close()
    database.dispose()


async def test_turn_later_than_the_deadline_counts_as_none(shared: Shared) -> None:
    now = time.time()
    stack = await shared.stack(deadline=now - 1)
    assert stack.id not in await shared.turns.not_driven()
    shared.schedule_later(stack, now + HOUR)
    assert stack.id in await shared.turns.not_driven()
    await shared.turns.schedule_all([stack.id])
    assert stack.id not in await shared.turns.not_driven()
    assert shared.fetch() == stack.id


async def test_turn_waiting_for_a_pause_is_kept(shared: Shared) -> None:
    now = time.time()
    stack = await shared.stack(deadline=now + 2 * HOUR)
    shared.schedule_later(stack, now + HOUR)
    assert stack.id not in await shared.turns.not_driven()


async def test_running_turn_is_kept_after_the_deadline(shared: Shared) -> None:
    stack = await shared.stack(deadline=time.time() - 1)
    assert shared.fetch() == stack.id
    assert stack.id not in await shared.turns.not_driven()


async def test_turn_is_fetched_after_commit_of_its_change(
    shared: Shared,
) -> None:
    stack = await shared.stack(deadline=time.time() + HOUR)
    news = PublicChange(stack.id, puts=(operation_on(stack),))
    with shared.database.begin() as connection:
        shared.turns.defer(connection, [news], messages=False)
        # an engine that started the turn now would not see what this transaction writes
        assert shared.fetch() is None
    assert shared.fetch() == stack.id


async def test_commit_succeeds_without_its_notification(shared: Shared) -> None:
    def end_session(connection: sa.Connection, _: object, statement: str, *__: object) -> None:
        if "pg_notify" in statement:
            process = connection.connection.driver_connection.info.backend_pid
            with shared.database.begin() as other:
                other.execute(sa.select(sa.func.pg_terminate_backend(process)))
            ended.append(process)

    ended: list[int] = []
    stack = await shared.stack(deadline=time.time() + HOUR)
    assert shared.fetch() == stack.id
    sa.event.listen(shared.database, "before_cursor_execute", end_session)
    await shared.store.commit(PublicChange(stack.id, puts=(operation_on(stack),)))
    assert len(ended) == 1
    assert len(await shared.store.queue(stack.id)) == 2


async def test_news_makes_a_later_turn_due(shared: Shared) -> None:
    stack = await shared.stack(deadline=time.time() + 2 * HOUR)
    shared.schedule_later(stack, time.time() + HOUR)
    assert shared.fetch() is None
    await shared.store.commit(PublicChange(stack.id, puts=(operation_on(stack),)))
    assert shared.fetch() == stack.id

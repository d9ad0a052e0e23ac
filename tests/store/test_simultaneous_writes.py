"""Simultaneous transactions: none removes or hides rows that another one relies on.

SQLite has one writing transaction at a time; this concerns PostgreSQL only.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.store.test_contract import KEY, TwoProcesses, stack_in

from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import Action, Event, Input, Stack, Status
from stoker.engine.model.requests import EventQuery, Page
from stoker.kernel.errors import AlreadyExistsError
from stoker.kernel.values import replace
from stoker.store.maintenance.tidying import ID_AND_CONTENTS, drop_inputs
from stoker.store.schema import tables
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.rows import dicts

PATIENCE = 60.0
TEMPLATE = {"heat_template_version": "2018-08-31", "description": "shared"}


@pytest.fixture
async def stores(postgresql: PostgreSQL) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(postgresql.new())
    yield both
    both.close()


@pytest.fixture
def session(stores: TwoProcesses) -> sa.Engine:
    """Another session's way to the database."""
    return stores.databases[1]


def input_of(stack: Stack, name: str, template: dict[str, Any]) -> Input:
    return Input(name, stack.id, template=template, parameters={}, environment={}, files={})


def event_of(stack: Stack, name: str) -> Event:
    return Event(name, stack.id, 1.0, Action.CREATE, Status.COMPLETE, name, "r", "Sim::Thing")


class Paused:
    """A commit that has written, and waits for permission to end."""

    def __init__(self, stores: TwoProcesses, change: PublicChange) -> None:
        self._store, self._change = stores.one, change
        self._database = stores.databases[0]
        self._written, self._end = threading.Event(), threading.Event()
        self._task: asyncio.Future[Any] | None = None

    async def __aenter__(self) -> Paused:
        sa.event.listen(self._database, "commit", self._hold)
        self._task = asyncio.ensure_future(self._store.commit(self._change))
        assert await asyncio.to_thread(self._written.wait, PATIENCE)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end.set()
        assert self._task is not None
        await asyncio.wait_for(self._task, PATIENCE)
        sa.event.remove(self._database, "commit", self._hold)

    def _hold(self, _: sa.Connection) -> None:
        self._written.set()
        assert self._end.wait(PATIENCE)


async def ends_or_waits(session: sa.Engine, work: Awaitable[None]) -> asyncio.Future[None]:
    """The work, once it is done, or waits for a lock of another transaction."""
    task = asyncio.ensure_future(work)
    deadline = time.monotonic() + PATIENCE
    select = sa.text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )

    def waiting() -> int:
        with session.connect() as connection:
            return int(connection.execute(select).scalar_one())

    while not task.done() and not await asyncio.to_thread(waiting):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    return task


async def used_again(stores: TwoProcesses) -> tuple[Stack, PublicChange]:
    """A stack whose first template is to be dropped, and a change that uses it again."""
    old, new = stack_in("p", "old"), stack_in("p", "new")
    old = replace(old, input_id="second")
    inputs = input_of(old, "first", TEMPLATE), input_of(old, "second", {"description": "other"})
    await stores.one.commit(PublicChange(old.id, puts=(old, *inputs)))
    return old, PublicChange(new.id, puts=(new, input_of(new, "third", TEMPLATE)))


async def test_template_in_use_by_commit_is_not_tidied(
    stores: TwoProcesses, session: sa.Engine
) -> None:
    old, change = await used_again(stores)
    async with Paused(stores, change):
        tidying = await ends_or_waits(session, stores.other.tidy(old.id, 100))
    await tidying
    found = await stores.one.input("third")
    assert found.template == TEMPLATE


async def test_template_being_tidied_is_written_again(
    stores: TwoProcesses, session: sa.Engine
) -> None:
    _, change = await used_again(stores)
    with session.begin() as connection:
        first = ID_AND_CONTENTS.where(tables.inputs.c.id == "first")
        drop_inputs(connection, list(dicts(connection.execute(first))))
        commit = await ends_or_waits(session, stores.one.commit(change))
    await commit
    found = await stores.one.input("third")
    assert found.template == TEMPLATE


async def test_a_read_sees_the_database_at_one_moment(stores: TwoProcesses) -> None:
    old, _ = await used_again(stores)
    begun, go_on = threading.Event(), threading.Event()
    count = sa.select(sa.func.count()).select_from(tables.contents)

    def twice(connection: sa.Connection) -> tuple[int, int]:
        before = connection.execute(count).scalar_one()
        begun.set()
        assert go_on.wait(PATIENCE)
        return before, connection.execute(count).scalar_one()

    reading = asyncio.ensure_future(stores.one._read_rows_of_one_moment((), "", twice))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    await stores.other.tidy(old.id, 100)
    go_on.set()
    before, after = await reading
    assert before == after
    assert await stores.one._read(lambda connection: connection.execute(count).scalar_one()) < after


async def test_events_of_tree_appear_in_order_of_numbers(
    stores: TwoProcesses, session: sa.Engine
) -> None:
    first, then = stack_in("p", "first"), stack_in("p", "then")
    then = replace(then, parent_id=first.id, root_id=first.id)
    await stores.one.commit(PublicChange(first.id, puts=(first, then)))

    async def after(marker: str | None) -> list[str]:
        query = EventQuery(page=Page(marker=marker))
        return [event.id for event in await stores.one.events([first.id, then.id], query)]

    change = PublicChange(first.id, puts=(event_of(first, "early"),))
    async with Paused(stores, change):
        late = stores.other.commit(PublicChange(then.id, puts=(event_of(then, "late"),)))
        commit = await ends_or_waits(session, late)
        with session.connect() as connection:
            select = sa.select(tables.events.c.id).order_by(tables.events.c.number)
            seen = list(connection.execute(select).scalars())
    await commit
    seen += await after(seen[-1] if seen else None)
    assert seen == ["early", "late"]


async def test_events_of_other_trees_do_not_wait(stores: TwoProcesses) -> None:
    # Their locks have different keys.
    first, then = (replace(stack_in("p", name), id=f"{name} tree") for name in ("one", "other"))
    await stores.one.commit(PublicChange(first.id, puts=(first, then)))
    async with Paused(stores, PublicChange(first.id, puts=(event_of(first, "early"),))):
        change = PublicChange(then.id, puts=(event_of(then, "late"),))
        await asyncio.wait_for(stores.other.commit(change), PATIENCE)
    events = await stores.one.events([first.id, then.id], EventQuery())
    assert {event.id for event in events} == {"early", "late"}


def written(*stacks: Stack) -> list[OwnerChange]:
    return [OwnerChange("owner", 0, puts=stacks)]


def owned(*stacks: Stack) -> list[OwnerChange]:
    return [OwnerChange(stack.id, 0) for stack in stacks]


@pytest.mark.parametrize("writing", [written, owned])
async def test_stacks_are_locked_in_one_order(
    stores: TwoProcesses, session: sa.Engine, writing: Callable[..., list[OwnerChange]]
) -> None:
    high, low, owner = (replace(stack_in("p", name), id=name) for name in ("b", "a", "owner"))
    for stack in (high, low, owner):  # as a table is read from its beginning
        await stores.one.commit(PublicChange(stack.id, puts=(stack,)))
    row = sa.select(tables.stacks.c.id).with_for_update(nowait=True)
    with session.begin() as connection:
        connection.execute(row.where(tables.stacks.c.id == low.id))
        commits = asyncio.gather(*map(stores.one.commit, writing(high, low)))
        commit = await ends_or_waits(session, commits)
        assert not commit.done()
        # had it locked this one first, each would wait for the other now
        assert connection.execute(row.where(tables.stacks.c.id == high.id)).first() is not None
    await commit


@pytest.mark.parametrize("known", [True, False])
async def test_contents_are_locked_in_one_order(
    stores: TwoProcesses, session: sa.Engine, known: bool
) -> None:
    stack, cipher = stack_in("p", "app"), ColumnCipher(KEY)
    hashed = sorted((cipher.hashed({"description": text})[0], text) for text in "xy")
    given = [input_of(stack, text, {"description": text}) for _, text in reversed(hashed)]
    if known:
        for each in given:  # as a table is read from its beginning
            await stores.one.commit(PublicChange(stack.id, puts=(each,)))

    def take(connection: sa.Connection, hash_: str) -> None:
        connection.execute(sa.text("SET LOCAL lock_timeout = '1ms'"))
        if known:
            column = tables.contents.c.hash
            connection.execute(sa.select(column).where(column == hash_).with_for_update())
        else:
            connection.execute(tables.contents.insert(), {"hash": hash_, "body": "{}"})

    with session.connect() as connection:
        take(connection, hashed[0][0])
        again = tuple(replace(each, id=f"again {each.id}") for each in given)
        commit = await ends_or_waits(session, stores.one.commit(PublicChange("", puts=again)))
        assert not commit.done()
        take(connection, hashed[1][0])
        connection.rollback()
    await commit


async def test_name_taken_by_a_simultaneous_commit_is_refused(
    stores: TwoProcesses, session: sa.Engine
) -> None:
    one, other = stack_in("p", "same"), stack_in("p", "same")
    async with Paused(stores, PublicChange(one.id, puts=(one,))):
        change = PublicChange(other.id, puts=(other,))
        second = await ends_or_waits(session, stores.other.commit(change))
        assert not second.done()
    with pytest.raises(AlreadyExistsError, match="already exists"):
        await second

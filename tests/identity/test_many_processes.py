"""Trusts that several processes create, renew and remove, all on one database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from stoker.engine.model.requests import Caller
from stoker.identity.delegation.trusts import Trusts
from stoker.identity.keystone import Keystone
from stoker.store.ownership.cluster_tables import Members
from stoker.store.records.trusts import SqlTrusts, counts
from stoker.store.schema import tables
from stoker.store.sql.databases import for_writing, open_database
from stoker.store.sql.postgresql import SPACE, Lock
from stoker.store.sql.runners import ThreadRunner
from tests.postgresql import server
from tests.store.test_trusts import add_stack

from .fake_keystone import FakeKeystone

USER = Caller("p", "u", "demo", frozenset({"member"}), token="t")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('trusts') / 'stoker.db'}"
    else:
        with server() as running:
            yield running.new()


@pytest.fixture
def database(database_url: str) -> Iterator[sa.Engine]:
    engine = open_database(database_url)
    with engine.begin() as connection:
        connection.execute(tables.trusts.delete())
        connection.execute(tables.stacks.delete())
    yield engine
    engine.dispose()


class Telling(SqlTrusts):
    """Rows of a process that can ask another one, as by NOTIFY."""

    asked: list[str]
    others: list[Trusts]

    async def ask_others(self, trust_id: str) -> bool:
        self.asked.append(trust_id)
        for other in self.others:
            other.handle_renewal_request(trust_id)
        return True


@dataclass
class Process:
    """The trusts of one process."""

    trusts: Trusts
    records: Telling

    async def give(self) -> str:
        return str((await self.trusts.grant(USER))["trust_id"])

    async def end_of_stack(self, trust_id: str) -> None:
        """Delete the row of a stack, and remove its trust."""
        await self.trusts.revoke({"trust_id": trust_id, "project_id": "p", "trustor_user_id": "u"})
        await asyncio.gather(*self.trusts._tasks)


@pytest.fixture
async def processes(
    database: sa.Engine, keystone: Keystone, fake: FakeKeystone
) -> AsyncIterator[tuple[Process, Process]]:
    fake.add_token("t")
    runners = ThreadRunner(), ThreadRunner()
    made = []
    for runner in runners:
        records = Telling(database, runner)
        records.asked, records.others = [], []
        made.append(Process(Trusts(keystone, records, check_delays=(0.0, 0.0)), records))
    yield made[0], made[1]
    for process in made:
        await process.trusts.close()
    for runner in runners:
        runner.close()


def is_recorded(database: sa.Engine, trust_id: str) -> bool:
    """Record a stack as ``stoker.engine.service.requests.record`` does; whether its trust
    counts.
    """
    with for_writing(database).begin() as connection:
        found = counts(connection, trust_id)
    if found:
        add_stack(database, "u", None)
    return found


def stacks_end(database: sa.Engine) -> None:
    with database.begin() as connection:
        connection.execute(tables.stacks.delete())


async def test_trust_removed_by_other_process_is_replaced(
    database: sa.Engine, processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    api, engine = processes
    removed = await api.give()
    assert is_recorded(database, removed)
    stacks_end(database)
    await engine.end_of_stack(removed)
    assert not fake.objects["trusts"]
    assert await api.give() == removed  # it does not know
    assert not is_recorded(database, removed)
    api.trusts.forget({"trust_id": removed})
    [made] = [await api.give()]
    assert is_recorded(database, made)
    assert list(fake.objects["trusts"]) == [made]


async def test_trust_of_stack_being_recorded_is_kept(
    database: sa.Engine, processes: tuple[Process, Process]
) -> None:
    api, engine = processes
    if database.dialect.name == "sqlite":
        pytest.skip("SQLite has one writing transaction at a time")
    given = await api.give()
    with for_writing(database).begin() as connection:
        assert counts(connection, given)
        retiring = asyncio.ensure_future(engine.records.retire_trusts("p", "u"))
        await asyncio.sleep(0.3)
        assert not retiring.done()
        add_stack(database, "u", None)  # as the transaction does before it ends
    assert await retiring == ([], True)


async def test_processes_share_the_trust_that_either_has_made(
    processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    api, other = processes
    assert await api.give() == await other.give()
    assert len(fake.objects["trusts"]) == 1


async def test_concurrent_trusts_are_reduced_to_one(
    processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    given = await asyncio.gather(*(process.give() for process in processes))
    for process in processes:
        await asyncio.gather(*process.trusts._tasks)
    assert len(set(given)) == 1
    assert set(fake.objects["trusts"]) == set(given)


async def test_trust_renewed_by_one_process_is_shared(
    processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    api, engine = processes
    lost = await api.give()
    fake.objects["trusts"].clear()
    api.trusts.remember(USER)
    renewed = await api.trusts.renew(lost)
    assert engine.trusts.current(lost) == lost  # it has not heard
    assert await engine.trusts.renew(lost) == renewed
    assert engine.trusts.current(lost) == renewed
    assert not engine.records.asked


async def test_process_without_user_requests_renewal_from_another(
    processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    api, engine = processes
    lost = await api.give()
    fake.objects["trusts"].clear()
    assert await engine.trusts.renew(lost) is None
    assert await engine.trusts.renew(lost) is None
    assert engine.records.asked == [lost]  # not over and over
    api.trusts.remember(USER)
    engine.records.others.append(api.trusts)
    engine.trusts._asked.clear()
    assert [await engine.trusts.renew(lost)] == list(fake.objects["trusts"])


async def test_concurrent_renewals_leave_one_trust(
    database: sa.Engine, processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    lost = await processes[0].give()
    add_stack(database, "u", None)
    fake.objects["trusts"].clear()
    for process in processes:
        process.trusts.remember(USER)
    renewed = await asyncio.gather(*(process.trusts.renew(lost) for process in processes))
    for process in processes:
        await asyncio.gather(*process.trusts._tasks)
    assert len(set(renewed)) == 1
    assert set(fake.objects["trusts"]) == set(renewed)


async def test_concurrent_removals_do_not_conflict(
    database: sa.Engine, processes: tuple[Process, Process], fake: FakeKeystone
) -> None:
    given = await processes[0].give()
    await asyncio.gather(*(process.trusts.remove_left_behind() for process in processes))
    assert not fake.objects["trusts"]
    assert await processes[0].records.trust(given) is None


async def test_trust_is_kept_while_a_service_remembers_it(
    database: sa.Engine, database_url: str, processes: tuple[Process, Process]
) -> None:
    if database.dialect.name == "sqlite":
        pytest.skip("a file of SQLite is used by one process")
    given = await processes[0].give()
    runner = ThreadRunner()
    members = Members(database, runner, "engine")
    records = SqlTrusts(database, runner, members.turns)
    with database.connect() as connection:
        lock: Any = sa.func.pg_advisory_lock(SPACE, Lock.ENGINE.value)
        connection.execute(sa.select(lock))
        assert await records.retire_trusts("p", "u") == ([], True)
        connection.invalidate()  # the service ends
    for _ in range(50):
        retired = await records.retire_trusts("p", "u")
        if retired[0]:
            break
        await asyncio.sleep(0.1)
    assert retired == ([given], False)
    runner.close()

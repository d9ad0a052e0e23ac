"""A PostgreSQL server: it may be unavailable, and other processes use it too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from tests.postgresql import PostgreSQL
from tests.recovery.service import until

from stoker.cli.main import main
from stoker.engine.model.interfaces import StoreError
from stoker.store.opening import OpenStore
from stoker.store.ownership.engine_lock import EngineLock
from stoker.store.sql.databases import REVISION, open_database
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.postgresql import Lock, lock
from stoker.store.sql.session_lock import SessionLock
from stoker.store.sql.transactions import in_transaction


@pytest.fixture
def database(postgresql: PostgreSQL) -> Iterator[sa.Engine]:
    opened = open_database(postgresql.new())
    yield opened
    opened.dispose()


@pytest.fixture
def other(database: sa.Engine) -> Iterator[sa.Engine]:
    """Another connection to the same database."""
    opened = open_database(database.url.render_as_string(hide_password=False))
    yield opened
    opened.dispose()


def end_sessions(database: sa.Engine) -> None:
    """End all sessions of a database but one's own, as a restart does."""
    with database.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# -- where it is


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("stoker:geheim@127.0.0.1:1/app", "app at 127.0.0.1 port 1 cannot be used"),
        ("stoker:geheim@/nosuch?host={place}", 'database "nosuch" does not exist'),
        ("nobody:geheim@/postgres?host={place}", 'role "nobody" does not exist'),
        ("stoker:geheim@/app?host=/nowhere", "app at /nowhere port 5432 cannot be used"),
    ],
)
def test_refusal_names_reason_without_password(
    postgresql: PostgreSQL, where: str, told: str
) -> None:
    url = f"postgresql://{where.format(place=postgresql.place)}"
    with pytest.raises(UnusableDatabaseError) as refused:
        open_database(url)
    text = str(refused.value)
    assert told in text
    assert "[database] connection" in text
    assert "geheim" not in text
    assert "\n" not in text


def test_commands_take_the_database_that_is_named(postgresql: PostgreSQL, tmp_path: Path) -> None:
    url = postgresql.new()
    for command in (["upgrade"], ["check"], ["keys"], ["purge"]):
        arguments = ["db", *command, "--data-dir", str(tmp_path), "--database", url]
        answer = CliRunner().invoke(main, arguments)
        assert answer.exit_code == 0, answer.output
    made = open_database(url)
    with made.connect() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    made.dispose()
    assert found == REVISION
    assert not (tmp_path / "stoker.db").exists()


def test_concurrent_starts_create_tables_once(
    postgresql: PostgreSQL,
) -> None:
    url = postgresql.new()
    failed: list[Exception] = []

    def open_() -> None:
        try:
            open_database(url).dispose()
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=open_) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


# -- one engine


def test_second_engine_waits_until_first_has_ended(database: sa.Engine, other: sa.Engine) -> None:
    first, second = EngineLock(database), EngineLock(other)
    first.acquire()
    with pytest.raises(
        UnusableDatabaseError, match=r"a service uses the database .* already"
    ) as refused:
        second.acquire(patience=0)
    assert "stoker" in str(refused.value)
    first.release()
    second.acquire(patience=30)
    second.release()


def test_engine_lock_is_acquired_again_after_disconnect(
    database: sa.Engine, other: sa.Engine
) -> None:
    first, second = EngineLock(database), EngineLock(other)
    first.acquire()
    end_sessions(other)
    first.hold()
    with pytest.raises(UnusableDatabaseError):
        second.acquire(patience=0)
    first.release()


async def test_engine_notices_that_lock_was_lost(database: sa.Engine, other: sa.Engine) -> None:
    first, second = EngineLock(database), EngineLock(other)
    first.acquire()
    end_sessions(other)
    second.acquire(patience=30)
    assert "already" in await asyncio.wait_for(first.lost(every=0.01), 30)
    second.release()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_database_without_utf8_is_refused(postgresql: PostgreSQL, encoding: str) -> None:
    url = postgresql.new(f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    with pytest.raises(UnusableDatabaseError, match=f"has the encoding {encoding}.*-E UTF8"):
        open_database(url)


# -- sessions that the server ends


def test_ended_session_is_replaced_before_use(database: sa.Engine, other: sa.Engine) -> None:
    with database.connect() as connection:
        connection.exec_driver_sql("SELECT 1")
    end_sessions(other)
    with database.connect() as connection:
        connection.exec_driver_sql("SELECT 1")


@pytest.mark.long
def test_frozen_process_loses_its_locks(database: sa.Engine, other: sa.Engine) -> None:
    with database.connect() as standing:
        lock(standing, Lock.NUMBERS)
        with other.begin() as connection:
            lock(connection, Lock.NUMBERS)  # after five seconds
        with pytest.raises(sa.exc.InternalError, match="idle-in-transaction"):
            standing.exec_driver_sql("SELECT 1")


def sessions_in(database: sa.Engine) -> int:
    """Sessions of a database, one's own left out."""
    count = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = :name AND pid <> pg_backend_pid()"
    )
    with database.connect() as connection:
        named = {"name": database.url.database}
        return int(connection.execute(sa.text(count), named).scalar_one())


def test_who_is_refused_or_ends_leaves_no_session(other: sa.Engine, tmp_path: Path) -> None:
    url = other.url.render_as_string(hide_password=False)
    first = OpenStore(url, tmp_path, "one")
    first.lock.acquire()
    until(lambda: sessions_in(other) > 1, "its sessions are there")
    before = sessions_in(other)
    for passphrase, member in (("two", None), (None, None), ("two", "m")):
        with pytest.raises(UnusableDatabaseError):
            OpenStore(url, tmp_path, passphrase, member=member)
    second = OpenStore(url, tmp_path, "one")
    with pytest.raises(UnusableDatabaseError):
        second.lock.acquire(0)
    second.close()
    until(lambda: sessions_in(other) == before, "those of who was refused have ended")
    first.close()
    third = OpenStore(url, tmp_path, "one", member="m")
    assert third.members is not None
    assert third.members.leader_lock.acquire()
    third.close()
    third.lock.hold()  # as a thread does that comes too late
    until(lambda: sessions_in(other) <= 1, "all have ended")


def test_lock_is_checked_without_a_session(database: sa.Engine, other: sa.Engine) -> None:
    first, second = (SessionLock(each, (Lock.DUTIES,)) for each in (database, other))
    assert second.is_free()
    assert first.acquire()
    assert not second.is_free()
    before = sessions_in(other)
    for _ in range(3):
        assert not second.is_free()
    assert sessions_in(other) == before
    first.release()
    until(second.is_free, "the lock is free again")


# -- transactions in each other's way


def test_unserializable_transaction_is_repeated(database: sa.Engine, other: sa.Engine) -> None:
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE counts AS SELECT 1 AS value")
    seen = []

    def count(connection: sa.Connection) -> None:
        seen.append(connection.exec_driver_sql("SELECT value FROM counts").scalar_one())
        if len(seen) == 1:
            with other.begin() as elsewhere:
                elsewhere.exec_driver_sql("UPDATE counts SET value = 10")
        connection.exec_driver_sql("UPDATE counts SET value = value + 1")

    in_transaction(database.execution_options(isolation_level="REPEATABLE READ"), count)
    assert seen == [1, 10]
    with database.connect() as connection:
        assert connection.exec_driver_sql("SELECT value FROM counts").scalar_one() == 11


def test_deadlocked_transactions_are_both_done(database: sa.Engine, other: sa.Engine) -> None:
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE counts (id int PRIMARY KEY, value int)")
        connection.exec_driver_sql("INSERT INTO counts VALUES (1, 0), (2, 0)")
    both, begun = threading.Barrier(2, timeout=30), {1: 0, 2: 0}

    def crossing(first: int, then: int) -> None:
        def work(connection: sa.Connection) -> None:
            begun[first] += 1
            connection.exec_driver_sql("SET LOCAL deadlock_timeout = '10ms'")
            for number in (first, then):
                connection.exec_driver_sql(
                    f"UPDATE counts SET value = value + 1 WHERE id = {number}"
                )
                if number == first and begun[first] == 1:
                    both.wait()

        in_transaction(database if first == 1 else other, work)

    thread = threading.Thread(target=crossing, args=(2, 1))
    thread.start()
    crossing(1, 2)
    thread.join()
    with database.connect() as connection:
        assert connection.exec_driver_sql("SELECT sum(value) FROM counts").scalar_one() == 4
    assert sum(begun.values()) >= 3


def test_read_only_server_is_left_after_transaction(
    database: sa.Engine,
) -> None:
    def pid(connection: sa.Connection) -> int:
        return int(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())

    def refused(connection: sa.Connection) -> None:
        sessions.append(pid(connection))
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        connection.exec_driver_sql("DELETE FROM marks")

    sessions: list[int] = []
    with pytest.raises(StoreError) as fault:
        in_transaction(database, refused)
    assert fault.value.passing
    in_transaction(database, lambda connection: sessions.append(pid(connection)))
    assert sessions[0] != sessions[1]

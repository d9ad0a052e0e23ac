"""An installation moves to another database, as a whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner
from tests.postgresql import PostgreSQL
from tests.store.test_contract import stack_in
from tests.store.test_migrations import fill
from tests.store.test_simultaneous_writes import event_of, input_of

from stoker.cli.arguments.data_dir import DataDirLock
from stoker.cli.main import main
from stoker.engine.model.interfaces import PublicChange
from stoker.store.opening import OpenStore
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database

STACK = stack_in("p")
SECRET = {"parameters": "geheim"}


@contextmanager
def opened(data_dir: Path, url: str | None = None) -> Iterator[OpenStore]:
    store = OpenStore(url, data_dir)
    try:
        yield store
    finally:
        store.close()


@pytest.fixture
async def data_dir(tmp_path: Path) -> Path:
    """The data directory of an SQLite installation, with a row in each table and a stack."""
    place = tmp_path / "data"
    with opened(place) as store:
        given = input_of(STACK, "given", SECRET)
        events = tuple(event_of(STACK, f"event {n}") for n in range(250))
        await store.store.commit(PublicChange(STACK.id, puts=(STACK, given, *events)))
    fill(f"sqlite:///{place / 'stoker.db'}")
    return place


def copied(data_dir: Path, target: str, source: str | None = None) -> tuple[int, str]:
    arguments = ["db", "copy", target, "--data-dir", str(data_dir)]
    answer = CliRunner().invoke(main, [*arguments, *(["--database", source] if source else [])])
    return answer.exit_code, answer.output


def rows_of(url: str) -> dict[str, list[tuple[object, ...]]]:
    database = open_database(url)
    with database.connect() as connection:
        found = {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
            for table in tables.metadata.sorted_tables
        }
    database.dispose()
    return found


async def test_an_installation_moves_to_postgresql_and_back(
    data_dir: Path, postgresql: PostgreSQL, tmp_path: Path
) -> None:
    file, target = f"sqlite:///{data_dir / 'stoker.db'}", postgresql.new()
    before = rows_of(file)
    assert all(before.values())
    code, told = copied(data_dir, target)
    assert code == 0, told
    assert f"{sum(map(len, before.values()))} rows" in told
    assert rows_of(target) == before
    back = f"sqlite:///{tmp_path / 'back.db'}"
    assert copied(data_dir, back, target)[0] == 0
    assert rows_of(back) == before


async def test_copied_service_keeps_keys_and_numbers(
    data_dir: Path, postgresql: PostgreSQL
) -> None:
    target = postgresql.new()
    assert copied(data_dir, target)[0] == 0
    with opened(data_dir, target) as store:
        assert (await store.store.input("given")).template == SECRET
        await store.store.commit(PublicChange(STACK.id, puts=(event_of(STACK, "next"),)))
        with store._database.connect() as connection:
            newest = sa.select(tables.events.c.id).order_by(tables.events.c.number.desc())
            assert connection.execute(newest.limit(1)).scalar() == "next"


def test_database_with_rows_is_not_written_to(data_dir: Path, postgresql: PostgreSQL) -> None:
    target = postgresql.new()
    assert copied(data_dir, target)[0] == 0
    before = rows_of(target)
    code, told = copied(data_dir, target)
    assert code == 1
    assert "has rows already" in told
    assert rows_of(target) == before


def test_a_copy_that_fails_leaves_an_empty_database(data_dir: Path, postgresql: PostgreSQL) -> None:
    target = postgresql.new()
    database, before = open_database(target), rows_of(target)
    with database.begin() as connection:  # the last of the tables
        connection.exec_driver_sql("ALTER TABLE watches ADD CONSTRAINT never CHECK (false)")
    assert copied(data_dir, target)[0] == 1
    assert rows_of(target) == before
    with database.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE watches DROP CONSTRAINT never")
    database.dispose()
    assert copied(data_dir, target)[0] == 0


def test_a_database_in_use_is_not_copied(data_dir: Path, postgresql: PostgreSQL) -> None:
    target = postgresql.new()
    lock = DataDirLock(data_dir)
    lock.acquire()
    code, told = copied(data_dir, target)
    lock.release()
    assert (code, "a service runs in" in told) == (1, True)
    with opened(data_dir.parent / "other", target) as other:
        other.lock.acquire()
        code, told = copied(data_dir, target)
    assert (code, "a service uses the database" in told) == (1, True)


@pytest.mark.parametrize(("revision", "told"), [("0020", "db upgrade"), ("9999", "install")])
def test_a_database_of_another_release_is_not_copied(
    data_dir: Path, postgresql: PostgreSQL, revision: str, told: str
) -> None:
    database = open_database(f"sqlite:///{data_dir / 'stoker.db'}")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :r"), {"r": revision})
    database.dispose()
    code, said = copied(data_dir, postgresql.new())
    assert (code, told in said) == (1, True), said


def test_characters_that_postgresql_cannot_hold_are_replaced(
    data_dir: Path, postgresql: PostgreSQL
) -> None:
    database = open_database(f"sqlite:///{data_dir / 'stoker.db'}")
    with database.begin() as connection:
        connection.execute(tables.stacks.update().values(reason="a\0b"))
    database.dispose()
    target = postgresql.new()
    code, told = copied(data_dir, target)
    assert code == 0, told
    column = list(tables.stacks.c.keys()).index("reason")
    assert {row[column] for row in rows_of(target)["stacks"]} == {"a\ufffdb"}

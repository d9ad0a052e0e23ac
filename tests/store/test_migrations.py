"""A database of any earlier release is brought up to date and keeps its rows."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from tests.postgresql import PostgreSQL

from cloud_testing.sampling import one_in
from stoker.store.schema import tables
from stoker.store.sql import databases
from stoker.store.sql.databases import REVISION, USABLE_FROM, open_database
from stoker.store.sql.foreign import UnusableDatabaseError
from stoker.store.sql.postgresql import let_rest

REVISIONS = sorted(
    path.name[:4]
    for path in (Path(databases.__file__).parents[1] / "migrations/versions").glob("[0-9]*.py")
)


def make(url: str, revision: str) -> None:
    """A database as a release with that revision has left it."""
    command = importlib.import_module("alembic.command")
    config = importlib.import_module("alembic.config").Config()
    migrations = Path(databases.__file__).parents[1] / "migrations"
    config.set_main_option("script_location", str(migrations))
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def fill(url: str) -> list[str]:
    """One row in each table; returns their names."""
    engine = sa.create_engine(url)
    found = sa.MetaData()
    with engine.begin() as connection:
        found.reflect(connection)
        names = [name for name in tables.metadata.tables if name in found.tables]
        for table in (found.tables[name] for name in names):
            row: dict[str, Any] = {
                column.name: 0
                if isinstance(column.type, sa.Float | sa.Integer | sa.Boolean)
                else "x"
                for column in table.columns
            }
            connection.execute(table.insert(), row)
    engine.dispose()
    return names


def beyond_32_bits(database: sa.Engine) -> dict[str, int]:
    """The number that each table draws when there have been more rows than 32 bits can count."""
    drawn = {}
    with database.begin() as connection:
        for table in tables.metadata.sorted_tables:
            column = table.autoincrement_column
            if column is None:
                continue
            sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
            connection.execute(sa.select(sa.func.setval(sequence, 2**31)))
            row = {
                each.key: "x" if isinstance(each.type, sa.String) else 0
                for each in table.columns
                if not each.nullable and each is not column
            } | {each.key: False for each in table.columns if isinstance(each.type, sa.Boolean)}
            connection.execute(table.insert(), row)
            newest = sa.select(sa.func.max(column))
            drawn[table.name] = connection.execute(newest).scalar_one()
    return drawn


def differences(connection: sa.Connection) -> list[Any]:
    """Return how the tables differ from today's, except for comments, which releases have not kept.

    The tables of the job queue are not compared.
    """

    def is_ours(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or not str(name).startswith("procrastinate_")

    context = MigrationContext.configure(connection, opts={"include_name": is_ours})
    found: list[Any] = []
    for each in compare_metadata(context, tables.metadata):
        found += each if isinstance(each, list) else [each]
    return [each for each in found if "comment" not in each[0]]


def test_newest_revision_is_that_of_new_databases() -> None:
    assert REVISIONS[-1] == REVISION


@pytest.mark.parametrize("revision", one_in(3, REVISIONS))
def test_earlier_sqlite_database_gets_todays_tables(tmp_path: Path, revision: str) -> None:
    is_brought_up_to_date(f"sqlite:///{tmp_path / 'old.db'}", revision)


@pytest.mark.parametrize("revision", one_in(6, REVISIONS))
def test_earlier_postgresql_database_gets_todays_tables(
    postgresql: PostgreSQL, revision: str
) -> None:
    is_brought_up_to_date(postgresql.new(), revision)


def is_brought_up_to_date(url: str, revision: str) -> None:
    make(url, revision)
    filled = fill(url)
    assert len(filled) > 5
    for _ in range(2):
        database = open_database(url)
        with database.connect() as connection:
            let_rest(connection)  # the comparison takes seconds on a busy machine
            assert differences(connection) == []
            for name in filled:
                table = tables.metadata.tables[name]
                # the oldest release that may use the database is marked in it
                found = set(connection.execute(sa.select(table)).all())
                assert len(found - {("usable_from", USABLE_FROM)}) == 1, name
        database.dispose()


def columns_of(engine: sa.Engine) -> dict[tuple[str, str], Any]:
    inspector = sa.inspect(engine)
    return {
        (table, column["name"]): column
        for table in inspector.get_table_names()
        if not table.startswith(("procrastinate_", "alembic_"))
        for column in inspector.get_columns(table)
    }


def lost_or_demanded(postgresql: PostgreSQL, before: str, after: str) -> set[tuple[str, str]]:
    """Columns that a migration drops or changes, and those that it has writers name."""
    url = postgresql.new()
    make(url, before)
    engine = sa.create_engine(url)
    old = columns_of(engine)
    make(url, after)
    new = columns_of(engine)
    engine.dispose()
    tables_before = {table for table, _ in old}
    changed = {
        key
        for key, column in old.items()
        if key not in new
        or str(new[key]["type"]) != str(column["type"])
        or new[key]["nullable"] < column["nullable"]
    }
    demanded = {
        key
        for key, column in new.items()
        if key not in old
        and key[0] in tables_before
        and not column["nullable"]
        and column["default"] is None
    }
    return changed | demanded


def test_usable_schema_has_all_that_today_needs(postgresql: PostgreSQL) -> None:
    assert USABLE_FROM <= REVISION
    assert lost_or_demanded(postgresql, USABLE_FROM, REVISION) == set()
    assert lost_or_demanded(postgresql, "0022", "0024") == set()
    # what an earlier release could not have borne is seen
    assert ("events", "number") in lost_or_demanded(postgresql, "0021", "0022")


@pytest.mark.parametrize(("usable_from", "may"), [(REVISION, True), ("9998", False), (None, False)])
def test_later_schema_with_additions_is_used(
    tmp_path: Path, usable_from: str | None, may: bool
) -> None:
    url = f"sqlite:///{tmp_path / 'later.db'}"
    made = open_database(url)
    with made.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE stacks ADD COLUMN later VARCHAR(8)")
        connection.exec_driver_sql("CREATE TABLE later_things (id INTEGER PRIMARY KEY)")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        marks = tables.marks
        connection.execute(marks.delete().where(marks.c.name == "usable_from"))
        if usable_from is not None:
            connection.execute(marks.insert(), {"name": "usable_from", "value": usable_from})
    made.dispose()
    if not may:
        with pytest.raises(
            UnusableDatabaseError, match="newer release of Stoker, which this one cannot"
        ):
            open_database(url)
        return
    again = open_database(url)
    with again.connect() as connection:
        version = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    again.dispose()
    assert version == "9999"


_FIFTY_JOBS = (
    "INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, scheduled_at)"
    " SELECT 'stoker', 'turn', gen_random_uuid(), '{}', now() FROM generate_series(1, 50)"
)


@pytest.mark.parametrize("before", ["0025", None])
def test_jobs_leave_no_notifications_and_events(postgresql: PostgreSQL, before: str | None) -> None:
    url = postgresql.new()
    if before is not None:
        make(url, before)
    database = open_database(url)
    with database.connect() as listening, database.begin() as connection:
        listening.exec_driver_sql('LISTEN "procrastinate_queue_v1#stoker"')
        listening.commit()
        connection.exec_driver_sql(_FIFTY_JOBS)
        connection.exec_driver_sql("UPDATE procrastinate_jobs SET status = 'doing'")
        connection.commit()
        session: Any = listening.connection.driver_connection
        assert list(session.notifies(timeout=0.2)) == []
        count = listening.exec_driver_sql("SELECT count(*) FROM procrastinate_events")
        assert count.scalar_one() == 0
    database.dispose()


def test_numbers_exceed_32_bits_on_postgresql(postgresql: PostgreSQL) -> None:
    old, new = postgresql.new(), postgresql.new()
    make(old, "0021")
    for url in (old, new):
        database = open_database(url)
        drawn = beyond_32_bits(database)
        database.dispose()
        assert "events" in drawn
        assert set(drawn.values()) == {2**31 + 1}

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

from stoker.store import databases, tables
from stoker.store.databases import REVISION, open_database

REVISIONS = sorted(
    path.name[:4]
    for path in (Path(databases.__file__).parent / "migrations/versions").glob("[0-9]*.py")
)


def make(url: str, revision: str) -> None:
    """A database as a release with that revision has left it."""
    command = importlib.import_module("alembic.command")
    config = importlib.import_module("alembic.config").Config()
    config.set_main_option("script_location", str(Path(databases.__file__).parent / "migrations"))
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
    """How the tables differ from today's, comments aside: releases have not kept these up."""
    context = MigrationContext.configure(connection)
    found: list[Any] = []
    for each in compare_metadata(context, tables.metadata):
        found += each if isinstance(each, list) else [each]
    return [each for each in found if "comment" not in each[0]]


def test_the_newest_revision_is_the_one_that_new_databases_bear() -> None:
    assert REVISIONS[-1] == REVISION


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_database_of_an_earlier_release_gets_todays_tables(tmp_path: Path, revision: str) -> None:
    is_brought_up_to_date(f"sqlite:///{tmp_path / 'old.db'}", revision)


@pytest.mark.parametrize("revision", REVISIONS[::3])
def test_a_database_of_an_earlier_release_in_postgresql_gets_todays_tables(
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
            assert differences(connection) == []
            for name in filled:
                table = tables.metadata.tables[name]
                assert len(connection.execute(sa.select(table)).all()) == 1, name
        database.dispose()


def test_numbers_go_on_beyond_32_bits_in_postgresql(postgresql: PostgreSQL) -> None:
    old, new = postgresql.new(), postgresql.new()
    make(old, "0021")
    for url in (old, new):
        database = open_database(url)
        drawn = beyond_32_bits(database)
        database.dispose()
        assert "events" in drawn
        assert set(drawn.values()) == {2**31 + 1}

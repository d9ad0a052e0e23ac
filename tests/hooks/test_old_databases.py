"""A database from before there were hooks is brought up to date."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from stoker.store import tables
from stoker.store.databases import open_database


def test_a_database_without_hooks_gets_the_column_and_keeps_its_rows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    old = sa.create_engine(url)
    with old.begin() as connection:
        tables.metadata.create_all(connection)
        connection.execute(sa.text("ALTER TABLE resources DROP COLUMN hook"))
        connection.execute(sa.text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(sa.text("INSERT INTO alembic_version VALUES ('0001')"))
        columns = [column for column in tables.resources.c if column.name != "hook"]
        row = {
            column.name: 0 if isinstance(column.type, sa.Float | sa.Boolean) else "x"
            for column in columns
        }
        marks = ", ".join(f":{name}" for name in row)
        insert = f"INSERT INTO resources ({', '.join(row)}) VALUES ({marks})"
        connection.execute(sa.text(insert), row)
    old.dispose()
    for _ in range(2):
        database = open_database(url)
        with database.connect() as connection:
            [found] = connection.execute(sa.select(tables.resources.c.hook))
            version = connection.execute(sa.text("SELECT version_num FROM alembic_version"))
            assert (found.hook, version.scalar()) == ("{}", "0003")
        database.dispose()

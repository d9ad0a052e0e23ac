"""Errors that pass, as of a full disk, are distinguished from statements that never succeed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError
from stoker.store.sql.databases import open_database
from stoker.store.sql.transactions import database_faults

WRITE = sa.text("INSERT INTO room VALUES (zeroblob(1000000))")


@pytest.fixture
def database(tmp_path: Path) -> sa.Engine:
    opened = open_database(f"sqlite:///{tmp_path / 'here.db'}")
    with opened.begin() as connection:
        connection.execute(sa.text("CREATE TABLE room (content BLOB)"))
    return opened


@pytest.mark.parametrize(
    ("obstacle", "told"),
    [
        ("PRAGMA max_page_count = 20", "database or disk is full"),
        ("PRAGMA query_only = on", "readonly"),
    ],
)
def test_unwritable_database_is_a_passing_fault(
    database: sa.Engine, obstacle: str, told: str
) -> None:
    with database.connect() as connection:
        connection.execute(sa.text(obstacle))
        with pytest.raises(StoreError, match=told) as fault, database_faults():
            connection.execute(WRITE)
    assert fault.value.passing
    assert fault.value.is_full == ("full" in told)


def test_a_lock_of_another_process_passes(database: sa.Engine, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "here.db")
    other.execute("BEGIN IMMEDIATE")
    with database.connect() as connection:
        connection.execute(sa.text("PRAGMA busy_timeout = 0"))
        with pytest.raises(StoreError, match="locked") as fault, database_faults():
            connection.execute(WRITE)
    other.close()
    assert fault.value.passing


def test_wrong_statement_is_no_database_fault(database: sa.Engine) -> None:
    with (
        database.connect() as connection,
        pytest.raises(sa.exc.OperationalError, match="no such table"),
        database_faults(),
    ):
        connection.execute(sa.text("SELECT 1 FROM nowhere"))

"""Reads of one turn of the loop share a transaction, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Action, Operation, Stack
from stoker.kernel.errors import NotFoundError
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.keys import key_from_passphrase
from stoker.store.store import SqlStore

from .inline import InlineRunner

Result = TypeVar("Result")


class Counting(InlineRunner):
    """Counts the transactions that read."""

    reads = 0

    async def read(self, transaction: Callable[[], Result]) -> Result:
        self.reads += 1
        return await super().read(transaction)


def opened(tmp_path: Path) -> tuple[SqlStore, Counting, sa.Engine]:
    database, runner = open_database(f"sqlite:///{tmp_path / 'here.db'}"), Counting()
    cipher = ColumnCipher(key_from_passphrase("a key"))
    return SqlStore(database, cipher, runner), runner, database


def test_reads_of_one_turn_share_transactions_of_twenty(tmp_path: Path) -> None:
    async def story() -> None:
        store, runner, _ = opened(tmp_path)
        found: list[Stack | None] = await asyncio.gather(*(store.stack(f"s{n}") for n in range(50)))
        assert found == [None] * 50
        assert runner.reads == 3

    asyncio.run(story())


def test_read_without_result_fails_no_other(tmp_path: Path) -> None:
    async def story() -> None:
        store, runner, _ = opened(tmp_path)
        missing, stack = await asyncio.gather(
            store.input("none"), store.stack("none"), return_exceptions=True
        )
        assert isinstance(missing, NotFoundError)
        assert stack is None
        assert runner.reads == 1

    asyncio.run(story())


def test_refused_read_fails_no_other(tmp_path: Path) -> None:
    async def story() -> None:
        store, _, database = opened(tmp_path)
        with database.begin() as connection:
            connection.execute(sa.text("DROP TABLE inputs"))
        refused, stack = await asyncio.gather(
            store.input("none"), store.stack("none"), return_exceptions=True
        )
        assert isinstance(refused, sa.exc.OperationalError)
        assert stack is None

    asyncio.run(story())


def test_abandoned_read_delays_no_other(tmp_path: Path) -> None:
    async def story() -> None:
        store, _, _ = opened(tmp_path)
        given_up = asyncio.ensure_future(store.stack("none"))
        waits = asyncio.ensure_future(store.stack("none"))
        await asyncio.sleep(0)
        given_up.cancel()
        assert await waits is None

    asyncio.run(story())


async def test_equal_reads_share_one_statement(tmp_path: Path) -> None:
    store, _, database = opened(tmp_path)
    for n in range(12):
        operation = Operation(f"op{n}", f"s{n}", Action.CREATE, 0.0)
        await store.commit(PublicChange(f"s{n}", puts=(operation,)))
    said: list[str] = []
    sa.event.listen(database, "before_cursor_execute", lambda *what: said.append(what[2]))
    found = await asyncio.gather(*(store.queue(f"s{n}") for n in reversed(range(13))))
    assert [[each.id for each in some] for some in found] == [
        [],
        *([f"op{n}"] for n in reversed(range(12))),
    ]
    assert sum("FROM operations" in statement for statement in said) == 1

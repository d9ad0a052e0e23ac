"""Reads end when no request waits, and slow ones of one project leave room for others."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import sqlalchemy as sa
from tests.recovery.service import until

from stoker.kernel.time_limit import project
from stoker.store.read.abandoned import AbandoningCipher, ReadAbandonedError
from stoker.store.read.group_read import GroupRead
from stoker.store.sql.databases import for_reading, open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.keys import key_from_passphrase
from stoker.store.sql.runners import ThreadRunner

ENDLESS = sa.text(
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers)"
    " SELECT count(*) FROM numbers"
)


class Reader:
    """Reads of several projects from one database."""

    def __init__(self, url: str) -> None:
        self.database = open_database(url)
        self.runner = ThreadRunner()
        self.reads, *self.other_reads = (
            GroupRead(for_reading(self.database), self.runner) for _ in range(4)
        )
        self.begun = threading.Semaphore(0)
        self.ended: list[Exception] = []
        self.over = threading.Event()
        self._cancel: list[Callable[[], None]] = []

    def _endless(self, connection: sa.Connection) -> Any:
        driver: Any = connection.connection.driver_connection
        self._cancel.append(driver.interrupt if hasattr(driver, "interrupt") else driver.cancel)
        self.begun.release()
        try:
            assert not self.over.is_set()
            return connection.execute(ENDLESS).scalar()
        except Exception as error:
            self.ended.append(error)
            raise

    async def of(self, project_id: str, read: Awaitable[Any]) -> Any:
        project.set(project_id)
        return await read

    def endless(self, project_id: str, reads: GroupRead | None = None) -> asyncio.Task[Any]:
        read = (reads or self.reads).read(self._endless)
        return asyncio.create_task(self.of(project_id, read))

    def close(self) -> None:
        """End whatever still runs."""
        self.over.set()
        for cancel in self._cancel:
            with contextlib.suppress(Exception):  # its connection may be closed
                cancel()
        self.runner.close()
        self.database.dispose()

    async def small(self, project_id: str) -> Any:
        read = self.reads.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar())
        return await asyncio.create_task(self.of(project_id, read))

    async def wait_begun(self) -> None:
        assert await asyncio.to_thread(self.begun.acquire, timeout=30)


@pytest.fixture
async def reader(database_url: str) -> AsyncIterator[Reader]:
    made = Reader(database_url)
    yield made
    await asyncio.to_thread(made.close)


async def test_statement_of_an_abandoned_read_is_cancelled(reader: Reader) -> None:
    read = reader.endless("a")
    await reader.wait_begun()
    read.cancel()
    await asyncio.to_thread(until, lambda: len(reader.ended) == 1, "the statement has ended")
    assert isinstance(reader.ended[0], sa.exc.OperationalError)
    assert await reader.small("a") == 1


async def test_slow_reads_do_not_delay_other_projects(reader: Reader) -> None:
    slow = [reader.endless("a")]
    await reader.wait_begun()
    slow += [reader.endless("a") for _ in range(60)]
    slow += [reader.endless("a", other) for other in reader.other_reads for _ in range(60)]
    await reader.wait_begun()
    answers = await asyncio.wait_for(asyncio.gather(*map(reader.small, "bcdefgh")), 30)
    assert answers == [1] * 7
    assert not any(read.done() for read in slow)
    for read in slow:
        read.cancel()
    assert await asyncio.wait_for(reader.small("a"), 30) == 1


async def test_abandoned_read_decrypts_no_further_rows(reader: Reader) -> None:
    plain = ColumnCipher(key_from_passphrase("a key"))
    cipher, text = AbandoningCipher(plain), plain.encrypt({"a": "value"})
    ended = threading.Event()

    def decrypt_for_ever(connection: sa.Connection) -> None:
        reader.begun.release()
        try:
            while not reader.over.is_set():
                cipher.decrypt(text)
        except ReadAbandonedError:
            ended.set()
            raise

    read = asyncio.create_task(reader.of("a", reader.reads.read(decrypt_for_ever)))
    await reader.wait_begun()
    read.cancel()
    assert await asyncio.to_thread(ended.wait, 30)
    assert await reader.small("a") == 1


async def test_abandoned_read_spares_others_in_its_group(reader: Reader) -> None:
    cipher = ColumnCipher(key_from_passphrase("a key"))
    text, held = cipher.encrypt({"a": "value"}), threading.Event()

    def slow(connection: sa.Connection) -> Any:
        reader.begun.release()
        assert held.wait(30)
        return AbandoningCipher(cipher).decrypt(text)

    abandoned = asyncio.create_task(reader.of("a", reader.reads.read(slow)))
    wanted = asyncio.create_task(reader.small("a"))
    await reader.wait_begun()
    abandoned.cancel()
    await asyncio.sleep(0)
    held.set()
    assert await asyncio.wait_for(wanted, 30) == 1

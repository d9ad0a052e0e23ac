"""A failing database fails no operation: the driver starts again from the stored state."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any, cast

import pytest
import sqlalchemy as sa

from stoker.dispatch.failures import Failures
from stoker.engine.model.requests import StackRequest
from stoker.engine.operations.driver import Driver
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

WANTED = template({f"t{n}": thing(f"t{n - 1}" if n else None, value=str(n)) for n in range(4)})


def locked() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    return error


def full() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def unreadable() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    return error


class Trouble:
    """Makes transactions fail: at their start, or at their end, before or after the commit."""

    def __init__(self, database: sa.Engine, kind: Any, *, at: str) -> None:
        self.kind, self.at, self.left, self.seen = kind, at, 0, 0
        self._dialect, self._commit = database.dialect, database.dialect.do_commit

    def __enter__(self) -> Trouble:
        self._dialect.do_begin = self._begin
        self._dialect.do_commit = self._ending
        return self

    def __exit__(self, *_: object) -> None:
        del self._dialect.do_begin, self._dialect.do_commit

    def _begin(self, _connection: Any) -> None:
        if self.at == "begin":
            self._fail()

    def _ending(self, connection: Any) -> None:
        if self.at == "before":
            try:
                self._fail()
            except sqlite3.OperationalError:
                connection.rollback()
                raise
        self._commit(connection)
        if self.at == "after":
            self._fail()

    def _fail(self) -> None:
        if self.left > 0:
            self.left -= 1
            self.seen += 1
            raise self.kind()


@pytest.mark.parametrize("at", ["begin", "before", "after"])
@pytest.mark.parametrize("kind", [locked, full, unreadable])
def test_failed_transaction_fails_no_resource(kind: Any, at: str) -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.recorded = lambda _: True  # it would look into the database itself
        with Trouble(lab.world.database, kind, at=at) as trouble:
            body = StackRequest(name="stack", template=WANTED)
            await lab.engine.operations.create(CALLER, body)
            for _ in range(12):
                await asyncio.sleep(0.2)
                trouble.left = 1
            trouble.left = 0
            await lab.engine.dispatch.idle()
        assert trouble.seen >= 3
        assert await lab.status() == "CREATE_COMPLETE"
        assert sorted(o.properties["value"] for o in lab.cloud.objects.values()) == list("0123")
        assert lab.cloud.violations == []
        assert not [told for told in await lab.history() if told.endswith("FAILED")]

    in_lab(story)


def test_database_locked_for_minutes_fails_no_resource() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.recorded = lambda _: True  # it would look into the database itself
        with Trouble(lab.world.database, locked, at="begin") as trouble:
            body = StackRequest(name="stack", template=WANTED)
            await lab.engine.operations.create(CALLER, body)
            await lab.pass_time(0.3)
            trouble.left = 10**6
            await lab.pass_time(300)
            trouble.left = 0
            await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert len(lab.cloud.objects) == 4

    in_lab(story)


@pytest.mark.parametrize("seconds", [0.0, 0.3, 1.0])
def test_reads_failing_for_minutes_fail_no_resource(seconds: float) -> None:
    """Writing works meanwhile, so that each driver is counted that takes the stack."""

    async def story(lab: Lab) -> None:
        await lab.engine.operations.create(CALLER, StackRequest(name="stack", template=WANTED))
        await lab.pass_time(seconds)
        lab.world.disk.faults = {lab.world.disk.writes: "lost"}  # the driver starts again
        lab.world.disk.read_faults = range(10**6)
        await lab.pass_time(300)
        lab.world.disk.read_faults = ()
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert not [told for told in await lab.history() if told.endswith("FAILED")]
        assert len(lab.cloud.made) == 4

    in_lab(story)


async def test_driver_is_started_again_after_thousands_of_failures() -> None:
    """A database that is away for hours fails each driver of a stack."""

    class Woken:
        """A driver for which there is something new."""

        async def next_notification(self) -> None:
            nonlocal restarts
            restarts += 1

    failures, restarts = Failures(), 0
    for _ in range(3000):
        await failures.pause("stack", cast("Driver", Woken()))
    assert restarts == 3000

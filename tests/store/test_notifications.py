"""Processes are notified of commits of others, and of possibly missed notifications."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.store.test_contract import event_of, operation_on, stack_in

from stoker.dispatch.notifications import CHANNEL, NotificationHandler, NotificationListener
from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.records import Status
from stoker.kernel.values import replace
from stoker.store.opening import OpenStore

SECONDS = 20.0


async def until(claim: asyncio.Event) -> None:
    """Wait for a notification."""
    async with asyncio.timeout(SECONDS):
        await claim.wait()
    claim.clear()


async def test_reconnected_listener_is_warned_of_missed_notifications(
    postgresql: PostgreSQL,
) -> None:
    url = postgresql.new()
    database = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    missed, told = asyncio.Event(), asyncio.Event()
    heard: list[tuple[Sequence[str], bool]] = []

    def hear(about: Sequence[str], own: bool) -> None:
        heard.append((about, own))
        told.set()

    def tell(line: str) -> None:
        with database.connect() as connection:
            connection.execute(sa.select(sa.func.pg_notify(CHANNEL, line)))

    def cut() -> None:
        with database.connect() as connection:
            ended = sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            )
            assert connection.execute(ended).scalars().all() == [True]

    news = NotificationListener(url.replace("+psycopg", ""), "me", {"turn": hear}, missed.set)
    await news.start()
    try:
        await until(missed)
        tell("me turn one")
        await until(told)
        cut()
        await until(missed)
        tell("other turn two")
        tell("other unknown three")
        await until(told)
    finally:
        await news.close()
        database.dispose()
    assert heard == [(["one"], True), (["two"], False)]


async def test_commit_of_many_stacks_notifies_each(postgresql: PostgreSQL, tmp_path: Path) -> None:
    opened = OpenStore(postgresql.new(), tmp_path, "a passphrase", member="one")
    assert opened.members is not None
    heard: dict[str, list[str]] = {"turn": [], "end": [], "events": []}
    listening, told = asyncio.Event(), asyncio.Event()

    def hear(kind: str) -> NotificationHandler:
        def note(about: Sequence[str], own: bool) -> None:
            heard[kind] += about
            if len(heard["events"]) == 250:
                told.set()

        return note

    kinds = {kind: hear(kind) for kind in heard}
    news = NotificationListener(opened.members.conninfo, "other", kinds, listening.set)
    await news.start()
    try:
        await until(listening)
        parent = str(uuid4())
        new = [stack_in("p", f"s{number}") for number in range(250)]
        nested = [replace(each, parent_id=parent, status=Status.COMPLETE) for each in new]
        change = PublicChange(
            new[0].id, puts=(*nested, *map(operation_on, new), *map(event_of, new))
        )
        await opened.store.commit(change)
        await until(told)
    finally:
        await news.close()
        opened.close()
    ids = sorted(each.id for each in new)
    assert sorted(heard["turn"]) == sorted(heard["events"]) == ids
    assert (set(heard["end"][::2]), sorted(heard["end"][1::2])) == ({parent}, ids)

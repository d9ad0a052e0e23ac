"""Processes hear what others have written, and know when they may have missed something."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import sqlalchemy as sa
from tests.postgresql import PostgreSQL

from stoker.dispatch.news import CHANNEL, News

SECONDS = 20.0


async def until(claim: asyncio.Event) -> None:
    """Wait for something that was told."""
    async with asyncio.timeout(SECONDS):
        await claim.wait()
    claim.clear()


async def test_who_lost_the_connection_is_told_that_something_may_be_missed(
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

    news = News(url.replace("+psycopg", ""), "me", {"turn": hear}, missed.set)
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

"""What transactions at the same time have in common, whichever stacks they write: contents, which
are stored once, and the order of events.

SQLite has one writing transaction at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import sqlalchemy as sa

from stoker.store.postgresql import Lock, lock
from stoker.store.tables import contents


def write_contents(
    connection: sa.Connection,
    missing: Sequence[dict[str, str]],
    insert: Callable[[Sequence[dict[str, str]]], None],
) -> None:
    """Write contents, or hold those that there are: nobody drops them before the commit."""
    while missing:
        insert(missing)
        if connection.dialect.name == "sqlite":
            return
        held = _held(connection, [row["hash"] for row in missing], shared=True)
        missing = [row for row in missing if row["hash"] not in held]


def hold_contents(connection: sa.Connection, hashes: Collection[str]) -> None:
    """Wait until no other transaction uses contents, and let none use them before the commit."""
    if connection.dialect.name != "sqlite":
        _held(connection, hashes, shared=False)


def _held(connection: sa.Connection, hashes: Collection[str], *, shared: bool) -> Collection[str]:
    # locked in one order by everybody
    select = sa.select(contents.c.hash).where(contents.c.hash.in_(hashes)).order_by(contents.c.hash)
    return set(connection.execute(select.with_for_update(read=shared, key_share=shared)).scalars())


def hold_numbers(connection: sa.Connection) -> None:
    """Let nobody else draw numbers of events before the commit.

    Whoever has read an event asks for those after it: none may appear before it later.
    """
    lock(connection, Lock.NUMBERS)

"""Rows that concurrent transactions share, for any stacks: contents and the order of events.

SQLite has one writing transaction at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import sqlalchemy as sa

from stoker.store.schema.tables import contents
from stoker.store.sql.bulk import Insert
from stoker.store.sql.compiled import InList, any_of, found
from stoker.store.sql.postgresql import Lock, lock


def upsert_contents(connection: sa.Connection, bodies: Mapping[str, Callable[[], str]]) -> None:
    """Write contents, or lock existing ones, so that they are not dropped before the commit.

    ``bodies`` returns the encrypted text for each hash; only texts that are missing are encrypted.
    """
    wanted = set(bodies)
    while wanted:
        known = {row["hash"] for row in _KNOWN.find(connection, wanted)}
        new = [{"hash": hash_, "body": bodies[hash_]()} for hash_ in sorted(wanted - known)]
        _CONTENTS.execute(connection, new)
        if connection.dialect.name == "sqlite":
            return
        wanted -= _held(connection, _SHARED, sorted(wanted))


def lock_contents(connection: sa.Connection, hashes: Collection[str]) -> None:
    """Wait until no other transaction uses contents, and let none use them before the commit."""
    if connection.dialect.name != "sqlite":
        _held(connection, _ALONE, hashes)


_CONTENTS = Insert(contents, "hash", keep=None)
_KNOWN = InList(sa.select(contents.c.hash), contents.c.hash)
# locked in one order by everybody
_SOME = (
    sa.select(contents.c.hash).where(contents.c.hash == any_of("hashes")).order_by(contents.c.hash)
)
_SHARED = _SOME.with_for_update(read=True, key_share=True)
_ALONE = _SOME.with_for_update()


def _held(connection: sa.Connection, select: sa.Select[Any], hashes: Collection[str]) -> set[str]:
    return {row["hash"] for row in found(connection, select, hashes=list(hashes))}


def lock_event_numbers(connection: sa.Connection) -> None:
    """Keep other transactions from drawing event numbers before the commit.

    Clients that have read an event ask for later ones, so no event may appear before it.
    """
    lock(connection, Lock.NUMBERS)

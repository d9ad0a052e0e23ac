"""The state of a database, on each kind of database."""

from __future__ import annotations

from cryptography.fernet import Fernet
from tests.store.inline import InlineRunner

from stoker.store.schema.tables import OPEN
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.store import SqlStore


async def test_state_shows_size_and_open_operations(database_url: str) -> None:
    database = open_database(database_url)
    store = SqlStore(database, ColumnCipher(Fernet.generate_key()), InlineRunner())
    assert await store.database_size() > 0
    assert set(await store.open_operations()) <= set(OPEN)
    database.dispose()

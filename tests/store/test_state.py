"""The state of a database, on each kind of database."""

from __future__ import annotations

from cryptography.fernet import Fernet
from tests.store.inline import InlineRunner

from stoker.store.databases import open_database
from stoker.store.encryption import ColumnCipher
from stoker.store.queries import OPEN
from stoker.store.state import SqlState


async def test_size_and_open_operations_are_told(database_url: str) -> None:
    database = open_database(database_url)
    state = SqlState(database, ColumnCipher(Fernet.generate_key()), InlineRunner())
    assert await state.size() > 0
    assert set(await state.open_operations()) <= set(OPEN)
    database.dispose()

"""A store in memory, on the thread of its user and without encryption."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from stoker.store.sql.contents import ContentCache
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import Hashed
from stoker.store.store import SqlStore

Result = TypeVar("Result")


class PlainCipher:
    """No encryption: the database is in memory, and values of tests are not secret."""

    def __init__(self) -> None:
        self.contents = ContentCache()

    def encrypt(self, value: Any) -> str:
        """Return the value as text."""
        return json.dumps(value)

    def hashed(self, value: Any) -> Hashed:
        """Return a hash of the value, and a function that returns its text."""
        text = self.encrypt(dict(value) if isinstance(value, Mapping) else value)
        return hashlib.sha256(text.encode()).hexdigest(), lambda: text

    def decrypt(self, text: str) -> Any:
        """Return the value in a text."""
        return json.loads(text)

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        """Return the value in a text, and its size in characters."""
        return json.loads(text), len(text)


class InlineRunner:
    """Runs statements on the event loop: a database in memory does not block."""

    async def write(self, transaction: Callable[[], Result]) -> Result:
        """Return the result of a writing transaction."""
        return transaction()

    async def read(self, transaction: Callable[[], Result]) -> Result:
        """Return the result of a reading transaction."""
        return transaction()


def memory_store() -> SqlStore:
    """Return an empty store."""
    return SqlStore(open_database("sqlite://"), PlainCipher(), InlineRunner())

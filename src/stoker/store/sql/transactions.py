"""Transactions that write."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from stoker.store.sql.faults import database_faults
from stoker.store.sql.postgresql import is_conflict

Result = TypeVar("Result")

_ATTEMPTS = 10
_PAUSE = 0.05  # seconds


def in_transaction(database: sa.Engine, work: Callable[[sa.Connection], Result]) -> Result:
    """Return the result of work in a transaction of its own.

    The work is retried after a conflict with another transaction, and once after its connection
    broke before the commit. Faults of the database are raised as StoreError.
    """
    for attempt in range(_ATTEMPTS):
        done = False
        with database_faults():
            try:
                with database.begin() as connection:
                    result = work(connection)
                    done = True
                return result
            except sa.exc.DBAPIError as error:
                broken = error.connection_invalidated and not done and attempt == 0
                if attempt + 1 == _ATTEMPTS or not (broken or is_conflict(error)):
                    raise
        time.sleep(_PAUSE)  # Let the other one commit first. Otherwise they may conflict again.
    raise AssertionError

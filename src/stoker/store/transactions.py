"""Transactions that write."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from stoker.store.faults import database_faults
from stoker.store.postgresql import is_conflict

Result = TypeVar("Result")

_ATTEMPTS = 10
_PAUSE = 0.05
"""Seconds."""


def in_transaction(database: sa.Engine, work: Callable[[sa.Connection], Result]) -> Result:
    """What work gives, in a transaction of its own.

    It is done again where it stood in another transaction's way and the database chose to let the
    other one pass, and once where its connection has broken before it was to be committed. Faults
    of the database are raised as StoreFault.
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
        time.sleep(_PAUSE)  # the other one goes first, else they may meet again
    raise AssertionError

"""Ends reads whose results are no longer needed.

A thread cannot be stopped from outside. So an abandoned read ends in one of two places: the running
statement is cancelled in the database, and the decryption of rows checks between two values. Both
raise :class:`ReadAbandonedError`, or an error of the database, which is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from stoker.engine.model.interfaces import StoreError
from stoker.kernel.logs.log import Log
from stoker.store.sql.encryption import Cipher

log = Log(__name__)

_CANCEL_SECONDS = 1.0
_here = threading.local()


class ReadAbandonedError(StoreError):
    """A read has ended because no request waits for its result."""

    def __init__(self) -> None:
        super().__init__("the read was abandoned: no request waits for its result", passing=True)


@contextmanager
def while_wanted(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Within the ``with`` block, this thread decrypts only as long as the result is wanted."""
    before = getattr(_here, "is_wanted", None)
    _here.is_wanted = is_wanted
    try:
        yield
    finally:
        _here.is_wanted = before


class AbandoningCipher:
    """A cipher that raises :class:`ReadAbandonedError` once the result is not needed."""

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher
        self.encrypt, self.hashed = cipher.encrypt, cipher.hashed
        self.contents = cipher.contents

    def decrypt(self, text: str) -> Any:
        """Return the decrypted value."""
        _require_wanted()
        return self._cipher.decrypt(text)

    def decrypt_content(self, text: str) -> tuple[Any, int]:
        """Return the value of a content, and the length of its JSON text."""
        _require_wanted()
        return self._cipher.decrypt_content(text)


def _require_wanted() -> None:
    """Raise :class:`ReadAbandonedError` if no request waits for the read of this thread."""
    is_wanted: Callable[[], bool] | None = getattr(_here, "is_wanted", None)
    if is_wanted is not None and not is_wanted():
        raise ReadAbandonedError


class Statements:
    """The statements of one read, which another thread may cancel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sa.Connection | None = None
        self._is_cancelled = False
        self._cancelling = threading.Lock()

    @property
    def is_cancellable(self) -> bool:
        """Return whether a statement is being executed that no thread is cancelling."""
        return self._connection is not None and not self._cancelling.locked()

    @contextmanager
    def on(self, connection: sa.Connection) -> Iterator[None]:
        """Execute statements within the ``with`` block.

        A connection whose statement was cancelled is closed. The database might cancel its next
        statement instead, and its cache holds rows of the read.
        """
        with self._lock:
            self._connection = connection
        try:
            yield
        finally:
            with self._lock:
                self._connection = None
                if self._is_cancelled:
                    connection.invalidate()

    def cancel(self) -> None:
        """Cancel the statement that is being executed, if there is one.

        Blocks for a second at most: a database that hangs does not answer this request either.
        """
        with self._cancelling, self._lock:
            if self._connection is None:
                return
            self._is_cancelled = True
            driver: Any = self._connection.connection.driver_connection
            if hasattr(driver, "interrupt"):
                driver.interrupt()
                return
            try:
                driver.cancel_safe(timeout=_CANCEL_SECONDS)
            except Exception as error:  # noqa: BLE001 - it is retried while the statement runs
                log.info("a statement was not cancelled", reason=str(error))

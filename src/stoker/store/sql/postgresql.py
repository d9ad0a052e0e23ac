"""Support for PostgreSQL that SQLite does not need: connections, locks and error texts.

It is imported only for such databases, and imports no driver itself.
"""

from __future__ import annotations

import importlib
import os
import select
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

import sqlalchemy as sa

from stoker.store.sql.foreign import UnusableDatabaseError

CONNECTIONS = 10
"""The writer's, the readers', that of the lock, and some for commands of a service."""
OLDEST = 14
"""The first release that has all that is used."""
_CONNECT = {
    "connect_timeout": 5,
    # a server that lost its power is noticed within a quarter of a minute
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    # whatever PGCLIENTENCODING says
    "client_encoding": "utf8",
    "tcp_user_timeout": 15_000,
    # after a fail-over the one that may be written to is asked for
    "target_session_attrs": "read-write",
    # whoever waits for a lock of somebody else's session tells so; a process that stands still
    # does not keep its locks
    "options": "-c lock_timeout=30s -c idle_in_transaction_session_timeout=5s"
    " -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3",
}
_READ_ONLY = "25006"
_CONFLICTS = frozenset({"40001", "40P01"})
"""SQLSTATEs of transactions that were in each other's way: the same one succeeds later."""


def options(url: sa.URL) -> dict[str, Any]:
    """How to connect; what the URL says counts more."""
    arguments: dict[str, Any] = {**_CONNECT, "application_name": _own_name()}
    return {
        "pool_size": CONNECTIONS,
        "max_overflow": 0,
        "pool_timeout": 10,
        "connect_args": {k: value for k, value in arguments.items() if k not in url.query},
    }


def conninfo_of(url: sa.URL) -> str:
    """The same place for who speaks to the server without SQLAlchemy, with the same options."""
    arguments = {**_CONNECT, "application_name": _own_name(), **url.query}
    named = {
        "host": url.host,
        "port": url.port,
        "dbname": url.database,
        "user": url.username,
        "password": url.password,
    }
    given = {name: value for name, value in named.items() if value is not None}
    make: Any = importlib.import_module("psycopg.conninfo").make_conninfo
    return str(make(**{**arguments, **given}))


def _own_name() -> str:
    """Of this process, as the server shows it."""
    return f"stoker {os.getpid()} on {socket.gethostname()}"[:60]


def prepare(engine: sa.Engine) -> None:
    """Write what the server can hold, and leave one that has ended the session, or that may not be
    written to any more: connect anew, perhaps to another.
    """
    usual: Any = importlib.import_module("psycopg.types.string").StrDumper

    class WithoutNul(usual):  # type: ignore[misc]
        """Removes NUL from texts, which PostgreSQL refuses and reasons of servers may contain."""

        def dump(self, obj: str) -> Any:
            """The bytes that are sent."""
            return super().dump(obj.replace("\0", "\N{REPLACEMENT CHARACTER}"))

    def adapt(connection: Any, record: Any) -> None:
        connection.adapters.register_dumper(str, WithoutNul)
        record.info[_NEW] = True

    sa.event.listen(engine, "connect", adapt)
    sa.event.listen(engine, "checkout", _leave_ended)
    sa.event.listen(engine, "handle_error", _leave_read_only)


def _leave_ended(connection: Any, record: Any, _proxy: object) -> None:
    """Detect sessions that the server has ended, which sends an unexpected message.

    The check costs no round trip and finds most ended sessions; the transaction then starts again
    on another connection.
    """
    if record.info.pop(_NEW, False):
        return  # If a new connection has ended already, another one would not help.
    said = select.poll()
    if not connection.closed:
        said.register(connection.fileno(), select.POLLIN)
    if connection.closed or said.poll(0):
        raise sa.exc.InvalidatePoolError


_NEW = "stoker_new"


def _leave_read_only(context: sa.engine.ExceptionContext) -> None:
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY:
        context.is_disconnect = True


def is_conflict(error: sa.exc.DBAPIError) -> bool:
    """Return whether a conflict of transactions caused the error: nothing was written."""
    return getattr(error.orig, "sqlstate", None) in _CONFLICTS


class Lock(IntEnum):
    """Exclusive locks of sessions."""

    SCHEMA = 1
    NUMBERS = 2
    """Draw numbers of events: they become visible in their order."""
    ENGINE = 3
    """Drive all stacks of the database."""
    MEMBERS = 4
    """Share the work on them with other processes."""
    DUTIES = 5
    """Do what one of many engines does for all."""


SPACE = 0x570C
"""Our locks, among those of other programs."""


def lock(connection: sa.Connection, which: Lock) -> None:
    """Acquire a lock, and keep it until the transaction ends.

    SQLite has one writing transaction at a time.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SPACE}, {which.value})")


def let_rest(connection: sa.Connection) -> None:
    """Let the transaction wait for its next statement as long as it likes."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")


@contextmanager
def telling_where(url: sa.URL) -> Iterator[None]:
    """Raise refusals of a server as :class:`UnusableDatabaseError`, with its address."""
    try:
        yield
    except sa.exc.OperationalError as error:
        if url.get_backend_name() == "sqlite":
            raise
        raise UnusableDatabaseError(
            f"the database {place_of(url)} cannot be used: {_words(error)}. Check that PostgreSQL"
            " runs there and has this database and user, or correct [database] connection"
        ) from None


def require_able(connection: sa.Connection, url: sa.URL) -> None:
    """Refuse a server that is too old, and a database that cannot hold every text."""
    if connection.dialect.name != "postgresql":
        return
    version: Any = connection.dialect.server_version_info
    if version[0] < OLDEST:
        raise UnusableDatabaseError(
            f"the database {place_of(url)} is of PostgreSQL {version[0]}; {OLDEST} is the oldest"
            " that can be used"
        )
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise UnusableDatabaseError(
            f"the database {place_of(url)} has the encoding {encoding}, which cannot hold every"
            " text: make one that can, with createdb -E UTF8 -T template0 NAME, and name it in"
            " [database] connection"
        )


def place_of(url: sa.URL) -> str:
    """Return the place of a database for messages."""
    host = url.host or url.query.get("host") or "the usual socket"
    where = host if isinstance(host, str) else ", ".join(host)
    return f"{url.database or 'of the user'} at {where} port {url.port or 5432}"


def _words(error: sa.exc.OperationalError) -> str:
    """Return the reason in an error of the driver, in one line."""
    said = [line.strip() for line in str(error.orig).splitlines() if line.strip()]
    return (said or ["no reason given"])[0].rstrip(".")
